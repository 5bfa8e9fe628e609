"""A tag's digest from a registry, and each way in which a registry says no or nothing."""

from __future__ import annotations

import hashlib
import json

import pytest

from deployments.agent import registry
from deployments.agent.registry import RegistryRefused, RegistryUnreachable
from deployments.domain import images
from deployments.domain.images import ImageReference
from tests.agent.conftest import Asked, Reply, Server

DIGEST = f"sha256:{'a' * 64}"
UNKNOWN = json.dumps({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]})


@pytest.fixture
def image(server: Server, settings) -> ImageReference:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = [server.host]
    return images.parse(f"{server.host}/shop/api:4.2", default_registry="")


def test_the_digest_is_in_the_answer_to_head(server: Server, image: ImageReference) -> None:
    server.answer = lambda _: Reply(headers={"Docker-Content-Digest": DIGEST})

    assert registry.resolve(image) == DIGEST

    asked = server.asked[0]
    assert (asked.method, asked.path) == ("HEAD", "/v2/shop/api/manifests/4.2")
    assert "application/vnd.oci.image.index.v1+json" in asked.headers["Accept"]
    assert len(server.asked) == 1


def test_without_the_header_the_manifest_itself_is_hashed(
    server: Server, image: ImageReference
) -> None:
    server.answer = lambda _: Reply(body=b"{}")

    assert registry.resolve(image) == f"sha256:{hashlib.sha256(b'{}').hexdigest()}"


def test_an_unknown_tag_is_refused_in_the_registrys_words(
    server: Server, image: ImageReference
) -> None:
    server.answer = lambda _: Reply(404, UNKNOWN.encode())

    with pytest.raises(RegistryRefused, match=r"^manifest unknown$"):
        registry.resolve(image)


def test_a_refusal_without_words_is_its_status(server: Server, image: ImageReference) -> None:
    server.answer = lambda _: Reply(404, b"<html>")

    with pytest.raises(RegistryRefused, match=r"^404 Not Found$"):
        registry.resolve(image)


def test_a_registry_that_wants_credentials_says_that_none_are_set(
    server: Server, image: ImageReference
) -> None:
    server.answer = lambda _: Reply(401, headers={"WWW-Authenticate": 'Basic realm="x"'})

    with pytest.raises(RegistryRefused) as refusal:
        registry.resolve(image)

    assert str(refusal.value) == (
        "401 Unauthorized, and no credentials are set, so the pull is anonymous"
    )


def test_a_token_is_never_asked_for_in_plain_http(server: Server, image: ImageReference) -> None:
    challenge = f'Bearer realm="{server.url}/token",service="x",scope="y"'
    server.answer = lambda _: Reply(401, headers={"WWW-Authenticate": challenge})

    with pytest.raises(RegistryRefused):
        registry.resolve(image)

    assert all(asked.path.startswith("/v2/") for asked in server.asked)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_error_of_its_own_and_a_rate_limit_are_no_answer(
    server: Server, image: ImageReference, status: int
) -> None:
    server.answer = lambda _: Reply(status)

    with pytest.raises(RegistryUnreachable, match=str(status)):
        registry.resolve(image)


def test_a_registry_may_send_us_on(server: Server, image: ImageReference) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.path.startswith("/v2/"):
            return Reply(307, headers={"Location": "/elsewhere"})
        return Reply(headers={"Docker-Content-Digest": DIGEST})

    server.answer = answer

    assert registry.resolve(image) == DIGEST
    assert [asked.path for asked in server.asked][-1] == "/elsewhere"


def test_a_registry_that_sends_us_round_in_circles_is_refused(
    server: Server, image: ImageReference
) -> None:
    server.answer = lambda asked: Reply(307, headers={"Location": asked.path})

    with pytest.raises(RegistryRefused, match="307"):
        registry.resolve(image)


def test_nobody_there_is_not_a_no(settings) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = ["127.0.0.1:1"]

    with pytest.raises(RegistryUnreachable, match="connection refused"):
        registry.resolve(images.parse("127.0.0.1:1/shop/api:1", default_registry=""))


def test_plain_http_is_spoken_only_with_the_registries_that_are_named(
    server: Server, settings
) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = []

    with pytest.raises(RegistryUnreachable, match="secure connection"):
        registry.resolve(images.parse(f"{server.host}/shop/api:1", default_registry=""))

    assert server.asked == []


def test_what_a_registry_says_is_cleaned(server: Server, image: ImageReference) -> None:
    said = json.dumps({"errors": [{"message": "no\x1b[31m such\n\u202etag"}]})
    server.answer = lambda _: Reply(404, said.encode())

    with pytest.raises(RegistryRefused, match="no such \N{REPLACEMENT CHARACTER}tag"):
        registry.resolve(image)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(302, headers={"Location": "http://["}),
        Reply(401, headers={"WWW-Authenticate": 'Bearer realm="https://["'}),
        Reply(404, b"[" * 100_000),
    ],
)
def test_an_answer_that_nobody_can_read_is_none(
    server: Server, image: ImageReference, reply: Reply
) -> None:
    server.answer = lambda _: reply

    with pytest.raises(RegistryUnreachable, match=r"^an answer that cannot be read$"):
        registry.resolve(image)
