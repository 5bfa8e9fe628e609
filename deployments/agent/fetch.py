"""One HTTP request with a deadline, a bounded body and no second try: the next look tries."""

from __future__ import annotations

from collections.abc import Mapping

import urllib3

from deployments.agent.answers import Answer
from deployments.agent.cluster import Unreachable
from deployments.agent.unreachable import why

TIMEOUT_SECONDS = 5.0


def fetch(
    pool: urllib3.PoolManager,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    largest: int,
    body: bytes | None = None,
) -> Answer:
    """Return the answer, its body cut at `largest` bytes. Raises Unreachable when there is none."""
    try:
        response = pool.request(
            method,
            url,
            body=body,
            headers=dict(headers),
            timeout=urllib3.Timeout(total=TIMEOUT_SECONDS),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        return _answer(response, largest)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(why(error)) from error


def _answer(response: urllib3.BaseHTTPResponse, largest: int) -> Answer:
    try:
        body = response.read(largest + 1)
    finally:
        response.release_conn()
    return Answer(response.status, body[:largest], response.headers, len(body) <= largest)
