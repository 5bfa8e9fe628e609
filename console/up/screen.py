"""What `make up` prints: a line for each step, and one screen at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TAIL_LINES = 15
WIDTH = 300


def stopwatch() -> Callable[[str], None]:
    """Return a function that prints a line with the seconds since now before it."""
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)

    return say


def tail(log: Path) -> str:
    """Return the end of a log, indented; empty when there is none."""
    if not log.exists():
        return ""
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"    {line[:WIDTH]}" for line in lines)


def welcome(up: Mapping[str, Any], *, var: Path, cluster: Path | None = None) -> str:
    """Return the screen: where it is, who can log in, what to try, how to stop.

    `cluster` is the kubeconfig of one's own cluster, None where only the practice one is there.
    """
    url = up["url"]
    engineer = up["users"].get("engineer", {})
    people = "\n".join(_person(role, user) for role, user in up["users"].items())
    return f"""
  Pilothouse is at {url}

  Log in as
{people}

  Try
    1. Log in as the engineer: the project shop is deployed through the console itself.
    2. Deploy sample:2 of web in staging, and watch it to Healthy.
    3. Deploy sample:nope, and read why it failed and what keeps serving.
    4. The same by its API:
       curl -H "Authorization: Bearer {engineer.get("token", "")}" {url}api/v1/deployments
{_own(cluster)}
  The practice cluster's registry is {up["registry"]}; it has sample:1 to sample:6.
  Addresses, users and tokens for scripts: {var / "up.json"}     Logs: {var / "log"}
  Stop with Ctrl-C or `make down`; what was deployed stays for the next start.
"""


def _own(cluster: Path | None) -> str:
    return (
        f"    5. Deploy in the environment real, on the cluster of {cluster}.\n" if cluster else ""
    )


def _person(role: str, user: Mapping[str, str]) -> str:
    return f"    {role:<14} {user['username']:<14} {user['password']}"
