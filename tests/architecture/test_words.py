"""What no file of the project may hold: machine paths, hosts of registries, inline scripts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Written in parts: this file is read as well.
FORBIDDEN = [
    re.compile("py" + r"pi\.org|pythonhosted\.org|npm" + r"js\.(org|com)|cra" + r"tes\.io"),
    re.compile("/wo" + r"rk/|/opt/whe" + r"els|/tm" + r"p/w/"),
    re.compile(r"\b(TO" + "DO|FIX" + r"ME|XX" + r"X)\b"),
]
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|\bhx-on|javascript:")
TEXT = {".py", ".md", ".toml", ".txt", ".html", ".css", ".js", ".json", ".yaml", ".yml", ""}


def project_files() -> list[Path]:
    """Every text file that is in version control or will be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.suffix in TEXT and path.is_file()]


@pytest.mark.parametrize("pattern", FORBIDDEN, ids=lambda pattern: pattern.pattern[:12])
def test_no_file_holds_a_forbidden_word(pattern: re.Pattern[str]) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in project_files()
        if (match := pattern.search(path.read_text(errors="replace")))
    }

    assert found == set()


def test_no_template_has_a_script_or_a_style_inside() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        if (match := INLINE.search(path.read_text()))
    }

    assert found == set()


def test_no_template_loads_anything_from_another_host() -> None:
    loads = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["'](?:https?:)?//""")
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*.html")
        if loads.search(path.read_text())
    }

    assert found == set()
