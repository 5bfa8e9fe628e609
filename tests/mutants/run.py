"""Take one guard out at a time and see that a named test says so: `make mutants`.

Each `*.patch` beside this begins with a sentence and the tests that have to fail, by an assertion
about an outcome. What the database guards is taken out in `constraints.py`, with the locks in.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SECONDS = 300
JOBS = int(os.environ.get("JOBS", "2"))
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".run", "__pycache__", ".*_cache", ".hypothesis", "node_modules"
)
# A test that cannot be set up, or that waits for ever, says nothing about an outcome.
ABOUT_AN_OUTCOME = ("AssertionError", "assert ", "Failed: DID NOT RAISE")
REFUSALS = ("tests/deployments/test_constraints.py", "tests/deployments/test_uniqueness.py")
NEVER_INHERITED = ("PILOTHOUSE_TEST_RUN", "TRIALS", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS")


@dataclass(frozen=True)
class Mutant:
    """One guard that is taken out, and the tests that have to fail."""

    patch: Path
    says: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `by` names the assertion that killed it."""

    mutant: Mutant
    killed: bool
    by: str
    seconds: float


def read(patch: Path) -> Mutant:
    """Return what a patch says of itself: a sentence, then `Test: ` lines, then the diff."""
    lines = patch.read_text().splitlines()
    tests = tuple(line.removeprefix("Test: ") for line in lines if line.startswith("Test: "))
    if not tests:
        raise SystemExit(f"{patch.name} names no test.")
    return Mutant(patch, lines[0], tests)


def judge(mutant: Mutant) -> Verdict:
    """Apply a patch to a copy of the tree and run its tests there."""
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
        applied = _apply(mutant.patch, copy)
        if applied:
            return Verdict(mutant, False, f"does not apply: {applied}", monotonic() - began)
        killed, by = _tested(mutant.tests, copy)
    return Verdict(mutant, killed, by, monotonic() - began)


def _apply(patch: Path, copy: Path) -> str:
    command = ["git", "apply", str(patch)]
    # Without it git would take a repository around the copy for the one that is meant.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)}
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    return done.stderr.strip()


def _tested(tests: Sequence[str], copy: Path) -> tuple[bool, str]:
    report = copy / "report.xml"
    options = ["-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", f"--junitxml={report}"]
    environment = {k: v for k, v in os.environ.items() if k not in NEVER_INHERITED}
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *options, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"the tests took longer than {SECONDS} s"
    if not report.exists():
        return False, f"the tests did not run: {done.stdout[-300:]}"
    return _read_report(report)


def _read_report(report: Path) -> tuple[bool, str]:
    failures = list(_failures(report))
    for test, said in failures:
        if said.startswith(ABOUT_AN_OUTCOME):
            return True, test
    if failures:
        return False, f"{failures[0][0]} failed by no assertion: {failures[0][1][:200]}"
    return False, "SURVIVES: every test passed"


def _failures(report: Path) -> Iterator[tuple[str, str]]:
    for case in ET.parse(report).getroot().iter("testcase"):
        for kind in ("failure", "error"):
            for found in case.findall(kind):
                name = f"{case.get('classname', '').split('.')[-1]}::{case.get('name')}"
                yield name, ("" if kind == "failure" else "error: ") + found.get("message", "")


def main() -> int:
    """Judge every mutant, print a table, and return 1 unless each of them was killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="parts of names of patches; none for all")
    only = parser.parse_args().only
    patches = sorted(HERE.glob("*.patch"))
    mutants = [read(p) for p in patches if not only or any(part in p.name for part in only)]
    with ThreadPoolExecutor(JOBS) as pool:
        verdicts = list(pool.map(_judged_aloud, mutants))
    survivors = [verdict for verdict in verdicts if not verdict.killed]
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} mutants were killed.")
    constraints = 0 if only else _constraints()
    return 1 if survivors or constraints else 0


def _judged_aloud(mutant: Mutant) -> Verdict:
    verdict = judge(mutant)
    word = "killed" if verdict.killed else "ALIVE "
    print(f"{word} {verdict.seconds:4.0f} s  {mutant.patch.stem:32} {verdict.by}", flush=True)
    return verdict


def _constraints() -> int:
    """Take each constraint and trigger out of the database in turn, in one run of pytest."""
    plugins = ("no:randomly", "no:cacheprovider", "tests.mutants.constraints")
    options = ["-q", *(f"-p{plugin}" for plugin in plugins)]
    environment = {k: v for k, v in os.environ.items() if k not in NEVER_INHERITED}
    command = [sys.executable, "-m", "pytest", *options, *REFUSALS]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
