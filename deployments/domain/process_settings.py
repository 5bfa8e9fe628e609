"""One process of an app service, as its settings describe it: each rule with its own sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal

from deployments.domain import limits, quantities
from deployments.domain.documents import REFERENCE, Reader, quoted, text_problem
from deployments.domain.names import process_name_problem
from deployments.domain.readiness_path import path_problem
from deployments.domain.releases import LONG_RUNNING, Process, ProcessKind
from deployments.domain.schedules import schedule_problem

FIELDS = tuple(field.name for field in fields(Process))
DEFAULTS = Process("", ProcessKind.HTTP)
HIGHEST = {"cpu": Decimal(limits.CPU_MILLICORES) / 1000, "memory": Decimal(limits.MEMORY_BYTES)}
EXAMPLES = {"cpu": "100m or 1.5", "memory": "128Mi or 1Gi"}

REFERENCES_LATER = (
    "References such as ${{ service.KEY }} come with a later version; write the value itself."
)


def read_process(reader: Reader) -> Process:
    """Return a process; what is wrong with it is noted in the reader."""
    reader.only(FIELDS)
    process = Process(
        name=_read_name(reader),
        kind=_read_kind(reader),
        primary=reader.flag("primary"),
        command=read_command(reader),
        port=reader.whole_number_or_none("port", limits.PORT),
        replicas=_number(reader, "replicas", limits.REPLICAS),
        cpu_request=_read_quantity(reader, "cpu_request"),
        cpu_limit=_read_quantity(reader, "cpu_limit"),
        memory_request=_read_quantity(reader, "memory_request"),
        memory_limit=_read_quantity(reader, "memory_limit"),
        readiness_path=_read_readiness_path(reader),
        stabilization_seconds=_number(
            reader, "stabilization_seconds", limits.STABILIZATION_SECONDS
        ),
        drain_seconds=_number(reader, "drain_seconds", limits.DRAIN_SECONDS),
        stop_seconds=_number(reader, "stop_seconds", limits.STOP_SECONDS),
        schedule=_read_schedule(reader),
        restricted=reader.flag("restricted"),
    )
    _check_quantities(reader, process)
    if reader.fields.get("kind") == process.kind:  # else every rule of a kind would be a guess
        RULES[process.kind](reader, process)
    return process


def read_command(reader: Reader) -> tuple[str, ...]:
    """Return a list of words, as a container gets them; what is wrong is noted."""
    words = reader.items("command")
    problem = _command_problem(words)
    if problem is None:
        return tuple(words)
    reader.note("command", problem if problem[0].isupper() else f"{_command(reader)} {problem}.")
    return ()


def mark_primary(reader: Reader, processes: tuple[Process, ...]) -> tuple[Process, ...]:
    """Return the processes with one primary: the one that says so, or the only long-running one."""
    lasting = [process.name for process in processes if process.long_running]
    marked = [process.name for process in processes if process.primary]
    if len(marked) > 1:
        reader.note("processes", f"Only one process is primary; these are: {_listed(marked)}.")
    if not marked and len(lasting) > 1:
        reader.note("processes", f"One of {_listed(lasting)} has to be primary; none is.")
    if not marked and len(lasting) == 1:
        return tuple(replace(p, primary=p.long_running) for p in processes)
    return processes


def _number(reader: Reader, name: str, allowed: limits.Range) -> int:
    return reader.whole_number(name, getattr(DEFAULTS, name), allowed)


def _read_name(reader: Reader) -> str:
    name = reader.text("name")
    problem = process_name_problem(name) if isinstance(reader.fields.get("name"), str) else None
    if problem:
        reader.note("name", problem)
    return name


def _read_kind(reader: Reader) -> ProcessKind:
    kind = reader.text("kind")
    if kind in set(ProcessKind):
        return ProcessKind(kind)
    if isinstance(reader.fields.get("kind"), str):
        known = ", ".join(ProcessKind)
        reader.note("kind", f"{reader.named('kind')} is one of {known}; this is {quoted(kind)}.")
    return ProcessKind.JOB  # the kind with the fewest rules: no problem follows from a guess


def _command(reader: Reader) -> str:
    return "command of the release" if not reader.owner else reader.named("command")


def _command_problem(words: list[object]) -> str | None:
    """Return what is wrong with a command: a whole sentence, or the end of one in lower case."""
    if not all(isinstance(word, str) for word in words):
        return 'is a list of texts, such as ["serve", "--verbose"]'
    texts = [str(word) for word in words]
    if len(texts) > limits.COMMAND_WORDS:
        return f"has at most {limits.COMMAND_WORDS} words; this has {len(texts)}"
    whole = " ".join(texts)
    if text_problem(whole):
        return text_problem(whole)
    if len(whole.encode()) > limits.COMMAND_BYTES:
        return f"has at most {limits.COMMAND_BYTES // limits.KIB} KiB in all"
    return REFERENCES_LATER if REFERENCE in whole else None


def _read_quantity(reader: Reader, name: str) -> str | None:
    text = reader.text_or_none(name, limits.QUANTITY_LENGTH)
    problem = _quantity_problem(name, text) if text is not None else None
    if problem is None:
        return text
    reader.note(name, f"{reader.named(name)} {problem}.")
    return None


def _quantity_problem(name: str, text: str) -> str | None:
    resource = name.partition("_")[0]
    try:
        number = quantities.parse(text)
    except ValueError:
        return f"is a quantity such as {EXAMPLES[resource]}; this is {quoted(text)}"
    if resource == "memory" and text.endswith("m"):
        return f"is in thousandths of a byte with m; write {EXAMPLES[resource]}"
    if number > HIGHEST[resource]:
        return f"is more than any machine has; write {EXAMPLES[resource]}"
    if number == 0 and name.endswith("limit"):
        return "is more than 0; leave it out for no limit"
    return None


def _check_quantities(reader: Reader, process: Process) -> None:
    for resource in HIGHEST:
        request = getattr(process, f"{resource}_request")
        limit = getattr(process, f"{resource}_limit")
        if request and limit and quantities.parse(request) > quantities.parse(limit):
            name = f"{resource}_request"
            reader.note(name, f"{reader.named(name)}, {request}, is above its limit, {limit}.")


def _read_readiness_path(reader: Reader) -> str | None:
    path = reader.text_or_none("readiness_path", limits.READINESS_PATH_LENGTH)
    problem = path_problem(path) if path else None
    if problem:
        reader.note("readiness_path", f"{reader.named('readiness_path')} {problem}.")
    return path


def _read_schedule(reader: Reader) -> str | None:
    schedule = reader.text_or_none("schedule", limits.SCHEDULE_LENGTH)
    problem = schedule_problem(schedule) if schedule else None
    if problem:
        reader.note("schedule", f"{reader.named('schedule')} {problem}.")
    return schedule


def _check_http(reader: Reader, process: Process) -> None:
    if reader.fields.get("port") is None:
        reader.note("port", f"{process.name} is an http process and needs a port.")
    _check_no_schedule(reader, process)


def _check_worker(reader: Reader, process: Process) -> None:
    _check_no_readiness_path(reader, process)
    _check_no_schedule(reader, process)


def _check_cron(reader: Reader, process: Process) -> None:
    if reader.fields.get("schedule") in (None, ""):
        reader.note(
            "schedule",
            f"{process.name} is a cron process and needs a schedule, such as 30 4 * * *.",
        )
    _check_ends(reader, process)


def _check_job(reader: Reader, process: Process) -> None:
    _check_no_schedule(reader, process)
    _check_ends(reader, process)


def _check_ends(reader: Reader, process: Process) -> None:
    """Note what only a process that runs on can have."""
    who = f"{process.name} is a {process.kind} process"
    if process.primary:
        lasting = " and ".join(sorted(LONG_RUNNING))
        reader.note("primary", f"{who} and cannot be primary: only {lasting} processes can.")
    if reader.fields.get("port") is not None:
        reader.note("port", f"{who} and has no port.")
    if process.replicas != 1:
        reader.note("replicas", f"{who} and runs once at a time: its replicas are 1.")
    _check_no_readiness_path(reader, process)


def _check_no_schedule(reader: Reader, process: Process) -> None:
    if reader.fields.get("schedule") is not None:
        reader.note(
            "schedule", f"{process.name} is a {process.kind} process; only cron has a schedule."
        )


def _check_no_readiness_path(reader: Reader, process: Process) -> None:
    if reader.fields.get("readiness_path") is not None:
        reader.note(
            "readiness_path",
            f"{process.name} is a {process.kind} process; only http has a readiness path.",
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names)


RULES: dict[ProcessKind, Callable[[Reader, Process], None]] = {
    ProcessKind.HTTP: _check_http,
    ProcessKind.WORKER: _check_worker,
    ProcessKind.CRON: _check_cron,
    ProcessKind.JOB: _check_job,
}
