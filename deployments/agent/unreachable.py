"""Why nobody answered, in words for a person. No address and no credential is in them."""

from __future__ import annotations

import socket
import ssl

import urllib3

_WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, "certificate is not trusted"),
    (ssl.SSLError, "the secure connection could not be made"),
    (socket.gaierror, "its name is not known"),
    (urllib3.exceptions.NameResolutionError, "its name is not known"),
    (urllib3.exceptions.TimeoutError, "timed out"),
    (TimeoutError, "timed out"),
    (ConnectionRefusedError, "connection refused"),
    (ConnectionError, "connection was broken"),
    (urllib3.exceptions.ProtocolError, "connection was broken"),
)


def why(error: BaseException) -> str:
    """Return the reason, taken from the innermost error that says one."""
    chain = [error]
    while (inner := _inner(chain[-1])) is not None and inner not in chain:
        chain.append(inner)
    for link in reversed(chain):
        said = _certificate(link) or next(
            (word for kind, word in _WORDS if isinstance(link, kind)), ""
        )
        if said:
            return said
    return "no answer"


def _inner(error: BaseException) -> BaseException | None:
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):
        return reason
    inside = [arg for arg in error.args if isinstance(arg, BaseException)]
    return inside[0] if inside else error.__cause__ or error.__context__


def _certificate(error: BaseException) -> str:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return ""
    return f"certificate: {error.verify_message}" if error.verify_message else ""
