"""A small cluster of values: it takes commands, does what Kubernetes does by itself, and can be
seen. Nothing here is ours to decide; nothing of a network is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from deployments.agent.cluster import CommandRefused, Stale
from deployments.domain import commands as c
from deployments.domain import names
from deployments.domain.observations import (
    Answer,
    CheckResult,
    CronJobSeen,
    Endpoint,
    JobSeen,
    Meta,
    NodeRoom,
    ObjectKind,
    Pod,
    Ref,
    Room,
    Seen,
    ServiceSeen,
    Termination,
    Workload,
)
from deployments.domain.readiness import Check
from deployments.domain.releases import Process, ProcessKind
from deployments.domain.wanted import Release, Wanted

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
STARTS_AFTER = timedelta(seconds=1)
READY_AFTER = timedelta(seconds=3)
STOPS_AFTER = timedelta(seconds=4)
JOB_TAKES = timedelta(seconds=3)

Listed = Workload | JobSeen | CronJobSeen | ServiceSeen


class World:
    """One namespace. `never_ready` and `answers_no` are numbers of releases that misbehave."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now
        self.objects: dict[tuple[ObjectKind, str], Listed] = {}
        self.secrets: set[str] = set()
        self.pods: dict[str, Pod] = {}
        self.born: dict[str, datetime] = {}
        self.never_ready: set[int] = set()
        self.answers_no: set[int] = set()
        self.failing_jobs: set[str] = set()
        self.refused: tuple[type, ...] = ()
        self.room = Room((NodeRoom("node-1", 100_000, 2**40, 110),))
        self.log: list[c.Errand] = []
        self._serial = 0

    # --- what a person or the agent does ---

    def run(self, command: c.Errand, wanted: Wanted) -> Meta | None:
        """Carry out one command as an API server would."""
        if isinstance(command, self.refused):
            raise CommandRefused(403, "Forbidden", "not allowed")
        self.log.append(command)
        match command:
            case c.Try() | c.KeepOutput():
                return None
            case c.Create(kind=ObjectKind.SECRET):
                self.secrets.add(command.name)
                return None
            case c.Create():
                return self._create(command, wanted)
            case c.Delete(ref=Ref(kind=ObjectKind.SECRET)):
                self.secrets.discard(command.ref.name)
                return None
            case c.Delete():
                self._read(command.ref)
                self.remove(command.ref.kind, command.ref.name)
                return None
            case _:
                return self._change(command, wanted)

    def remove(self, kind: ObjectKind, name: str) -> None:
        """Delete an object with what it owns: its pods begin to stop."""
        found = self.objects.pop((kind, name))
        for pod in list(self.pods.values()):
            owned = pod.job == name if kind is ObjectKind.JOB else self._runs_for(pod, found)
            if owned:
                self._stop(pod)

    def scale_by_hand(self, name: str, replicas: int) -> None:
        """Do what `kubectl scale` does."""
        found = self.objects[ObjectKind.DEPLOYMENT, name]
        assert isinstance(found, Workload)
        self._put(replace(found, replicas=replicas, settled=False))

    def point_by_hand(self, name: str, release: int) -> None:
        """Do what `kubectl edit service` does."""
        found = self.objects[ObjectKind.SERVICE, name]
        assert isinstance(found, ServiceSeen)
        tag = names.release_tag(release)
        self._put(replace(found, selector={**found.selector, names.RELEASE: tag}))

    def _create(self, command: c.Create, wanted: Wanted) -> Meta:
        key = (command.kind, command.name)
        if key in self.objects:
            return self.objects[key].meta
        labels = names.labels(wanted.place, number=command.release, process=command.process)
        annotations = {names.FENCE: str(wanted.fence)}
        if command.kind is ObjectKind.JOB:
            labels[names.DEPLOYMENT] = str(command.deployment)
        if command.kind is ObjectKind.CRON_JOB:
            annotations[names.SUSPENDED] = names.SUSPENDED_BY_AGENT
        uid = f"uid-{self._next()}"
        meta = Meta(Ref(command.kind, command.name, uid, self._version()), labels, annotations)
        self.objects[key] = self._made(command, meta, wanted)
        return meta

    def _made(self, command: c.Create, meta: Meta, wanted: Wanted) -> Listed:
        match command.kind:
            case ObjectKind.DEPLOYMENT:
                return Workload(meta, replicas=0)
            case ObjectKind.CRON_JOB:
                return CronJobSeen(meta, suspended=True)
            case ObjectKind.JOB:
                return JobSeen(meta, suspended=True)
        if command.release is None:
            selector = names.stable_selector(wanted.place, number=None, process="")
            return ServiceSeen(meta, selector, ports=())
        selector = names.process_selector(
            wanted.place, number=command.release, process=command.process
        )
        return ServiceSeen(meta, selector, ports=())

    def _change(self, command: c.Errand, wanted: Wanted) -> Meta:
        assert not isinstance(command, c.Create | c.Try | c.KeepOutput)
        found = self._read(command.ref)
        annotations = {**found.meta.annotations, names.FENCE: str(wanted.fence)}
        match command:
            case c.Scale(replicas=replicas):
                assert isinstance(found, Workload)
                found = replace(found, replicas=replicas, settled=False)
            case c.Suspend():
                assert isinstance(found, CronJobSeen)
                found = replace(found, suspended=True)
                annotations[names.SUSPENDED] = names.SUSPENDED_BY_AGENT
            case c.Resume():
                assert isinstance(found, CronJobSeen | JobSeen)
                found = replace(found, suspended=False)
                annotations.pop(names.SUSPENDED, None)
            case c.PointTraffic():
                assert isinstance(found, ServiceSeen)
                found = self._pointed(found, command, wanted)
        return self._put(replace(found, meta=replace(found.meta, annotations=annotations)))

    def _pointed(self, found: ServiceSeen, command: c.PointTraffic, wanted: Wanted) -> ServiceSeen:
        selector = names.stable_selector(
            wanted.place, number=command.release, process=command.process
        )
        release = wanted.release(command.release)
        primary = release.config.primary if release is not None else None
        if primary is None or primary.port is None:
            return replace(found, selector=selector)
        port = 80 if primary.kind is ProcessKind.HTTP else primary.port
        return replace(found, selector=selector, ports=((names.MAIN_PORT, port, names.MAIN_PORT),))

    def _read(self, ref: Ref) -> Listed:
        found = self.objects.get((ref.kind, ref.name))
        if found is None or found.meta.ref != ref:
            raise Stale(f"{ref.name} changed since it was read")
        return found

    def _put(self, found: Listed) -> Meta:
        ref = replace(found.meta.ref, resource_version=self._version())
        found = replace(found, meta=replace(found.meta, ref=ref))
        self.objects[ref.kind, ref.name] = found
        return found.meta

    # --- what a cluster does by itself ---

    def wait(self, seconds: float = 2) -> None:
        """Let time pass and the controllers and kubelets do their work."""
        self.now += timedelta(seconds=seconds)
        for found in list(self.objects.values()):
            if isinstance(found, Workload):
                self._keep_replicas(found)
            elif isinstance(found, JobSeen):
                self._work_off(found)
        for pod in list(self.pods.values()):
            self._live_on(pod)

    def _keep_replicas(self, workload: Workload) -> None:
        pods = [p for p in self.pods.values() if self._runs_for(p, workload) and not p.deleting]
        for _ in range(workload.replicas - len(pods)):
            self._start(workload.meta.release, workload.meta.process)
        for pod in pods[workload.replicas :]:
            self._stop(pod)
        if not workload.settled:
            self.objects[ObjectKind.DEPLOYMENT, workload.meta.name] = replace(
                workload, settled=True
            )

    def _work_off(self, job: JobSeen) -> None:
        name = job.meta.name
        pod = next((pod for pod in self.pods.values() if pod.job == name), None)
        if job.suspended or job.finished:
            return
        if pod is None:
            self._start(job.meta.release, job.meta.process, job=name)
        elif self.now - self.born[pod.uid] >= JOB_TAKES:
            failed = name in self.failing_jobs
            end = Termination(3, "Error", "loading\nno such table\n") if failed else Termination(0)
            phase = "Failed" if failed else "Succeeded"
            self.pods[pod.uid] = replace(pod, phase=phase, terminations=(end,))
            self._put(replace(job, succeeded=not failed, failed="Failed" if failed else ""))

    def _live_on(self, pod: Pod) -> None:
        if pod.deletion_due is not None and self.now >= pod.deletion_due:
            del self.pods[pod.uid]
            return
        age = self.now - self.born[pod.uid]
        started = pod.started or age >= STARTS_AFTER
        ready = age >= READY_AFTER and pod.release not in self.never_ready
        ready = ready and not pod.deleting and not pod.job
        changed = pod.ready_changed if pod.ready == ready else self.now
        self.pods[pod.uid] = replace(
            pod,
            started=started,
            started_at=self.born[pod.uid] if started else None,
            ready=ready,
            ready_changed=changed,
            phase="Running" if started and not pod.finished else pod.phase,
        )

    def _start(self, release: int | None, process: str, *, job: str = "") -> None:
        uid = f"pod-{self._next()}"
        self.pods[uid] = Pod(uid, uid, release, process, node="node-1", job=job)
        self.born[uid] = self.now

    def _stop(self, pod: Pod) -> None:
        if not pod.deleting:
            self.pods[pod.uid] = replace(
                pod, deletion_due=self.now + STOPS_AFTER, ready=False, ready_changed=self.now
            )

    @staticmethod
    def _runs_for(pod: Pod, found: Listed) -> bool:
        if not isinstance(found, Workload) or pod.job:
            return False
        return (pod.release, pod.process) == (found.meta.release, found.meta.process)

    # --- how it is seen ---

    def seen(self, wanted: Wanted, check: Check | None = None) -> Seen:
        """Return one look at the slot."""
        listed = tuple(self.objects.values())
        return Seen(
            now=self.now,
            workloads=tuple(found for found in listed if isinstance(found, Workload)),
            pods=tuple(self.pods.values()),
            jobs=tuple(found for found in listed if isinstance(found, JobSeen)),
            cron_jobs=tuple(found for found in listed if isinstance(found, CronJobSeen)),
            services=tuple(found for found in listed if isinstance(found, ServiceSeen)),
            endpoints=self.endpoints(wanted.service),
            room=self.room,
            check=self.answer(check) if check is not None else None,
        )

    def endpoints(self, name: str) -> tuple[Endpoint, ...]:
        """Return the ready pods that a Service selects."""
        service = self.objects.get((ObjectKind.SERVICE, name))
        if not isinstance(service, ServiceSeen):
            return ()
        behind = (p for p in self.pods.values() if _selected(service.selector, p))
        return tuple(Endpoint(pod.uid, ready=True) for pod in behind if pod.ready)

    def answer(self, check: Check) -> CheckResult:
        """Return what a release's own Service answers to the agent."""
        behind = self.endpoints(check.service)
        pod = self.pods[behind[0].pod] if behind else None
        if pod is None:
            return CheckResult(Answer.UNKNOWN, "no endpoints available")
        if pod.release in self.answers_no:
            return CheckResult(Answer.NO, "answers with 500")
        return CheckResult(Answer.YES)

    def serves(self, service: str = "web") -> set[int | None]:
        """Return the releases whose ready pods are behind a Service."""
        return {self.pods[endpoint.pod].release for endpoint in self.endpoints(service)}

    def running(self, process: str = "") -> set[int | None]:
        """Return the releases of which a pod runs that has not been told to stop."""
        return {
            pod.release
            for pod in self.pods.values()
            if not pod.deleting and not pod.job and pod.process.startswith(process)
        }

    def names(self) -> set[str]:
        """Return the names of all objects, the Secrets with their kind in front."""
        return {name for _, name in self.objects} | {f"Secret {name}" for name in self.secrets}

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _version(self) -> str:
        return str(self._next())


def _selected(selector: Mapping[str, str], pod: Pod) -> bool:
    number = names.release_number(selector.get(names.RELEASE, ""))
    wanted_process = selector.get(names.PROCESS)
    return not pod.job and pod.release == number and pod.process == wanted_process


def http(name: str = "http", **more: object) -> Process:
    """Return a primary http process that is stable at once."""
    given = {"port": 8080, "primary": True, "stabilization_seconds": 4, "drain_seconds": 6}
    return Process(name, ProcessKind.HTTP, **{**given, **more})  # type: ignore[arg-type]


def worker(name: str = "worker", **more: object) -> Process:
    """Return a worker without a port."""
    given = {"stabilization_seconds": 4, "drain_seconds": 6}
    return Process(name, ProcessKind.WORKER, **{**given, **more})  # type: ignore[arg-type]


def cron(name: str = "nightly") -> Process:
    """Return a cron process."""
    return Process(name, ProcessKind.CRON, schedule="0 3 * * *")


def job(name: str = "seed") -> Process:
    """Return a job process."""
    return Process(name, ProcessKind.JOB)


def image(release: Release) -> str:
    """Return what a release runs, for a test that needs it known."""
    assert release.image is not None
    return release.image
