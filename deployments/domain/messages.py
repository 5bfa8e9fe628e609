"""Every sentence that the product shows about a deployment, as functions of values.

A message has three parts (what happened, what that leaves, what to do) and carries no secret and
no running duration.
"""

from __future__ import annotations

from dataclasses import dataclass

from deployments.domain.names import release_tag


@dataclass(frozen=True)
class Message:
    """What a person reads about a deployment (specification §2)."""

    what: str = ""
    leaves: str = ""
    do: str = ""

    def __str__(self) -> str:
        """Return the parts joined by spaces, empty ones left out: the API's `message`."""
        return " ".join(part for part in (self.what, self.leaves, self.do) if part)


NOTHING = Message()


def keeps_serving(service: str, serving: int | None) -> str:
    """Return what a failure leaves running."""
    if serving is None:
        return f"{service} is not running."
    return f"{release_tag(serving)} keeps serving."


def superseded_by(newer: str) -> Message:
    """Return the end of a deployment that a newer one replaced; `newer` is its title."""
    return Message(f"Superseded by {newer}")


def title(kind: str, number: int) -> str:
    """Return how messages name a deployment: by its release, a rollback as the rollback to it."""
    if kind == "rollback":
        return f"the rollback to {release_tag(number)}"
    return release_tag(number)


def waiting_for_takeover(older: str) -> Message:
    """Return why a deployment is held: an older one still moves traffic."""
    return Message(f"Waiting for {older} to finish taking over traffic")


def waiting_for_release_command(older: str) -> Message:
    """Return why a deployment is held: the release command of an ended one still runs."""
    return Message(f"Waiting for the release command of {older} to stop")


def waiting_for_traffic(leaving: str, previous: int | None) -> Message:
    """Return why a deployment is held: traffic is not back yet, or has not left yet."""
    if previous is None:
        return Message(f"Waiting for {leaving} to stop taking traffic")
    return Message(f"Waiting for traffic to return to {release_tag(previous)}")


def tag_refused(image: str, answer: str, leaves: str) -> Message:
    """Return the failure of a tag that the registry knows nothing of, or does not give out."""
    return Message(
        f"The registry answered for {image}: {answer}.",
        leaves,
        "Check the image's name and tag and the registry credentials, then deploy again.",
    )


def registry_unreachable(image: str, answer: str, leaves: str) -> Message:
    """Return the failure of a tag whose registry does not answer."""
    return Message(
        f"The registry of {image} could not be reached: {answer}.",
        leaves,
        "Check the registry's address and that it is up, then deploy again.",
    )


def asking_the_registry_again(image: str, answer: str) -> Message:
    """Return why a deployment is still pending: its tag could not be looked up yet."""
    return Message(f"The registry of {image} is asked again; the last answer was: {answer}.")


def image_not_pulled(image: str, answer: str, replicas: str, leaves: str) -> Message:
    """Return the failure of a pull; `answer` is the registry's or the runtime's own last clause."""
    return Message(
        f"{replicas} could not pull {image}: {answer}.",
        leaves,
        "Check the image's name and tag and the registry credentials, then deploy again.",
    )


def container_not_started(
    container: str, replicas: str, how: str, last_words: str, leaves: str
) -> Message:
    """Return the failure of a container that does not run; `how` begins with a verb."""
    said = f" Last words: {last_words}." if last_words else ""
    return Message(
        f"The container {container} of {replicas} {how}.{said}",
        leaves,
        "Open the runtime output, fix the cause or raise the memory limit, then deploy again.",
    )


def replicas_of(count: int, of: int) -> str:
    """Return how many replicas something is about: `2 of 3 replicas`, `1 replica`."""
    if of == 1:
        return "1 replica"
    return f"{min(count, of)} of {of} replicas"


def no_room(deficit: str, leaves: str) -> Message:
    """Return the failure of the one check for room; `deficit` names what is missing."""
    return Message(
        f"The cluster has no room: {deficit}.",
        leaves,
        "Lower the process's resource request, or add a node with more capacity.",
    )


def name_taken(taken: str, leaves: str) -> Message:
    """Return the failure of a name that somebody else's object has."""
    return Message(
        f"{taken} exists in the namespace and is not Pilothouse's, so it was not touched.",
        leaves,
        "Remove or rename it, then deploy again.",
    )


def release_command_failed(how: str, last_words: str, leaves: str) -> Message:
    """Return the failure of a release command; `how` begins with a verb: `exited with code 3`."""
    said = f" Its last words: {last_words}." if last_words else ""
    return Message(f"The release command {how}.{said}", leaves, "Fix the command and deploy again.")


def not_ready_in_time(ready: int, desired: int, detail: str, leaves: str) -> Message:
    """Return the failure of a release whose replicas did not stay ready in qualifying."""
    said = f": {detail}" if detail else ""
    return Message(
        f"{ready} of {desired} replicas stayed ready within 5 minutes{said}.",
        leaves,
        "Check the process's readiness path and port, and its logs, then deploy again.",
    )


def turned_unready(number: int, detail: str, leaves: str) -> Message:
    """Return the verdict on a release that became unready after traffic had come to it."""
    said = f": {detail}" if detail else ""
    return Message(
        f"{release_tag(number)} was not ready for 30 s while it took over traffic{said}.",
        leaves,
        "Check the process's readiness path and port, and its logs, then deploy again.",
    )


def switch_refused(answer: str, leaves: str) -> Message:
    """Return the failure of a switch that the API server kept refusing."""
    return Message(
        f"Kubernetes refused to switch the traffic for 2 minutes: {answer}.",
        leaves,
        "Check that the cluster's API server is healthy, then deploy again.",
    )


def switch_without_effect(number: int, leaves: str) -> Message:
    """Return the failure of a switch that was written and that nothing followed from."""
    return Message(
        f"Traffic was switched to {release_tag(number)} and did not arrive there within 2 minutes.",
        leaves,
        "Check that the cluster's API server is healthy, then deploy again.",
    )


def goes_back(previous: int | None) -> str:
    """Return what a verdict leaves: where traffic goes."""
    if previous is None:
        return "Nothing will serve: there is no earlier release."
    return f"Traffic goes back to {release_tag(previous)}."


def previous_never_ready(previous: int, number: int) -> str:
    """Return what a way back leaves that was given up: the previous release did not come up."""
    return (
        f"{release_tag(previous)} did not become ready in time, so traffic stays on"
        f" {release_tag(number)}, whose pods keep running."
    )


def could_not_switch_back(previous: int | None, number: int) -> str:
    """Return what a way back leaves that was given up: the switch was refused or had no effect."""
    where = f" to {release_tag(previous)}" if previous is not None else ""
    return (
        f"Traffic could not be switched back{where}, so it stays on {release_tag(number)}, whose"
        " pods keep running."
    )


def already(label: str) -> str:
    """Return why nothing is changed: the deployment has moved on, or ended, meanwhile."""
    return f"This deployment is already {label}."


def traffic_put_right(service: str, number: int) -> Message:
    """Return what is noted where somebody changed the stable Service by hand."""
    return Message(
        f"The Service {service} was changed by hand.",
        f"Pilothouse let it lead to {release_tag(number)} again.",
        "Deploy or roll back to change what serves.",
    )


def already_going_back(number: int, previous: int | None) -> str:
    """Return why a deployment with a verdict is not cancelled: it is on its way back already."""
    target = release_tag(previous) if previous is not None else "nothing"
    return f"{release_tag(number)} is already going back to {target}."


def cancelled(by: str, reason: str, leaves: str) -> Message:
    """Return the end of a deployment that a person cancelled."""
    said = f": {reason}" if reason else ""
    return Message(f"Cancelled by {by}{said}.", leaves)
