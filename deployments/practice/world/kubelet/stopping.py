"""Stopping: the hook before it, the signal, the end of patience; for a whole pod or to restart one
container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deployments.practice.jsons import seconds_of
from deployments.practice.world.kubelet.container import Container, Step

if TYPE_CHECKING:
    from deployments.practice.world.kubelet.pod import PodRun
    from deployments.practice.world.kubelet.probes import Probe

# Even a hook that used up the whole grace period leaves this much after the signal.
LEAST_AFTER_SIGNAL = 2.0
SHOWN_AFTER = 0.2
LOST = "The container could not be located when the pod was terminated"


def stop_pod(run: PodRun, now: float) -> None:
    """Begin to stop a pod that is deleted; a shorter grace period later on counts from then."""
    grace = float(run.pod["metadata"].get("deletionGracePeriodSeconds") or 0)
    if run.stopping_since is None:
        _begin(run, grace, now)
    elif grace < run.grace:
        run.grace = grace
        for container in run.containers:
            container.killed_at = min(container.killed_at, now + grace)
            container.due = min(container.due, now)


def _begin(run: PodRun, grace: float, now: float) -> None:
    requested = seconds_of(run.pod["metadata"]["deletionTimestamp"]) - grace
    # After a restart of the cluster the time already spent counts.
    since = now if now - requested < LEAST_AFTER_SIGNAL else requested
    run.stopping_since, run.grace = since, grace
    run.show(SHOWN_AFTER, now)
    for container in run.containers:
        if container.step is Step.RUNNING:
            run.tell(container, "Normal", "Killing", f"Stopping container {container.name}")
            tell_to_stop(container, since, grace)
            container.due = now
        elif container.step is not Step.OVER:
            _give_up(container)


def tell_to_stop(container: Container, since: float, grace: float) -> None:
    """Send the signal after the hook, and kill it when the grace period is over."""
    hook = (container.spec.get("lifecycle") or {}).get("preStop") or {}
    sleep = float((hook.get("sleep") or {}).get("seconds", 0))
    sleep = min(sleep, grace)
    container.told_to_stop = since + sleep
    left = max(grace - sleep, LEAST_AFTER_SIGNAL if sleep else 0.0)
    container.killed_at = container.told_to_stop + left


def _give_up(container: Container) -> None:
    """End a container that does not run: nothing is there to be stopped."""
    container.step = Step.OVER
    container.ready = container.started = False
    if "terminated" in container.state:
        return
    if container.last_state:
        # In a crash loop its last end is how it ended.
        container.state, container.last_state = container.last_state, {}
        return
    container.state = {
        "terminated": {
            "exitCode": 137,
            "reason": "ContainerStatusUnknown",
            "message": LOST,
            "startedAt": None,
            "finishedAt": None,
        }
    }


def restart(run: PodRun, container: Container, probe: Probe, now: float) -> None:
    """Stop one container because of its probe; it comes back as after a crash."""
    if container.told_to_stop is not None:
        return
    word = probe.kind.lower()
    message = f"Container {container.name} failed {word} probe, will be restarted"
    run.tell(container, "Normal", "Killing", message)
    default = run.pod["spec"].get("terminationGracePeriodSeconds", 30)
    grace = float(probe.spec.get("terminationGracePeriodSeconds") or default)
    tell_to_stop(container, now, grace)
