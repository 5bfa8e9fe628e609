"""The arrows between the modules, and the purity of the rules."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = ROOT / "deployments" / "domain"
PRACTICE = ROOT / "deployments" / "practice"
OURS = ("console", "approvals", "deployments")


def python_files(*directories: Path) -> list[Path]:
    return sorted(path for directory in directories for path in directory.rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    """Yield the dotted name of every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_import_contracts_are_kept() -> None:
    linter = Path(sys.executable).with_name("lint-imports")

    ran = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("path", python_files(DOMAIN), ids=lambda path: path.name)
def test_a_rule_imports_the_standard_library_and_other_rules_alone(path: Path) -> None:
    foreign = {
        name
        for name in imports_of(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith("deployments.domain")
    }

    assert foreign == set()


def test_the_practice_cluster_imports_nothing_of_the_product() -> None:
    ours = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files(PRACTICE)
        for name in imports_of(path)
        if name.startswith(OURS) and not name.startswith("deployments.practice")
    }

    assert ours == set()


def test_nothing_of_the_product_imports_the_practice_cluster() -> None:
    others = set(python_files(ROOT / "console", ROOT / "deployments")) - set(python_files(PRACTICE))

    importers = {
        str(path.relative_to(ROOT))
        for path in others
        for name in imports_of(path)
        if name.startswith("deployments.practice")
    }

    assert importers == set()


def test_only_the_agents_client_imports_kubernetes() -> None:
    importers = {
        str(path.relative_to(ROOT))
        for path in python_files(ROOT / "console", ROOT / "deployments")
        for name in imports_of(path)
        if name.split(".")[0] == "kubernetes"
    }

    assert importers <= {"deployments/agent/kube.py"}
