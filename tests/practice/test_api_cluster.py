"""The whole practice cluster: started, used, stopped and started again, in and out of process."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deployments.practice.access import Denial
from deployments.practice.cluster import PracticeCluster
from deployments.practice.httpd import PortTaken

READY_WITHIN = 20.0


def token_of(path: Path) -> str:
    return str(json.loads(path.read_text())["users"][0]["user"]["token"])


def test_a_restart_keeps_objects_and_token(tmp_path: Path) -> None:
    with PracticeCluster(tmp_path) as first:
        first.store.create("configmaps", {"metadata": {"name": "a", "namespace": "default"}})
        token = token_of(first.kubeconfig_path)

    with PracticeCluster(tmp_path) as second:
        names = [obj["metadata"]["name"] for obj in second.store.list("configmaps", "default")]
        again = token_of(second.kubeconfig_path)

    assert "a" in names
    assert again == token


def test_the_kubeconfig_is_for_its_owner_alone(tmp_path: Path) -> None:
    with PracticeCluster(tmp_path) as cluster:
        found = json.loads(cluster.kubeconfig_path.read_text())
        mode = stat.S_IMODE(cluster.kubeconfig_path.stat().st_mode)

    assert found["clusters"][0]["cluster"]["server"] == cluster.url
    assert mode == 0o600


def test_another_user_gets_a_kubeconfig_with_less(tmp_path: Path) -> None:
    with PracticeCluster(tmp_path) as cluster:
        path = cluster.kubeconfig_for("limited", [Denial("*", "secrets")])
        user = cluster.users.authenticate(f"Bearer {token_of(path)}")

    assert user.name == "limited"
    assert not user.may("get", "", "secrets", "default")
    assert user.may("get", "", "pods", "default")


def test_a_busy_port_is_named_and_the_folder_stays_free(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(PortTaken, match=str(port)):
            PracticeCluster(tmp_path, port=port)

    with PracticeCluster(tmp_path) as cluster:
        assert cluster.server.port > 0


def start(tmp_path: Path, *more: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "deployments.practice", "--dir", str(tmp_path), *more]
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def test_the_command_says_when_it_is_ready_and_stops_cleanly(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=READY_WITHIN)

    assert line.startswith("practice cluster ready: http://127.0.0.1:")
    assert code == 0


def test_the_command_names_a_busy_port(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with start(tmp_path, "--port", str(port)) as process:
            _, said = process.communicate(timeout=READY_WITHIN)

    assert process.returncode == 1
    assert f"port {port} on 127.0.0.1 cannot be used" in said


def test_a_deployment_gets_its_pods(tmp_path: Path) -> None:
    """One look at both halves together; what the world does is tested in its own files."""
    with PracticeCluster(tmp_path) as cluster:
        container = {"name": "web", "image": f"{cluster.registry_host}/sample:1"}
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        metadata = {"name": "web", "namespace": "default"}
        cluster.store.create("deployments", {"metadata": metadata, "spec": spec})

        deadline = time.monotonic() + READY_WITHIN
        ready = 0
        while not ready and time.monotonic() < deadline:
            cluster.store.wait(cluster.store.revision, 0.5)
            found = cluster.store.get("deployments", "default", "web")
            ready = found["status"].get("readyReplicas", 0)

    assert ready == 1
