"""HTTP to a Kubernetes API server: the only importer of `kubernetes`.

The package makes the connection (certificates, tokens); requests are made and read here as plain
JSON, because its models refuse incomplete objects and are slow. What an answer means is `answers`'.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote, urlencode

import urllib3
from kubernetes import config
from kubernetes.client import Configuration

from deployments.agent import answers
from deployments.agent.answers import Answer, Json
from deployments.agent.cluster import Unreachable
from deployments.agent.fetch import fetch
from deployments.agent.manifests import Request

LIST_LIMIT = 500
LARGEST_BODY = 32 * 1024 * 1024
CONNECTIONS = 12
GONE = 410
THIS_MACHINE = "127.0.0.0/8,::1,localhost"
# Names and labels without the rest: what is in somebody's Secret never leaves the cluster.
METADATA_ONLY = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
_FILES = frozenset({"ca_certs", "ca_cert_data", "cert_file", "key_file", "cert_reqs"})
Query = Mapping[str, str] | Sequence[tuple[str, str]]


class KubeApi:
    """One API server, as one person of it. Thread-safe: the pool of connections is."""

    def __init__(self, kubeconfig: Json) -> None:
        configuration = Configuration()
        # As every Kubernetes client does: this machine itself is not behind its proxy.
        configuration.no_proxy = ",".join(filter(None, (configuration.no_proxy, THIS_MACHINE)))
        # The given kubeconfig is all that counts: never KUBECONFIG, never a service account.
        client = config.new_client_from_config_dict(  # type: ignore[no-untyped-call]
            kubeconfig, persist_config=False, client_configuration=configuration
        )
        self._host = client.configuration.host.rstrip("/")
        token = client.configuration.get_api_key_with_prefix("BearerToken")
        self._headers = {"User-Agent": "pilothouse", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = token
        self._pool: urllib3.PoolManager = client.rest_client.pool_manager
        kept = {k: v for k, v in self._pool.connection_pool_kw.items() if k not in _FILES}
        kept |= {"maxsize": CONNECTIONS, "ssl_context": _trust(client.configuration)}
        self._pool.connection_pool_kw = kept

    def send(self, request: Request) -> Answer:
        """Return what the server answered to one call. Raises Unreachable when it did not."""
        body = json.dumps(request.body).encode() if request.body is not None else None
        return self._fetch(
            request.method,
            request.path,
            request.query,
            body=body,
            headers={"Content-Type": request.content_type},
        )

    def get(self, path: Sequence[str], query: Query = ()) -> Answer:
        """Return the answer to a read. Raises Unreachable."""
        return self._fetch("GET", path, query)

    def read(self, path: Sequence[str]) -> Json | None:
        """Return one object, None where there is none. Raises Unreachable."""
        return answers.check_read(self.get(path))

    def read_metadata(self, path: Sequence[str]) -> Json | None:
        """Return the metadata of one object, None where there is none. Raises Unreachable."""
        return answers.check_read(self._fetch("GET", path, (), headers={"Accept": METADATA_ONLY}))

    def objects(self, path: Sequence[str], selector: str = "") -> list[Json]:
        """Return every object of a kind, page by page. Raises Unreachable.

        A list whose continuation has expired is begun again: half of one is no list.
        """
        for _ in range(2):
            found = self._pages(path, selector)
            if found is not None:
                return found
        raise Unreachable("the list changed faster than it could be read")

    def _pages(self, path: Sequence[str], selector: str) -> list[Json] | None:
        query = {"limit": str(LIST_LIMIT), **({"labelSelector": selector} if selector else {})}
        found: list[Json] = []
        while True:
            answer = self.get(path, query)
            if answer.status == GONE:
                return None
            page = answers.check_read(answer)
            if page is None:
                raise Unreachable(f"Kubernetes has no {path[-1]}")
            found += [item for item in page.get("items") or [] if isinstance(item, dict)]
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return found
            query = {**query, "continue": str(following)}

    def _fetch(
        self,
        method: str,
        path: Sequence[str],
        query: Query,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        return fetch(
            self._pool,
            method,
            f"{self._host}{address(path, query)}",
            body=body,
            headers={**self._headers, **(headers or {})},
            largest=LARGEST_BODY,
        )


def _trust(configuration: Configuration) -> ssl.SSLContext:
    """Return whom we trust and who we are, read once.

    The package puts certificates into files of the temporary folder, and a connection that reads
    them anew weeks later may not find them.
    """
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def address(path: Sequence[str], query: Query) -> str:
    """Return path and query of a URL. Raises ValueError for a part that leads somewhere else.

    A part may be encoded already, as a readiness path is.
    """
    if any(unquote(part) in {".", ".."} for part in path):
        raise ValueError(f"{'/'.join(path)!r} leads out of itself")
    whole = "/" + "/".join(quote(part, safe=":%") for part in path)
    return f"{whole}?{urlencode(query)}" if query else whole
