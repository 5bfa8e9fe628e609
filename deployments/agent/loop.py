"""One look at one cluster: read it, decide for each slot, act, record.

Level-triggered: nothing is remembered between two looks but what the database holds, and every
write asks first whether this look's lease and the slot are still what they were.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

from deployments.actions import leases, observe, outputs, record
from deployments.agent import clients, registry
from deployments.agent.cluster import Cluster, CommandRefused, Reading, Stale, Unreachable
from deployments.domain import (
    actors,
    images,
    jobs,
    object_names,
    readiness,
    reconcile,
    tags,
    traffic,
)
from deployments.domain.commands import Command, Create, Errand, KeepOutput, PointTraffic, Try
from deployments.domain.deadlines import LIMITS, Limits
from deployments.domain.observations import Meta, ObjectKind, Resolution, Seen
from deployments.domain.outputs import pods_of, sources
from deployments.domain.states import State
from deployments.domain.step import Explain, Step, Ticking
from deployments.domain.wanted import Attempt, Wanted
from deployments.reads import snapshots
from deployments.reads.snapshots import SlotSnapshot

logger = logging.getLogger(__name__)

# A look ends well before its lease does: what it has not come to waits for the next one.
BUDGET_SECONDS = 25.0
# Somebody's object of one of our names may appear until all of ours are there.
NAMES_LOOKED_AT_IN = frozenset({State.ADMITTED, State.RELEASING, State.STARTING})


@dataclass(frozen=True)
class Guard:
    """What is asked before each write: is this look's lease running, and is the slot as it was?"""

    cluster_id: int
    lease: str
    snapshot: SlotSnapshot

    def stands(self) -> bool:
        """Whether this look may still write for the slot."""
        return leases.holds_lease(self.cluster_id, self.lease) and snapshots.still_as(self.snapshot)


@dataclass(frozen=True)
class Done:
    """What acting brought: how many writes were taken, the uids of Jobs by (deployment, name), the
    refusal of a switch, and whether one was taken."""

    job_uids: Mapping[tuple[int, str], str]
    writes: int = 0
    switch_refused: str = ""
    switched: bool = False


def look(cluster_id: int, *, now: datetime, limits: Limits = LIMITS) -> bool:
    """Look at one cluster. Return whether a slot moved, so that the next look is worth having soon.

    Does nothing while another look holds the lease.
    """
    lease = leases.take_lease(cluster_id, now=now)
    if lease is None:
        return False
    try:
        return _look(cluster_id, lease, now, limits)
    except Unreachable as reason:
        leases.silent(cluster_id, reason=str(reason), now=now)
        return False
    finally:
        leases.give_lease_back(cluster_id, lease)


def _look(cluster_id: int, lease: str, now: datetime, limits: Limits) -> bool:
    due = [slot for slot in snapshots.slots_of(cluster_id, now) if slot.is_due(now)]
    if not due and not snapshots.heartbeat_is_due(cluster_id, now):
        return False
    client = clients.of_cluster(cluster_id)
    namespaces = sorted({slot.wanted.place.namespace for slot in due})
    installation = snapshots.installation()
    reading = client.read(installation, namespaces)
    leases.answered(cluster_id, now=now)
    guards = [Guard(cluster_id, lease, slot) for slot in due]
    return _each(guards, client, reading, now=now, limits=limits)


def _each(
    guards: Iterable[Guard],
    client: Cluster,
    reading: Reading,
    *,
    now: datetime,
    limits: Limits,
) -> bool:
    """Take a step for each slot; one that fails in its own way does not hold up the others."""
    moved, ends = False, monotonic() + BUDGET_SECONDS
    for guard in guards:
        if monotonic() > ends:
            return True
        try:
            moved = _step(guard, client, reading, now, limits) or moved
        except Unreachable as reason:
            logger.info("slot %s could not be seen: %s", guard.snapshot.slot_id, reason)
        except Exception:
            # Broken data of one slot must not stop the others from being served.
            logger.exception("slot %s was set aside", guard.snapshot.slot_id)
    return moved


def _step(guard: Guard, client: Cluster, reading: Reading, now: datetime, limits: Limits) -> bool:
    """Look, decide, act, record for one slot. Return whether anything was done."""
    snapshot = guard.snapshot
    seen = _see(snapshot.wanted, client, reading, now)
    step = reconcile.decide(snapshot.wanted, seen, limits=limits)
    done = _act(step.commands, snapshot.wanted, client, guard, seen)
    if not guard.stands():
        return True
    record.remember_jobs(done.job_uids)
    actor = actors.agent(snapshots.cluster_slug(guard.cluster_id))
    step = _with_refusal(step, done, snapshot.wanted, seen)
    if not done.switched:
        step = replace(step, corrected=None)
    record.record(snapshot.slot_id, step, generation=snapshot.generation, now=now, actor=actor)
    return bool(done.writes) or any(not isinstance(c, Explain) for c in step.changes)


def _see(wanted: Wanted, client: Cluster, reading: Reading, now: datetime) -> Seen:
    """Return the slot's part of the reading, with what its stages ask for besides."""
    seen = reading.seen(wanted.place, now)
    attempt = wanted.before
    if attempt is not None and attempt.state is State.PENDING:
        seen = replace(seen, resolution=_resolve(attempt, now))
    if attempt is not None and attempt.state in NAMES_LOOKED_AT_IN:
        seen = replace(seen, taken=client.taken(wanted.place, object_names.of(wanted, attempt)))
    if attempt is not None and attempt.state is State.ADMITTED:
        seen = replace(seen, room=client.room(reading, wanted.place))
    seen = replace(seen, command_said=_said(wanted, client, seen))
    check = readiness.check_wanted(wanted)
    return replace(seen, check=client.check(wanted.place, check)) if check is not None else seen


def _said(wanted: Wanted, client: Cluster, seen: Seen) -> str:
    """Return what a failed release command wrote, where its end itself has no words."""
    silent = sources(jobs.pods_without_words(wanted, seen))
    found = client.output(wanted.place, silent) if silent else ()
    return found[-1].text if found else ""


def _resolve(attempt: Attempt, now: datetime) -> Resolution | None:
    """Ask the registry for the tag's digest where that is due, and store what it says."""
    if attempt.release.image or not tags.ask_now(attempt.clocks, now):
        return None
    try:
        digest = registry.resolve(images.parse(attempt.release.asked_for, default_registry=""))
    except registry.RegistryRefused as refusal:
        return Resolution(refused=str(refusal))
    except registry.RegistryUnreachable as silence:
        return Resolution(unreachable=str(silence))
    observe.remember_digest(attempt.release.id, digest)
    return Resolution(digest=digest)


def _act(
    commands: Iterable[Errand], wanted: Wanted, client: Cluster, guard: Guard, seen: Seen
) -> Done:
    """Carry out the commands, each under the guard; what changed since is left to the next look."""
    done = Done({})
    for command in commands:
        if not guard.stands():
            logger.info("slot %s moved meanwhile; nothing more is written", wanted.place.slot)
            return done
        if isinstance(command, KeepOutput):
            found = client.output(wanted.place, sources(pods_of(command, seen)))
            outputs.keep(command.deployment, found, now=seen.now)
        else:
            done = _run(command, wanted, client, done)
    return done


def _run(command: Command, wanted: Wanted, client: Cluster, done: Done) -> Done:
    try:
        made = client.run(command, wanted, secrets=lambda release: snapshots.secrets_of(release.id))
    except Stale as stale:
        logger.info("slot %s: %s", wanted.place.slot, stale)
        return done
    except CommandRefused as refusal:
        logger.warning("slot %s: Kubernetes refused: %s", wanted.place.slot, refusal)
        return replace(done, switch_refused=str(refusal)) if traffic.switches(command) else done
    writes = done.writes + (0 if isinstance(command, Try) else 1)
    switched = done.switched or isinstance(command, PointTraffic)
    return _with_uid(command, made, replace(done, writes=writes, switched=switched))


def _with_uid(command: Command, made: Meta | None, done: Done) -> Done:
    if not isinstance(command, Create) or command.kind is not ObjectKind.JOB:
        return done
    if made is None or command.deployment is None:
        return done
    return replace(
        done, job_uids={**done.job_uids, (command.deployment, command.name): made.ref.uid}
    )


def _with_refusal(step: Step, done: Done, wanted: Wanted, seen: Seen) -> Step:
    """Let the clock of a refused switch run on."""
    if not done.switch_refused or wanted.last_past is None:
        return step
    switching = wanted.last_past.id

    def after(ticking: Ticking) -> Ticking:
        if ticking.deployment != switching:
            return ticking
        running = reconcile.clocks_after_refusal(ticking.clocks, done.switch_refused, wanted, seen)
        return replace(ticking, clocks=running)

    return replace(step, ticking=tuple(after(ticking) for ticking in step.ticking))
