"""The command that fills the demonstration, against a practice cluster of its own."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError, call_command

from deployments.agent import clients, remote
from deployments.models import Cluster, Deployment, Environment, Release, Service, Token, User
from deployments.reads.snapshots import installation

ROOT = Path(__file__).parents[2]


class Practice(NamedTuple):
    """A practice cluster that runs."""

    kubeconfig: Path
    registry: str


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    directory = tmp_path_factory.mktemp("practice")
    command = [sys.executable, "-m", "deployments.practice", "--dir", str(directory)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        words = process.stdout.readline().split()  # it prints one line once it is ready
        yield Practice(
            Path(words[words.index("kubeconfig") + 1]), words[words.index("registry") + 1]
        )
        process.terminate()


def seed(practice: Practice, output: Path, *more: str) -> dict[str, object]:
    call_command(
        "seed_demo",
        f"--output={output}",
        f"--practice={practice.kubeconfig}",
        f"--registry={practice.registry}",
        *more,
    )
    filled: dict[str, object] = json.loads(output.read_text())
    return filled


def rows() -> dict[str, int]:
    tables = (Cluster, Deployment, Environment, Release, Service, Token, User)
    return {table.__name__: table.objects.count() for table in tables}


@pytest.mark.django_db
def test_one_run_fills_everything_and_a_second_changes_nothing(
    practice: Practice, tmp_path: Path
) -> None:
    output = tmp_path / "demo.json"

    first = seed(practice, output)
    after_the_first = rows()
    second = seed(practice, output)

    assert (first, after_the_first) == (second, rows())
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert first["clusters"] == ["practice"]
    assert after_the_first["Deployment"] == 8
    assert {row.namespace for row in Environment.objects.all()} == {
        "shop-staging",
        "shop-production",
    }


@pytest.mark.django_db
def test_its_namespaces_are_made_and_its_images_come_from_its_registry(
    practice: Practice, tmp_path: Path
) -> None:
    seed(practice, tmp_path / "demo.json")

    api = clients.api_of(Cluster.objects.get().pk)
    assert remote.namespace_exists(api, "shop-staging")
    assert remote.namespace_exists(api, "shop-production")
    assert {release.image for release in Release.objects.all()} == {f"{practice.registry}/sample:1"}


@pytest.mark.django_db
def test_another_port_of_the_registry_is_taken_up(practice: Practice, tmp_path: Path) -> None:
    output = tmp_path / "demo.json"
    seed(practice, output)

    seed(practice._replace(registry="127.0.0.1:1"), output)

    assert {row.default_registry for row in Environment.objects.all()} == {"127.0.0.1:1"}


@pytest.mark.django_db
def test_a_cluster_of_ones_own_gets_the_environment_real(
    practice: Practice, tmp_path: Path, settings: object
) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = [practice.registry, "127.0.0.1:5000"]  # type: ignore[attr-defined]

    seed(practice, tmp_path / "demo.json", f"--cluster={practice.kubeconfig}")

    real = Environment.objects.get(slug="real")
    mark = installation()[:6]
    assert real.namespace == f"pilothouse-shop-real-{mark}"
    assert real.default_registry == "127.0.0.1:5000"
    assert Deployment.objects.filter(slot__environment=real).count() == 2


@pytest.mark.django_db
def test_without_a_registry_nothing_is_deployed_to_real(
    practice: Practice, tmp_path: Path, settings: object
) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = []  # type: ignore[attr-defined]

    seed(practice, tmp_path / "demo.json", f"--cluster={practice.kubeconfig}")

    real = Environment.objects.get(slug="real")
    assert real.default_registry == ""
    assert not Deployment.objects.filter(slot__environment=real).exists()


@pytest.mark.django_db
def test_a_kubeconfig_that_does_not_work_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="does not exist"):
        call_command("seed_demo", f"--practice={tmp_path / 'missing'}", "--registry=127.0.0.1:1")
