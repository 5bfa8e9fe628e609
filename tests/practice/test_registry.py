"""The registry: manifests by tag and digest, and what it says where there is nothing."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Iterator

import pytest

from deployments.practice import images
from deployments.practice.httpd import PortTaken
from deployments.practice.registry import Registry


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    server = Registry(0)
    server.start()
    yield server
    server.stop()


def ask(registry: Registry, path: str, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=5)
    connection.request(method, path, headers={"Accept": images.MANIFEST_TYPE})
    response = connection.getresponse()
    found = response.status, response.read(), dict(response.getheaders())
    connection.close()
    return found


def test_a_tag_has_the_digest_of_its_manifest(registry: Registry) -> None:
    code, body, headers = ask(registry, "/v2/sample/manifests/1")

    digest = headers["Docker-Content-Digest"]
    assert code == 200
    assert digest == "sha256:" + hashlib.sha256(body).hexdigest()
    assert ask(registry, f"/v2/sample/manifests/{digest}")[1] == body


def test_head_says_the_digest_without_a_body(registry: Registry) -> None:
    code, body, headers = ask(registry, "/v2/sample/manifests/2", "HEAD")

    assert (code, body) == (200, b"")
    assert headers["Docker-Content-Digest"] == images.MANIFESTS["2"].digest
    assert int(headers["Content-Length"]) == len(images.MANIFESTS["2"].body)


def test_every_version_is_another_image() -> None:
    assert len({manifest.digest for manifest in images.MANIFESTS.values()}) == 7


@pytest.mark.parametrize(
    ("path", "code", "detail"),
    [
        ("/v2/sample/manifests/nope", "MANIFEST_UNKNOWN", {"Tag": "nope"}),
        ("/v2/other/manifests/1", "MANIFEST_UNKNOWN", {"Tag": "1"}),
        ("/v2/other/tags/list", "NAME_UNKNOWN", {"name": "other"}),
    ],
)
def test_what_is_not_there_is_named(
    registry: Registry, path: str, code: str, detail: dict[str, str]
) -> None:
    status, body, _ = ask(registry, path)

    error = json.loads(body)["errors"][0]
    assert status == 404
    assert (error["code"], error["detail"]) == (code, detail)


def test_config_and_layer_of_a_manifest_can_be_fetched(registry: Registry) -> None:
    manifest = json.loads(images.MANIFESTS["3"].body)
    digest = manifest["config"]["digest"]

    code, body, _ = ask(registry, f"/v2/sample/blobs/{digest}")

    assert code == 200
    assert len(body) == manifest["config"]["size"]


def test_tags_and_base_answer(registry: Registry) -> None:
    tags = json.loads(ask(registry, "/v2/sample/tags/list")[1])["tags"]

    assert {"1", "2", "3", "4", "5", "6"} <= set(tags)
    assert ask(registry, "/v2/")[0] == 200


@pytest.mark.parametrize("host", ["127.0.0.1:5000", "localhost:1234", "127.0.0.1"])
def test_a_reference_resolves_by_tag_and_by_digest(host: str) -> None:
    digest = images.resolve(f"{host}/sample:1")

    assert digest == images.MANIFESTS["1"].digest
    assert images.resolve(f"{host}/sample@{digest}") == digest


@pytest.mark.parametrize("reference", ["127.0.0.1:5000/sample:9", "docker.io/sample:1", "x"])
def test_other_references_resolve_to_nothing(reference: str) -> None:
    assert images.resolve(reference) is None


def test_a_busy_port_is_named(registry: Registry) -> None:
    with pytest.raises(PortTaken, match=str(registry.port)):
        Registry(registry.port)
