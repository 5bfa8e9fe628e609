"""One function for each stage: has it done what it is for, has it failed, or does it wait?

What a stage needs in the cluster is made by `upkeep` and `traffic`; a stage judges what it sees.
Each returns the change to record, or None to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deployments.domain import capacity, diagnose, messages, names, readiness, tags, traffic, upkeep
from deployments.domain.blockers import Blocker
from deployments.domain.causes import Cause
from deployments.domain.clocks import Clock
from deployments.domain.deadlines import Limits
from deployments.domain.diagnose import Failure
from deployments.domain.jobs import judge_release_command
from deployments.domain.messages import Message
from deployments.domain.observations import Pod, Seen
from deployments.domain.stage_clock import drained, time_in_stage
from deployments.domain.states import State, next_stage
from deployments.domain.step import Change, Explain, Move
from deployments.domain.wanted import Attempt, Wanted


@dataclass(frozen=True)
class Look:
    """All that a stage judges from."""

    attempt: Attempt
    wanted: Wanted
    seen: Seen
    clocks: tuple[Clock, ...]
    limits: Limits

    @property
    def leaves(self) -> str:
        """Return what a failure before the point of no return leaves running."""
        return messages.keeps_serving(self.wanted.service, self.wanted.target_number)

    def go_on(self) -> Move:
        """Return the move to the next stage of the deployment's own route."""
        attempt = self.attempt
        return Move(attempt.id, attempt.state, next_stage(attempt.route, attempt.state))

    def fail(self, blocker: Blocker, message: Message) -> Move:
        """Return the end of the deployment."""
        return Move(self.attempt.id, self.attempt.state, State.FAILED, blocker, message)


def pods_failure(look: Look) -> Move | None:
    """Return the end of a deployment whose pods cannot run, None while no cause is ripe."""
    found = diagnose.failure(look.attempt, look.seen, look.clocks, look.limits)
    return look.fail(found.blocker, _words(found, look)) if found is not None else None


def _words(found: Failure, look: Look) -> Message:
    replicas = messages.replicas_of(found.count, found.of)
    if found.blocker is Blocker.IMAGE_PULL:
        image = look.attempt.release.asked_for
        answer = diagnose.last_clause(found.detail)
        return messages.image_not_pulled(image, answer, replicas, look.leaves)
    said = diagnose.last_words(found.container)
    how = found.detail if found.cause is Cause.CRASHING else f"cannot be created: {found.detail}"
    return messages.container_not_started(found.container.name, replicas, how, said, look.leaves)


def pending(look: Look) -> Change | None:
    """Go on when digest and configuration are known and nothing holds the deployment."""
    failure = _tag_failure(look)
    if failure is not None:
        return look.fail(Blocker.IMAGE_PULL, failure)
    held = why_held(look.wanted, look.seen)
    if held is not None:
        return Explain(look.attempt.id, State.PENDING, Blocker.WAITING, held)
    if look.attempt.release.image:
        return look.go_on()
    answer = tags.newest_answer(look.clocks)
    if answer is not None:
        said = messages.asking_the_registry_again(look.attempt.release.asked_for, answer)
        return Explain(look.attempt.id, State.PENDING, None, said)
    # Nothing holds it any more; that the tag is still being looked up is no reason to say so.
    return Explain(look.attempt.id, State.PENDING, None) if look.attempt.waits else None


def _tag_failure(look: Look) -> Message | None:
    image = look.attempt.release.asked_for
    refused = tags.refused_for_good(look.clocks, look.limits)
    if refused is not None:
        return messages.tag_refused(image, refused, look.leaves)
    silent = tags.unreachable_for_good(look.clocks, look.limits)
    if silent is not None:
        return messages.registry_unreachable(image, silent, look.leaves)
    return None


def why_held(wanted: Wanted, seen: Seen) -> Message | None:
    """Return what holds a pending deployment, the first reason that applies (specification §3)."""
    if wanted.taking_over is not None:
        return messages.waiting_for_takeover(wanted.taking_over.title)
    command = upkeep.still_runs_release_command(wanted, seen)
    if command is not None:
        return messages.waiting_for_release_command(names.release_tag(command))
    leaving = wanted.going_back
    if leaving is not None and (leaving.moving or not traffic.is_back(wanted, seen)):
        return messages.waiting_for_traffic(leaving.title, wanted.target_number)
    return None


def admitted(look: Look) -> Change | None:
    """Go on when what ended is gone, no name is taken and there is room for the new replicas."""
    taken = _name_taken(look)
    if taken is not None:
        return taken
    if upkeep.leftovers(look.wanted, look.seen, upkeep.running(look.wanted, look.seen)):
        return None
    if look.seen.room is None:
        return None
    deficit = capacity.deficit(capacity.needs(look.attempt.release.config), look.seen.room)
    if deficit is not None:
        return look.fail(Blocker.CAPACITY, messages.no_room(deficit, look.leaves))
    return look.go_on()


def _name_taken(look: Look) -> Move | None:
    """Return the end of a deployment one of whose names somebody else's object has."""
    if not look.seen.taken:
        return None
    return look.fail(Blocker.STARTUP, messages.name_taken(look.seen.taken[0], look.leaves))


def releasing(look: Look) -> Change | None:
    """Go on when the release command's Job has succeeded."""
    failure = _name_taken(look) or pods_failure(look)
    if failure is not None:
        return failure
    verdict = judge_release_command(look.attempt, look.wanted, look.seen)
    if verdict.failed is not None:
        message = messages.release_command_failed(verdict.failed, verdict.last_words, look.leaves)
        return look.fail(Blocker.RELEASE_COMMAND, message)
    return look.go_on() if verdict.succeeded else None


def starting(look: Look) -> Change | None:
    """Go on when every long-running process's pods exist and their containers have started."""
    failure = _name_taken(look) or pods_failure(look)
    return failure or (look.go_on() if _all_started(look) else None)


def _all_started(look: Look) -> bool:
    number, seen = look.attempt.release.number, look.seen
    return all(
        _started(
            readiness.desired_of(process, number, seen), seen.live_pods_of(number, process.name)
        )
        for process in look.attempt.release.config.long_running
    )


def _started(replicas: int, pods: tuple[Pod, ...]) -> bool:
    return len(pods) >= replicas and all(pod.started for pod in pods)


def qualifying(look: Look) -> Change | None:
    """Go on when every replica has stayed ready and the check through the Service passes."""
    attempt, seen = look.attempt, look.seen
    failure = pods_failure(look)
    if failure is not None:
        return failure
    stayed = readiness.stayed_ready(attempt, seen, look.clocks)
    wanted_ready = readiness.desired(attempt.release, seen)
    if stayed >= wanted_ready and readiness.check_passes(attempt, seen):
        return look.go_on()
    if time_in_stage(attempt, seen) < look.limits.qualifying:
        return None
    detail = seen.check.detail if seen.check is not None else ""
    message = messages.not_ready_in_time(stayed, wanted_ready, detail, look.leaves)
    return look.fail(Blocker.READINESS, message)


def activating(look: Look) -> Change | None:
    """Go on when traffic has arrived at the release and no spell of unreadiness is open."""
    well = readiness.why_unready(look.attempt, look.seen) is None
    return look.go_on() if well and traffic.has_arrived(look.wanted, look.seen) else None


def draining(look: Look) -> Change | None:
    """Become healthy when the previous release has had its drain time and its pods are gone."""
    attempt, seen = look.attempt, look.seen
    if not drained(attempt, seen) or readiness.why_unready(attempt, seen) is not None:
        return None
    previous = attempt.previous
    # A second rollback to a release may wait behind the first: then it follows itself.
    same = previous is not None and previous.number == attempt.release.number
    gone = previous is None or same or readiness.all_stopped(previous.number, seen)
    return look.go_on() if gone else None


STAGES: Mapping[State, Callable[[Look], Change | None]] = {
    State.PENDING: pending,
    State.ADMITTED: admitted,
    State.RELEASING: releasing,
    State.STARTING: starting,
    State.QUALIFYING: qualifying,
    State.ACTIVATING: activating,
    State.DRAINING: draining,
}
