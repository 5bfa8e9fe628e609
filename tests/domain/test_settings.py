"""The settings of an app service: what is taken, what is refused and with which sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain import limits
from deployments.domain.errors import Invalid
from deployments.domain.releases import Config, ProcessKind
from deployments.domain.settings import Settings, default_settings, parse, to_config

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

WHOLE: dict[str, Any] = {
    "processes": [
        {
            "name": "http",
            "kind": "http",
            "primary": True,
            "command": ["serve"],
            "port": 8080,
            "replicas": 2,
            "cpu_request": "100m",
            "cpu_limit": None,
            "memory_request": "64Mi",
            "memory_limit": "128Mi",
            "readiness_path": None,
            "stabilization_seconds": 10,
            "drain_seconds": 30,
            "stop_seconds": 30,
            "schedule": None,
            "restricted": False,
        }
    ],
    "release_command": {"command": ["run"], "timeout_seconds": 600},
    "volumes": [],
    "deploy_after": [],
    "image_repository": None,
}


def http(**fields: object) -> dict[str, Any]:
    return {"name": "http", "kind": "http", "port": 8080, **fields}


def with_processes(*processes: object) -> dict[str, Any]:
    return {"processes": list(processes)}


def problems(document: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        parse(document)
    return [(problem.pointer, problem.detail) for problem in caught.value.problems]


def test_the_whole_document_is_read_and_written_back_unchanged() -> None:
    settings = parse(WHOLE)

    assert settings.to_json() == WHOLE
    assert list(settings.to_json()["processes"][0]) == list(WHOLE["processes"][0])


def test_a_new_service_has_one_http_process_on_port_8080() -> None:
    settings = parse(default_settings())

    [process] = settings.processes
    assert (process.name, process.kind, process.port) == ("http", ProcessKind.HTTP, 8080)
    assert (process.replicas, process.primary) == (1, True)
    assert settings.to_json() == default_settings()


def test_what_is_left_out_has_the_default_of_the_manual() -> None:
    [process] = parse(with_processes(http())).processes

    assert (process.stabilization_seconds, process.drain_seconds, process.stop_seconds) == (
        10,
        30,
        30,
    )
    assert (process.replicas, process.readiness_path, process.restricted) == (1, None, False)


@pytest.mark.parametrize(
    ("field", "lowest", "highest"),
    [
        ("stabilization_seconds", 0, 240),
        ("drain_seconds", 0, 900),
        ("stop_seconds", 0, 600),
        ("replicas", 1, 100),
        ("port", 1, 65535),
    ],
)
def test_a_number_of_a_process_is_taken_up_to_its_ends_and_not_beyond(
    field: str, lowest: int, highest: int
) -> None:
    for allowed in (lowest, highest):
        assert getattr(parse(with_processes(http(**{field: allowed}))).processes[0], field) == (
            allowed
        )
    for beyond in (lowest - 1, highest + 1):
        assert problems(with_processes(http(**{field: beyond}))) == [
            (
                f"/processes/0/{field}",
                f"{field} of http is a whole number from {lowest} to {highest}; this is {beyond}.",
            )
        ]


@pytest.mark.parametrize("wrong", ["10", 1.0, True, [], {}, float("nan")])
def test_a_number_that_is_no_whole_number_is_refused(wrong: object) -> None:
    assert [pointer for pointer, _ in problems(with_processes(http(replicas=wrong)))] == [
        "/processes/0/replicas"
    ]


@pytest.mark.parametrize(("seconds", "taken"), [(1, True), (1800, True), (0, False), (1801, False)])
def test_a_release_command_may_run_for_30_minutes_at_most(seconds: int, taken: bool) -> None:
    document = WHOLE | {"release_command": {"command": ["run"], "timeout_seconds": seconds}}

    if taken:
        command = parse(document).release_command
        assert command is not None
        assert command.timeout_seconds == seconds
    else:
        assert problems(document)[0][0] == "/release_command/timeout_seconds"


def test_every_problem_is_named_at_once_each_with_its_pointer() -> None:
    document = {
        "processes": [
            {"name": "Web", "kind": "http", "replicas": 0, "colour": "red"},
            {"name": "worker", "kind": "daemon", "command": "run"},
            {"name": "nightly", "kind": "cron", "schedule": "every day", "port": 80},
        ],
        "release_command": {"timeout_seconds": 4000},
        "image_repository": "shop/api",
        "surprise": 1,
    }

    assert sorted(pointer for pointer, _ in problems(document)) == [
        "/image_repository",
        "/processes/0/colour",
        "/processes/0/name",
        "/processes/0/port",
        "/processes/0/replicas",
        "/processes/1/command",
        "/processes/1/kind",
        "/processes/2/port",
        "/processes/2/schedule",
        "/release_command/command",
        "/release_command/timeout_seconds",
        "/surprise",
    ]


@pytest.mark.parametrize(
    ("process", "field", "sentence"),
    [
        pytest.param(
            {"name": "http", "kind": "http"},
            "port",
            "http is an http process and needs a port.",
            id="http without a port",
        ),
        pytest.param(
            {"name": "nightly", "kind": "cron", "schedule": "0 4 * * *", "port": 80},
            "port",
            "nightly is a cron process and has no port.",
            id="cron with a port",
        ),
        pytest.param(
            {"name": "seed", "kind": "job", "port": 80},
            "port",
            "seed is a job process and has no port.",
            id="job with a port",
        ),
        pytest.param(
            {"name": "nightly", "kind": "cron"},
            "schedule",
            "nightly is a cron process and needs a schedule, such as 30 4 * * *.",
            id="cron without a schedule",
        ),
        pytest.param(
            {"name": "worker", "kind": "worker", "schedule": "0 4 * * *"},
            "schedule",
            "worker is a worker process; only cron has a schedule.",
            id="worker with a schedule",
        ),
        pytest.param(
            {"name": "seed", "kind": "job", "primary": True},
            "primary",
            "seed is a job process and cannot be primary: only http and worker processes can.",
            id="a job as primary",
        ),
        pytest.param(
            {"name": "nightly", "kind": "cron", "schedule": "0 4 * * *", "replicas": 2},
            "replicas",
            "nightly is a cron process and runs once at a time: its replicas are 1.",
            id="two of a cron",
        ),
        pytest.param(
            {"name": "worker", "kind": "worker", "readiness_path": "/"},
            "readiness_path",
            "worker is a worker process; only http has a readiness path.",
            id="worker with a readiness path",
        ),
        pytest.param(
            {"name": "release", "kind": "worker"},
            "name",
            "A process is not called release: that is the release command's name.",
            id="the release command's name",
        ),
        pytest.param(
            {"name": "elevenchars", "kind": "worker"},
            "name",
            "A process's name has 1 to 10 characters; this has 11.",
            id="a long name",
        ),
        pytest.param(
            {"name": "w", "kind": "database"},
            "kind",
            "kind of w is one of http, worker, cron, job; this is 'database'.",
            id="a kind that there is not",
        ),
        pytest.param(
            {"name": "w", "kind": "worker", "command": ["run", "${{ db.URL }}"]},
            "command",
            "References such as ${{ service.KEY }} come with a later version;"
            " write the value itself.",
            id="a reference in a command",
        ),
        pytest.param(
            {"name": "w", "kind": "worker", "cpu_request": "2", "cpu_limit": "1500m"},
            "cpu_request",
            "cpu_request of w, 2, is above its limit, 1500m.",
            id="a request above its limit",
        ),
        pytest.param(
            {"name": "w", "kind": "worker", "memory_limit": "64MB"},
            "memory_limit",
            "memory_limit of w is a quantity such as 128Mi or 1Gi; this is '64MB'.",
            id="no quantity",
        ),
        pytest.param(
            {"name": "w", "kind": "worker", "memory_request": "128m"},
            "memory_request",
            "memory_request of w is in thousandths of a byte with m; write 128Mi or 1Gi.",
            id="memory in thousandths",
        ),
        pytest.param(
            {"name": "w", "kind": "worker", "cpu_request": "64Mi"},
            "cpu_request",
            "cpu_request of w is more than any machine has; write 100m or 1.5.",
            id="memory as cpu",
        ),
    ],
)
def test_a_process_against_a_rule_is_refused_in_one_sentence(
    process: dict[str, Any], field: str, sentence: str
) -> None:
    assert problems(with_processes(process)) == [(f"/processes/0/{field}", sentence)]


def test_a_worker_may_have_a_port_and_may_have_none() -> None:
    with_port = {"name": "tcp", "kind": "worker", "port": 5000, "primary": True}

    settings = parse(with_processes(with_port, {"name": "queue", "kind": "worker"}))

    assert [process.port for process in settings.processes] == [5000, None]


def test_the_only_long_running_process_is_primary_by_itself() -> None:
    settings = parse(with_processes({"name": "seed", "kind": "job"}, http(primary=False)))

    assert [process.primary for process in settings.processes] == [False, True]


def test_a_service_of_jobs_alone_has_no_primary_process() -> None:
    settings = parse(with_processes({"name": "seed", "kind": "job"}))

    assert to_config(settings, {}, {}).primary is None


def test_of_two_long_running_processes_one_has_to_be_primary() -> None:
    worker = {"name": "worker", "kind": "worker"}

    assert problems(with_processes(http(), worker)) == [
        ("/processes", "One of http, worker has to be primary; none is.")
    ]


def test_two_primary_processes_are_refused() -> None:
    worker = {"name": "worker", "kind": "worker", "primary": True}

    assert problems(with_processes(http(primary=True), worker)) == [
        ("/processes", "Only one process is primary; these are: http, worker.")
    ]


def test_two_processes_of_one_name_are_refused() -> None:
    assert ("/processes", "Two processes are called 'http'.") in problems(
        with_processes(http(primary=True), http())
    )


@pytest.mark.parametrize(("count", "taken"), [(0, False), (1, True), (10, True), (11, False)])
def test_a_service_has_one_to_ten_processes(count: int, taken: bool) -> None:
    jobs = [{"name": f"job{number}", "kind": "job"} for number in range(count)]

    if taken:
        assert len(parse(with_processes(*jobs)).processes) == count
    else:
        assert problems(with_processes(*jobs))[0][0] == "/processes"


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        (["a"] * 64, True),
        (["a"] * 65, False),
        (["a" * 4096], True),
        (["a" * 4097], False),
        (["ü" * 2049], False),
        (["a\0b"], False),
        (["\ud800"], False),
        (["a", 1], False),
        ("serve", False),
        (None, False),
    ],
)
def test_a_command_is_a_short_list_of_texts(command: object, taken: bool) -> None:
    document = with_processes(http(command=command))

    if taken:
        assert list(parse(document).processes[0].command) == command
    else:
        assert [pointer for pointer, _ in problems(document)] == ["/processes/0/command"]


@pytest.mark.parametrize(
    "path",
    ["/", "/healthz", "/a/b?full=1", "/a%20b", "/" + "a" * 254],
)
def test_a_path_on_the_service_itself_is_a_readiness_path(path: str) -> None:
    assert parse(with_processes(http(readiness_path=path))).processes[0].readiness_path == path


@pytest.mark.parametrize(
    "path",
    [
        "healthz",
        "//evil",
        "/\\evil",
        "http://evil/",
        "/http://evil",
        "/a@b",
        "/a b",
        "/a\n",
        "/a\0",
        "/%0d%0aHost:evil",
        "/%250aevil",
        "/..",
        "/a/../b",
        "/%2e%2e/secrets",
        "/..%2fsecrets",
        "/%252e%252e/secrets",
        "/a#b",
        "/ä",
        "/" + "a" * 255,
        "/" + "a" * 10_000,
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(path: str) -> None:
    assert [pointer for pointer, _ in problems(with_processes(http(readiness_path=path)))] == [
        "/processes/0/readiness_path"
    ]


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "0 4 * * *",
        "*/15 0-6,22 1 jan-MAR mon,5",
        "59 23 31 12 6",
        "5/10 * ? * ?",
        "0-30/5 * * * *",
    ],
)
def test_five_fields_are_a_schedule(schedule: str) -> None:
    cron = {"name": "nightly", "kind": "cron", "schedule": schedule}

    assert parse(with_processes(cron)).processes[0].schedule == schedule


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * *",
        "* * * * * *",
        "*  * * * *",
        " * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * 0 *",
        "* * * * 7",
        "*/0 * * * *",
        "30-10 * * * *",
        "1,,2 * * * *",
        "mon * * * *",
        "-1 * * * *",
        "@daily",
        "* * * * *\n",
        "٣ * * * *",
        "*," * 60 + "* * * * *",
    ],
)
def test_anything_else_is_no_schedule(schedule: str) -> None:
    cron = {"name": "nightly", "kind": "cron", "schedule": schedule}

    assert [pointer for pointer, _ in problems(with_processes(cron))] == ["/processes/0/schedule"]


def test_what_is_not_there_yet_is_refused_in_its_own_sentence() -> None:
    volume = {"name": "data", "mount_path": "/data", "size": "1Gi"}

    assert problems(WHOLE | {"volumes": [volume], "deploy_after": ["api"]}) == [
        (
            "/volumes",
            "Volumes come with a later version; until then a service keeps no data of its own.",
        ),
        (
            "/deploy_after",
            (
                "Deploy after comes with a later version;"
                " until then deploy the services in their order."
            ),
        ),
    ]


@pytest.mark.parametrize("repository", ["registry.example/shop/api", "127.0.0.1:5000/sample"])
def test_an_image_repository_is_a_whole_name(repository: str) -> None:
    assert parse(WHOLE | {"image_repository": repository}).image_repository == repository


@pytest.mark.parametrize("repository", ["shop/api", "registry.example/shop/api:1", "a b", "x://y"])
def test_half_a_name_is_no_image_repository(repository: str) -> None:
    assert problems(WHOLE | {"image_repository": repository})[0][0] == "/image_repository"


def test_the_frozen_configuration_holds_the_settings_and_the_variables() -> None:
    config = to_config(parse(WHOLE), {"MODE": "fast"}, {"KEY": "hash"})

    assert Config.from_json(config.to_json()) == config
    assert (config.variables, config.secret_hashes) == ({"MODE": "fast"}, {"KEY": "hash"})
    assert config.primary is not None


def settings_or_problems(document: object) -> Settings | Invalid:
    try:
        return parse(document)
    except Invalid as invalid:
        return invalid


@given(JSON)
def test_no_document_does_anything_but_be_read_or_be_refused(document: object) -> None:
    outcome = settings_or_problems(document)

    if isinstance(outcome, Invalid):
        assert all(problem.detail.endswith(".") for problem in outcome.problems)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(WHOLE["processes"][0], JSON),
            "name": st.sampled_from(["http", "web"]) | JSON,
            "kind": st.sampled_from(["http", "worker", "cron", "job"]) | JSON,
        },
    )
)
def test_what_is_taken_reads_the_same_again(process: dict[str, Any]) -> None:
    outcome = settings_or_problems(with_processes(process))

    if isinstance(outcome, Invalid):
        assert all(problem.pointer.startswith("/processes") for problem in outcome.problems)
    else:
        assert parse(outcome.to_json()) == outcome
        assert outcome.processes[0].replicas in limits.REPLICAS
