"""A tag's digest, asked of its registry through the OCI distribution API. Anonymous for now.

https everywhere, but for the registries that PILOTHOUSE_INSECURE_REGISTRIES names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from urllib.parse import urlencode, urljoin, urlsplit

import urllib3
from django.conf import settings

from deployments.agent.answers import Answer
from deployments.agent.cluster import Unreachable
from deployments.agent.fetch import fetch
from deployments.domain.images import FALLBACK_TAG, ImageReference
from deployments.domain.text import one_line

LARGEST_MANIFEST = 4 * 1024 * 1024
LONGEST_ANSWER = 200
DOCKER_HUB = "docker.io"
DOCKER_HUB_API = "registry-1.docker.io"
ACCEPT = (
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json,"
    " application/vnd.docker.distribution.manifest.list.v2+json,"
    " application/vnd.docker.distribution.manifest.v2+json"
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CHALLENGE = re.compile(r'([a-z]{1,20})="([^"]{0,500})"')
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3
OK, UNAUTHORIZED, TOO_MANY, SERVER_ERROR = 200, 401, 429, 500


class RegistryRefused(Exception):
    """The registry answered no. The text quotes it."""


class RegistryUnreachable(Exception):
    """The registry did not answer, or with an error of its own. The text says how."""


def resolve(image: ImageReference) -> str:
    """Return what a tag stands for now. Raises RegistryRefused or RegistryUnreachable."""
    try:
        return _resolve(image)
    except (ValueError, RecursionError) as error:
        # An address or a text that nobody can read is an answer too: else the look would break on
        # it each time, and the deployment would stay pending without a word.
        raise RegistryUnreachable("an answer that cannot be read") from error


def _resolve(image: ImageReference) -> str:
    head = _fetch("HEAD", image, {})
    if head.status != UNAUTHORIZED:
        return _digest(head, image, {})
    token = _anonymous_token(head.headers.get("WWW-Authenticate", ""))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return _digest(_fetch("HEAD", image, headers), image, headers)


def _digest(head: Answer, image: ImageReference, headers: Mapping[str, str]) -> str:
    said = head.headers.get("Docker-Content-Digest", "")
    if head.status == OK and _DIGEST.fullmatch(said):
        return said
    whole = _fetch("GET", image, headers)
    if whole.status != OK:
        raise _refusal(whole)
    if not whole.whole:
        raise RegistryRefused("the manifest is larger than 4 MiB")
    return f"sha256:{hashlib.sha256(whole.body).hexdigest()}"


def _refusal(answer: Answer) -> Exception:
    words = _words(answer)
    if answer.status == TOO_MANY or answer.status >= SERVER_ERROR:
        return RegistryUnreachable(words)
    if answer.status in {UNAUTHORIZED, 403}:
        words += ", and no credentials are set, so the pull is anonymous"
    return RegistryRefused(words)


def _words(answer: Answer) -> str:
    """Return the registry's own sentence beside its status."""
    try:
        errors = json.loads(answer.body)["errors"]
        said = str(errors[0].get("message") or errors[0].get("code") or "")
    except (ValueError, LookupError, TypeError, AttributeError):
        said = ""
    return one_line(said, LONGEST_ANSWER) or f"{answer.status} {_reason(answer.status)}".strip()


def _reason(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else ""


def _fetch(method: str, image: ImageReference, headers: Mapping[str, str]) -> Answer:
    url = f"{_base(image)}/manifests/{image.digest or image.tag or FALLBACK_TAG}"
    answer = _request(method, url, {"Accept": ACCEPT, **headers})
    for _ in range(MOST_REDIRECTS):
        if answer.status not in REDIRECTS:
            break
        # Elsewhere without the token: it was given for this registry alone.
        url = _redirected(url, answer)
        answer = _request(method, url, {"Accept": ACCEPT})
    return answer


def _redirected(url: str, answer: Answer) -> str:
    """Return where a registry sends us on, by https only unless it is plain itself."""
    following = urljoin(url, answer.headers.get("Location", ""))
    if urlsplit(following).scheme not in {"https", urlsplit(url).scheme}:
        raise RegistryRefused(f"{answer.status} leads to plain http")
    return following


def _base(image: ImageReference) -> str:
    registry, repository = image.registry, image.repository
    if registry == DOCKER_HUB:
        registry = DOCKER_HUB_API
        repository = repository if "/" in repository else f"library/{repository}"
    scheme = "http" if image.registry in settings.PILOTHOUSE_INSECURE_REGISTRIES else "https"
    return f"{scheme}://{registry}/v2/{repository}"


def _anonymous_token(challenge: str) -> str:
    """Return the token that a registry gives to anybody; empty where it gives none."""
    asked = dict(_CHALLENGE.findall(challenge[:2000]))
    realm = asked.pop("realm", "")
    if not challenge.lower().startswith("bearer ") or urlsplit(realm).scheme != "https":
        return ""
    answer = _request("GET", f"{realm}?{urlencode(asked)}", {})
    try:
        body = json.loads(answer.body)
        return str(body.get("token") or body.get("access_token") or "")
    except (ValueError, AttributeError):
        return ""


def _request(method: str, url: str, headers: Mapping[str, str]) -> Answer:
    try:
        return fetch(_pool(), method, url, headers=headers, largest=LARGEST_MANIFEST)
    except Unreachable as silence:
        raise RegistryUnreachable(str(silence)) from silence


@cache
def _pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(num_pools=8, maxsize=4)
