"""Objects on disk: a snapshot, and a journal of the writes since it. A kill at any moment loses no
write that was answered and leaves a readable state."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

MOST_JOURNAL_BYTES = 16 * 1024 * 1024

Row = tuple[str, dict[str, Any]]


class StateInUse(Exception):
    """Another practice cluster works in the same folder."""


class Journal:
    """Writes go to `journal.jsonl`; `snapshot.json` is replaced as a whole when that grows."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(directory)
        self._snapshot = directory / "snapshot.json"
        self._path = directory / "journal.jsonl"
        self._file: IO[bytes] | None = None

    def load(self) -> tuple[int, list[Row]]:
        """Return the last revision and every object as (plural, object)."""
        revision, rows = self._load_snapshot()
        objects = {_key(plural, obj): (plural, obj) for plural, obj in rows}
        for line in self._lines():
            if line["revision"] <= revision:
                continue
            revision = line["revision"]
            key = _key(line["plural"], line["object"])
            if line["deleted"]:
                objects.pop(key, None)
            else:
                objects[key] = (line["plural"], line["object"])
        return revision, list(objects.values())

    def _load_snapshot(self) -> tuple[int, list[Row]]:
        if not self._snapshot.exists():
            return 0, []
        found = json.loads(self._snapshot.read_bytes())
        return found["revision"], [(plural, obj) for plural, obj in found["objects"]]

    def _lines(self) -> Iterable[dict[str, Any]]:
        if not self._path.exists():
            return
        for line in self._path.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                # Killed while writing it, so nobody was told that it is written.
                return

    def append(self, revision: int, plural: str, obj: dict[str, Any], *, deleted: bool) -> bool:
        """Write one change. Return True when the journal has grown enough for a snapshot."""
        line = {"revision": revision, "plural": plural, "deleted": deleted, "object": obj}
        if self._file is None:
            self._file = self._path.open("ab")
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        return self._file.tell() > MOST_JOURNAL_BYTES

    def snapshot(self, revision: int, rows: Iterable[Row]) -> None:
        """Replace the snapshot and begin a new journal.

        Killed between the two, old lines remain; none is newer, so they are skipped.
        """
        fresh = self._snapshot.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(json.dumps({"revision": revision, "objects": list(rows)}).encode())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._snapshot)
        self._close_file()
        self._file = self._path.open("wb")

    def close(self) -> None:
        """Let go of the folder."""
        self._close_file()
        self._lock.close()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(directory: Path) -> IO[bytes]:
    """Take the folder until the file is closed or this process ends, however it ends.

    Two that write one journal would lose each other's objects.
    """
    file = (directory / "lock").open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise StateInUse(f"{directory} is in use by another practice cluster") from None
    return file


def _key(plural: str, obj: dict[str, Any]) -> tuple[str, str, str]:
    metadata = obj["metadata"]
    return plural, metadata.get("namespace", ""), metadata["name"]
