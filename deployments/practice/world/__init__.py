"""What a cluster does by itself: controllers, scheduler, kubelets and their programs."""

from deployments.practice.world.world import World

__all__ = ["World"]
