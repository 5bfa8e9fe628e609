"""A kubeconfig that stands alone, and a sentence for each that cannot be used."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.agent import kubeconfig
from deployments.agent.kubeconfig import NotUsable


def config(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    current: str = "live",
    **more: object,
) -> dict[str, Any]:
    return {
        "current-context": current,
        "contexts": [{"name": "live", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://k.example", **(cluster or {})}}],
        "users": [{"name": "u", "user": user if user is not None else {"token": "t0ken"}}],
        **more,
    }


def read(folder: Path, content: object, context: str | None = None) -> dict[str, Any]:
    path = folder / "config.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return kubeconfig.read(path, context)


def test_files_are_taken_inside(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(b"authority")
    (tmp_path / "token").write_text("fresh\n")

    found = read(tmp_path, config({"certificate-authority": "ca.pem"}, {"tokenFile": "token"}))

    assert found["clusters"][0]["cluster"] == {
        "server": "https://k.example",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
    }
    assert found["users"][0]["user"] == {"token": "fresh"}


def test_one_context_is_kept_and_the_others_are_not(tmp_path: Path) -> None:
    whole = config()
    whole["contexts"].append({"name": "other", "context": {"cluster": "d", "user": "u"}})
    whole["clusters"].append({"name": "d", "cluster": {"server": "https://other.example"}})

    found = read(tmp_path, whole, "other")

    assert [c["cluster"]["server"] for c in found["clusters"]] == ["https://other.example"]
    assert (len(found["contexts"]), len(found["users"])) == (1, 1)


@pytest.mark.parametrize(
    ("content", "context", "says"),
    [
        ("just text", None, "is not a kubeconfig"),
        ("{", None, "is not a kubeconfig"),
        ({"clusters": 3}, None, "is not a kubeconfig"),
        (config(), "nowhere", "has no context 'nowhere'; it has: live"),
        (config(current=""), None, "choose one with --context"),
        (config(users=[]), None, "has no user 'u'; it has: none"),
        (config({"server": ""}), None, "no server that begins with https://"),
        (config({"server": "file:///etc"}), None, "no server that begins with https://"),
        (config({"insecure-skip-tls-verify": True}), None, "insecure-skip-tls-verify"),
        (config({"proxy-url": "http://p"}), None, "proxy-url"),
        (config({"certificate-authority": "gone.pem"}), None, "the file gone.pem: no such file"),
        (config(user={"exec": {"command": "aws"}}), None, "from a program (exec)"),
        (config(user={"auth-provider": {"name": "oidc"}}), None, "program (auth-provider)"),
        (config(user={"username": "a", "password": "b"}), None, "user name and password"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_says_why(
    tmp_path: Path, content: object, context: str | None, says: str
) -> None:
    with pytest.raises(NotUsable) as refusal:
        read(tmp_path, content, context)

    assert says in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotUsable, match=r"missing\.yaml does not exist"):
        kubeconfig.read(tmp_path / "missing.yaml", None)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(NotUsable, match="cannot be read: is a directory"):
        kubeconfig.read(tmp_path, None)
