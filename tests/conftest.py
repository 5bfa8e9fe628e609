"""What the whole suite shares: databases of its own, a browser, the real cluster, and the clock.

Everything is started when the first test asks for it, and stopped when the run ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, Page, sync_playwright

from console import embedded
from tests.settings import POSTGRES, RUN, RUN_PREFIX, VALKEY, WORKER

NO_CHROMIUM = "need Chromium, and no `chromium` is on the PATH"
NO_CLUSTER = "need a real cluster, and PILOTHOUSE_TEST_KUBECONFIG is not set"
CHROMIUM_ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]

# A busy machine is slow; that says nothing about a rule.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    if not _is_worker(config):
        for left in RUN.parent.glob(f"{RUN_PREFIX}*"):
            _remove_if_its_run_is_over(left)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _is_worker(config):
        _stop_and_remove(RUN)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests run in random order, but one that takes down what its module shares runs last in it."""
    place = {item.path: index for index, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (place[item.path], item.get_closest_marker("last") is not None))


def _remove_if_its_run_is_over(run: Path) -> None:
    """A run that was killed leaves its servers behind; the next one stops them."""
    pid = run.name.removeprefix(RUN_PREFIX).split("-")[0]
    is_ours = run.stat().st_uid == os.getuid()
    if is_ours and pid.isdigit() and not psutil.pid_exists(int(pid)):
        _stop_and_remove(run)


def _stop_and_remove(run: Path) -> None:
    for server in (
        embedded.Postgres(run / "postgres", run / "postgres.log"),
        embedded.Valkey(run / "valkey", run / "valkey.log"),
    ):
        embedded.stop(server)
    shutil.rmtree(run, ignore_errors=True)


def _start_once(server: embedded.Server) -> None:
    """Start a server unless another worker of this run has."""
    RUN.mkdir(mode=0o700, exist_ok=True)
    with (RUN / f"{server.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if server.pid() is None:
            embedded.start(server)


@pytest.fixture(scope="session")
def postgres() -> embedded.Postgres:
    """The PostgreSQL of this run; a test that uses `db` has it already."""
    _start_once(POSTGRES)
    return POSTGRES


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    postgres: embedded.Postgres, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """What pytest-django asks for before it makes the test database: PostgreSQL runs by then."""


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The server is thrown away with all it has; a thread may still hold a connection by then."""
    return True


@pytest.fixture(scope="session")
def _valkey_server() -> str:
    _start_once(VALKEY)
    return f"{VALKEY.url}?db={WORKER}"


@pytest.fixture
def valkey(_valkey_server: str) -> Iterator[redis.Redis]:
    """A client of this worker's own Redis database, which is emptied first."""
    client: redis.Redis = redis.Redis.from_url(_valkey_server)
    client.flushdb()
    yield client
    client.close()


def _missing(reason: str, *, required_by: str) -> None:
    """Skip what cannot run here; where it is required its absence is a failure."""
    if os.environ.get(required_by) == "1":
        pytest.fail(f"{required_by}=1, but these tests {reason}.", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium."""
    found = shutil.which("chromium")
    if found is None:
        _missing(NO_CHROMIUM, required_by="REQUIRE_BROWSER")
    return str(found)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One headless Chromium for the session."""
    # Playwright keeps an event loop in this thread, and Django takes that for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, headless=True, args=[*CHROMIUM_ARGUMENTS, *sandbox]
        )
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh browser window, logged in nowhere."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def real_kubeconfig() -> Path:
    """The kubeconfig of a real cluster that may be filled and emptied."""
    named = os.environ.get("PILOTHOUSE_TEST_KUBECONFIG")
    if not named:
        _missing(NO_CLUSTER, required_by="REQUIRE_CLUSTER")
    return Path(str(named))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line for each what was not run."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason in (NO_CHROMIUM, NO_CLUSTER):
        count = sum(reason in str(report.longrepr) for report in skipped)
        if count:
            terminalreporter.write_line(f"Not run: {count} tests that {reason}.")
