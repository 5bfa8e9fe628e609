"""A cluster is tried before it is kept: what is refused, and with which words."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from deployments import encryption
from deployments.agent import connect as connecting
from deployments.agent import kubeconfig, permissions
from deployments.agent.connect import connect
from deployments.agent.kube import KubeApi
from deployments.agent.kubeconfig import NotUsable
from deployments.agent.manifests import Request
from deployments.agent.remote import create_namespace
from deployments.models import Cluster, ClusterCredential
from deployments.practice.access import Denial
from deployments.practice.cluster import PracticeCluster
from tests.cluster.hands import write
from tests.cluster.target import Target

Agent = Callable[[list[dict[str, object]]], Path]


def changed(source: Path, folder: Path, **user_or_cluster: object) -> Path:
    """Write the same kubeconfig with another server or token."""
    config = yaml.safe_load(source.read_text())
    for plural, key in (("clusters", "cluster"), ("users", "user")):
        for entry in config[plural]:
            found = {k: v for k, v in user_or_cluster.items() if k in entry[key]}
            entry[key].update(found)
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def test_a_cluster_is_known_by_the_uid_of_its_kube_system(on: Target) -> None:
    found = connect(on.kubeconfig, None)

    system = on.api.read(("api", "v1", "namespaces", "kube-system"))
    assert system is not None
    assert found.uid == system["metadata"]["uid"]
    assert found.version.startswith("v1.")
    assert json.loads(found.kubeconfig)["current-context"] == "pilothouse"


def test_a_wrong_token_is_named(on: Target, tmp_path: Path) -> None:
    path = changed(on.kubeconfig, tmp_path, token="wrong")  # noqa: S106 - no one's token

    with pytest.raises(NotUsable, match="401 Unauthorized"):
        connect(path, None)


def test_nobody_at_the_address_is_named(on: Target, tmp_path: Path) -> None:
    path = changed(on.kubeconfig, tmp_path, server="http://127.0.0.1:1")

    with pytest.raises(NotUsable, match=r"gave no usable answer: connection refused\.$"):
        connect(path, None)


def test_a_certificate_that_nobody_vouches_for_is_named(
    real_kubeconfig: Path, tmp_path: Path
) -> None:
    config = yaml.safe_load(real_kubeconfig.read_text())
    config["clusters"][0]["cluster"].pop("certificate-authority-data")
    path = tmp_path / "untrusted.yaml"
    path.write_text(yaml.safe_dump(config))

    with pytest.raises(NotUsable, match="certificate"):
        connect(path, None)


def test_a_kubernetes_before_1_30_is_refused(on: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "OLDEST", (9, 0))

    with pytest.raises(NotUsable, match=r"Kubernetes v1\.[0-9.]+ is too old"):
        connect(on.kubeconfig, None)


@pytest.mark.parametrize(
    ("denied", "named"),
    [
        (Denial("list", "pods"), "list pods"),
        (Denial("patch", "deployments", "apps"), "patch deployments"),
        (Denial("get", "services/proxy"), "get services/proxy"),
        (Denial("list", "nodes"), "list nodes"),
    ],
)
def test_a_right_that_the_agent_lacks_is_named(tmp_path: Path, denied: Denial, named: str) -> None:
    with PracticeCluster(tmp_path) as cluster:
        path = cluster.kubeconfig_for("agent", [denied])

        with pytest.raises(NotUsable) as refusal:
            connect(path, None)

    assert f"403: the agent may not {named};" in str(refusal.value)


def service_account(api: KubeApi, namespace: str, rules: list[dict[str, object]]) -> str:
    """Make a service account with these rights everywhere and return a token of it."""
    rbac = ("apis", "rbac.authorization.k8s.io", "v1")
    accounts = ("api", "v1", "namespaces", namespace, "serviceaccounts")
    group, name = "rbac.authorization.k8s.io", {"metadata": {"name": namespace}}
    write(api, {"metadata": {"name": "agent"}}, *accounts)
    write(api, {**name, "rules": rules}, *rbac, "clusterroles")
    subject = {"kind": "ServiceAccount", "name": "agent", "namespace": namespace}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": namespace}
    write(api, {**name, "roleRef": role, "subjects": [subject]}, *rbac, "clusterrolebindings")
    made = api.send(Request("POST", (*accounts, "agent", "token"), {"spec": {}}))
    return str(json.loads(made.body)["status"]["token"])


@pytest.fixture
def agent_of(real_kubeconfig: Path, tmp_path: Path) -> Iterator[Agent]:
    """Give a function from rights to the kubeconfig of somebody who has them and no others."""
    api = KubeApi(kubeconfig.read(real_kubeconfig, None))
    namespace = f"eyes-{secrets.token_hex(4)}"
    create_namespace(api, namespace)

    def agent(rules: list[dict[str, object]]) -> Path:
        token = service_account(api, namespace, rules)
        return changed(real_kubeconfig, tmp_path, token=token)

    yield agent
    rbac = ("apis", "rbac.authorization.k8s.io", "v1")
    for kind in ("clusterrolebindings", "clusterroles"):
        api.send(Request("DELETE", (*rbac, kind, namespace)))
    api.send(Request("DELETE", ("api", "v1", "namespaces", namespace)))


def rules(*missing: permissions.Permission) -> list[dict[str, object]]:
    """Return the rights that the agent needs, but for these."""
    return [
        {
            "verbs": [right.verb],
            "apiGroups": [right.group],
            "resources": [str(right).partition(" ")[2]],
        }
        for right in permissions.NEEDED
        if right not in missing
    ]


@pytest.mark.real_cluster
def test_the_rights_that_are_named_are_enough(agent_of: Agent) -> None:
    assert connect(agent_of(rules()), None).uid


@pytest.mark.real_cluster
def test_a_real_role_that_lacks_one_right_is_named(agent_of: Agent) -> None:
    lacking = permissions.Permission("get", "", "services", "proxy")

    with pytest.raises(NotUsable, match="403: the agent may not get services/proxy;"):
        connect(agent_of(rules(lacking)), None)


@pytest.mark.django_db
def test_a_cluster_is_added_with_its_credentials_encrypted(practice: Target) -> None:
    out = StringIO()

    call_command("add_cluster", "home", kubeconfig=practice.kubeconfig, stdout=out)

    cluster = Cluster.objects.get(slug="home")
    stored = bytes(ClusterCredential.objects.get(cluster=cluster).ciphertext)
    token = yaml.safe_load(practice.kubeconfig.read_text())["users"][0]["user"]["token"]
    assert out.getvalue() == f"home answers with Kubernetes {cluster.version}.\n"
    assert token in encryption.decrypt(stored)
    assert token.encode() not in stored


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "says"),
    [("Home!", "A cluster's name consists of"), ("other", "known already, as home")],
)
def test_a_cluster_is_refused_with_the_reason(practice: Target, name: str, says: str) -> None:
    call_command("add_cluster", "home", kubeconfig=practice.kubeconfig, stdout=StringIO())

    with pytest.raises(CommandError, match=says):
        call_command("add_cluster", name, kubeconfig=practice.kubeconfig)


@pytest.mark.django_db
def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="does not exist"):
        call_command("add_cluster", "home", kubeconfig=tmp_path / "nowhere")

    assert not Cluster.objects.exists()
