"""What a cluster does by itself: controllers, scheduler, kubelets, and the programs that they run."""

from deployments.practice.world.world import World

__all__ = ["World"]
