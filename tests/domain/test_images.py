"""Image references: completed as the specification says, and refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain.errors import Invalid
from deployments.domain.images import complete, parse, repository_problem

DIGEST = "sha256:" + "0a" * 32


@pytest.mark.parametrize(
    ("given", "completed"),
    [
        ("web:4.2", "registry.example/web:4.2"),
        ("shop/web", "registry.example/shop/web:latest"),
        ("docker.io/library/nginx:1", "docker.io/library/nginx:1"),
        ("localhost/web:1", "localhost/web:1"),
        ("127.0.0.1:5000/web:1", "127.0.0.1:5000/web:1"),
        ("host:5000/web", "host:5000/web:latest"),
        ("web:5000", "registry.example/web:5000"),
        (f"ghcr.io/a/b@{DIGEST}", f"ghcr.io/a/b@{DIGEST}"),
        (f"ghcr.io/a/b:1@{DIGEST}", f"ghcr.io/a/b:1@{DIGEST}"),
        (":4.2", "ghcr.io/shop/web:4.2"),
        (f"@{DIGEST}", f"ghcr.io/shop/web@{DIGEST}"),
        ("a_b/c--d/e.f:T_-.9", "registry.example/a_b/c--d/e.f:T_-.9"),
    ],
)
def test_a_reference_is_completed(given: str, completed: str) -> None:
    found = complete(given, repository="ghcr.io/shop/web", default_registry="registry.example")

    assert str(found) == completed
    assert str(parse(str(found), default_registry="")) == completed


def test_without_a_default_registry_it_is_docker_io() -> None:
    assert str(complete("web:1", repository=None, default_registry=None)) == "docker.io/web:1"


def test_what_runs_names_the_digest_and_no_tag() -> None:
    found = complete("ghcr.io/shop/web:4.2", repository=None, default_registry=None)

    assert found.at(DIGEST) == f"ghcr.io/shop/web@{DIGEST}"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "An image is needed"),
        ("   ", "An image is needed"),
        ("a" * 300, "at most 255 characters; this has 300"),
        ("https://ghcr.io/a/b:1", "leave out https://"),
        ("docker://a", "leave out docker://"),
        ("web: 1", "contains spaces"),
        (" web:1", "contains spaces"),
        ("web:1\n", "contains spaces"),
        ("web\x00", "contains spaces"),
        ("WEB:1", "a repository consists of"),
        ("web:", "a tag has"),
        ("web:-1", "a tag has"),
        ("web:" + "t" * 129, "a tag has"),
        ("web@sha256:abc", "a digest is sha256:"),
        ("web@md5:" + "a" * 32, "a digest is sha256:"),
        (f"web@{DIGEST}@{DIGEST}", "a digest is sha256:"),
        ("web:1:2", "no image reference"),
        ("/web:1", "a repository consists of"),
        ("web//x:1", "a repository consists of"),
        ("a/../b:1", "a repository consists of"),
        ("web/:1", "a repository consists of"),
        ("-.example/web:1", "is no registry"),
        ("host:99x/web:1", "is no registry"),
        ("host:0/web:1", "is no registry"),
        ("host:65536/web:1", "is no registry"),
        ("wéb:1", "a repository consists of"),
        ("web__", "a repository consists of"),
    ],
)
def test_what_is_no_reference_is_refused_with_its_own_sentence(given: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        complete(given, repository=None, default_registry="registry.example")

    assert says in str(refused.value)
    assert [problem.pointer for problem in refused.value.problems] == ["/image"]


def test_a_tag_alone_needs_an_image_repository() -> None:
    with pytest.raises(Invalid, match="image repository, which is not set"):
        complete(":4.2", repository=None, default_registry="registry.example")


def test_255_characters_are_enough_and_the_completed_reference_fits_its_column() -> None:
    longest = "a" * (255 - 2) + ":1"

    assert len(str(complete(longest, repository=None, default_registry="r.example"))) <= 400
    with pytest.raises(Invalid, match="more than 400 characters"):
        complete(longest, repository=None, default_registry="r." + "e" * 200)


@given(st.text(max_size=300))
def test_whatever_is_typed_is_completed_or_refused(text: str) -> None:
    try:
        found = complete(text, repository="ghcr.io/shop/web", default_registry="r.example")
    except Invalid:
        return
    assert str(parse(str(found), default_registry="")) == str(found)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("ghcr.io/shop/web", True),
        ("ghcr.io/shop/web:1", False),
        (f"ghcr.io/shop/web@{DIGEST}", False),
        ("", False),
        ("https://ghcr.io/web", False),
    ],
)
def test_an_image_repository_is_a_whole_name(name: str, *, good: bool) -> None:
    assert (repository_problem(name) is None) is good
