"""The settings of an app service: one JSON document, validated whole (specification §6).

How they are changed in part is in `settings_changes`; variables are in `variables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deployments.domain import limits
from deployments.domain.documents import JsonObject, Reader, quoted
from deployments.domain.errors import Invalid, Problem
from deployments.domain.images import repository_problem
from deployments.domain.process_settings import mark_primary, read_command, read_process
from deployments.domain.releases import Config, Process, ProcessKind, ReleaseCommand

FIELDS = ("processes", "release_command", "volumes", "deploy_after", "image_repository")
RELEASE_COMMAND_FIELDS = ("command", "timeout_seconds")

# What a later version brings. It is refused and not stored: nobody may believe that it holds.
VOLUMES_LATER = "Volumes come with a later version; until then a service keeps no data of its own."
DEPLOY_AFTER_LATER = (
    "Deploy after comes with a later version; until then deploy the services in their order."
)


@dataclass(frozen=True)
class Settings:
    """What a person set for one service in one environment. Exactly one long-running process is
    primary, where there is any."""

    processes: tuple[Process, ...]
    release_command: ReleaseCommand | None = None
    image_repository: str | None = None

    def to_json(self) -> JsonObject:
        """Return the whole document, as it is stored and as the API shows it."""
        return {
            "processes": [_process_json(process) for process in self.processes],
            "release_command": self.release_command and _command_json(self.release_command),
            "volumes": [],
            "deploy_after": [],
            "image_repository": self.image_repository,
        }


def default_settings() -> JsonObject:
    """Return the settings of a new service: one http process on port 8080."""
    http = Process("http", ProcessKind.HTTP, primary=True, port=8080)
    return Settings(processes=(http,)).to_json()


def parse(document: object) -> Settings:
    """Return the settings that a whole document says.

    Raises Invalid with every problem at once, each with its JSON pointer.
    """
    if not isinstance(document, dict):
        raise Invalid.field("", f"Settings are a JSON object; this is {quoted(document)}.")
    problems: list[Problem] = []
    settings = _read(Reader(document, "", "", problems))
    if problems:
        raise Invalid(*problems)
    return settings


def to_config(
    settings: Settings, variables: Mapping[str, str], secret_hashes: Mapping[str, str]
) -> Config:
    """Return what is frozen with a release; of a secret variable only a keyed hash."""
    return Config(
        processes=settings.processes,
        release_command=settings.release_command,
        variables=dict(variables),
        secret_hashes=dict(secret_hashes),
    )


def _read(reader: Reader) -> Settings:
    reader.only(FIELDS)
    _refuse_later(reader, "volumes", VOLUMES_LATER)
    _refuse_later(reader, "deploy_after", DEPLOY_AFTER_LATER)
    return Settings(
        processes=_read_processes(reader),
        release_command=_read_release_command(reader),
        image_repository=_read_image_repository(reader),
    )


def _refuse_later(reader: Reader, name: str, sentence: str) -> None:
    if reader.items(name):
        reader.note(name, sentence)


def _read_processes(reader: Reader) -> tuple[Process, ...]:
    found = reader.items("processes")
    _check_number(reader, found)
    read = [
        read_process(inner)
        for index, item in enumerate(found[: limits.PROCESSES])
        if (inner := _process_reader(reader, index, item)) is not None
    ]
    _check_names_differ(reader, [str(process.name) for process in read])
    return mark_primary(reader, tuple(read))


def _check_number(reader: Reader, found: list[Any]) -> None:
    if not found and isinstance(reader.fields.get("processes", []), list):
        reader.note("processes", "A service has at least one process.")
    if len(found) > limits.PROCESSES:
        reader.note(
            "processes",
            f"A service has at most {limits.PROCESSES} processes; these are {len(found)}.",
        )


def _process_reader(reader: Reader, index: int, item: object) -> Reader | None:
    name = item.get("name") if isinstance(item, dict) else None
    owner = name if isinstance(name, str) and name.isascii() and name.isprintable() else ""
    return reader.inner(
        "A process",
        item,
        pointer=f"/processes/{index}",
        owner=owner[: limits.QUANTITY_LENGTH] or f"process {index + 1}",
    )


def _check_names_differ(reader: Reader, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name and name in names[:index]:
            reader.note("processes", f"Two processes are called {quoted(name)}.")


def _read_release_command(reader: Reader) -> ReleaseCommand | None:
    sent = reader.fields.get("release_command")
    if sent is None:
        return None
    inner = reader.inner(
        "release_command", sent, pointer="/release_command", owner="the release command"
    )
    return None if inner is None else _release_command(inner)


def _release_command(reader: Reader) -> ReleaseCommand:
    reader.only(RELEASE_COMMAND_FIELDS)
    command = read_command(reader)
    if not command and reader.fields.get("command", []) == []:
        reader.note("command", "The release command has at least one word.")
    usual = ReleaseCommand.timeout_seconds
    timeout = reader.whole_number("timeout_seconds", usual, limits.RELEASE_COMMAND_SECONDS)
    return ReleaseCommand(command, timeout)


def _read_image_repository(reader: Reader) -> str | None:
    name = reader.text_or_none("image_repository", limits.IMAGE_REPOSITORY_LENGTH)
    problem = repository_problem(name) if name else None
    if problem:
        reader.note("image_repository", problem)
    return name


def _process_json(process: Process) -> JsonObject:
    return {**asdict(process), "kind": process.kind.value, "command": list(process.command)}


def _command_json(command: ReleaseCommand) -> JsonObject:
    return {**asdict(command), "command": list(command.command)}
