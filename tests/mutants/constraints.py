"""A pytest plugin: every test once for each guard of the database, which is taken out for it.

The guards are those of the models, so a new one is asked for by itself. They are taken out inside
the test's transaction, with every lock of the product in.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

NONE = "nothing"
KILLED: dict[str, str] = {}
GUARDS: dict[str, str] = {}


def _guards() -> dict[str, str]:
    """Return name -> SQL that takes it out, of each constraint and trigger of our tables."""
    from django.apps import apps

    found: dict[str, str] = {}
    for model in apps.get_app_config("deployments").get_models():
        table = model._meta.db_table
        for constraint in model._meta.constraints:
            partial = getattr(constraint, "condition", None) is not None
            index = partial and type(constraint).__name__ == "UniqueConstraint"
            found[constraint.name] = (
                f'DROP INDEX "{constraint.name}"'
                if index
                else f'ALTER TABLE "{table}" DROP CONSTRAINT "{constraint.name}"'
            )
        for trigger in getattr(model._meta, "triggers", ()):
            name = trigger.get_pgid(model)
            found[trigger.name] = f'DROP TRIGGER "{name}" ON "{table}"'
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let each test of what the database refuses run once without each guard."""
    GUARDS.update(GUARDS or _guards())
    metafunc.parametrize("without", [NONE, *GUARDS], indirect=True)


@pytest.fixture(autouse=True)
def without(request: pytest.FixtureRequest, db: None) -> str:
    """Take one guard out until the test is over."""
    from django.db import connection

    name = str(request.param)
    if name in KILLED:
        pytest.skip(f"{name} has been missed already")
    if name != NONE:
        with connection.cursor() as cursor:
            cursor.execute(GUARDS[name])
    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a failure as the death of the guard that was out; it is what is hoped for."""
    report = yield
    name = item.callspec.params.get("without", NONE) if hasattr(item, "callspec") else NONE
    if call.when == "call" and report.failed and name != NONE:
        raised = call.excinfo.exconly() if call.excinfo is not None else ""
        if "DID NOT RAISE" in raised or "AssertionError" in raised or raised.startswith("assert"):
            KILLED.setdefault(name, item.name.split("[")[0])
            report.outcome = "passed"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of each guard which test noticed."""
    for name in GUARDS:
        by = KILLED.get(name)
        word = "killed" if by else "ALIVE "
        terminalreporter.write_line(f"{word}  {name:48} {by or ''}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where a guard is missed by nobody."""
    if set(GUARDS) - set(KILLED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
