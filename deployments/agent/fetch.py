"""One HTTP request with a deadline, a bounded body and no second try: the next look tries."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

import urllib3

from deployments.agent.answers import Answer
from deployments.agent.cluster import TimedOut, Unreachable
from deployments.agent.unreachable import why

TIMEOUT_SECONDS = 5.0
_CHUNK = 64 * 1024


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
    ends = monotonic() + TIMEOUT_SECONDS
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
        return _answer(response, largest, ends)
    except urllib3.exceptions.ReadTimeoutError as error:
        raise TimedOut(why(error)) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(why(error)) from error


def _answer(response: urllib3.BaseHTTPResponse, largest: int, ends: float) -> Answer:
    """Read a body. One that is too long or too slow costs its connection: the rest of it would be
    taken for the answer to the next request."""
    body = bytearray()
    for chunk in response.stream(_CHUNK):
        body += chunk
        if len(body) > largest or monotonic() > ends:
            response.close()
            break
    else:
        response.release_conn()
        return Answer(response.status, bytes(body), response.headers)
    if len(body) <= largest:
        raise TimedOut("timed out")
    return Answer(response.status, bytes(body[:largest]), response.headers, whole=False)
