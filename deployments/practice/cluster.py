"""The whole practice cluster in this process: store, world, API server and registry."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from deployments.practice import images, kubeconfig
from deployments.practice.access import ADMINISTRATOR, Denial, Users
from deployments.practice.handlers import Api
from deployments.practice.httpd import LOCALHOST
from deployments.practice.registry import Registry
from deployments.practice.requestlog import NAME as REQUESTS_LOG
from deployments.practice.requestlog import RequestLog
from deployments.practice.server import ApiServer
from deployments.practice.store import Store
from deployments.practice.world import World
from deployments.practice.world.kubelet.images import Image
from deployments.practice.world.samples import sample


class PracticeCluster:
    """Start it, use `kubeconfig_path` and `registry_host`, stop it; a `with` block does both.

    `directory` keeps its state, so that a cluster started there again goes on. Port 0 takes a free
    one. Raises PortTaken, which names the port, and StateInUse.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int = 0,
        registry_port: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.kubeconfig_path = directory / kubeconfig.NAME
        self.requests_path = directory / REQUESTS_LOG
        self.token = kubeconfig.token_in(self.kubeconfig_path)
        self.users = Users(self.token)
        self.registry = Registry(registry_port)
        try:
            self._open(port, clock)
        except Exception:
            self.registry.server_close()
            raise

    def _open(self, port: int, clock: Callable[[], float]) -> None:
        self.store = Store(self.directory / "state", clock=clock)
        self.world = World(self.store, lookup=_image)
        self._log = RequestLog(self.directory)
        self.api = Api(self.store, self.world)
        try:
            self.server = ApiServer(port, self.api, self.users, self._log)
        except Exception:
            self.store.close()
            self._log.close()
            raise

    @property
    def url(self) -> str:
        return f"http://{LOCALHOST}:{self.server.port}"

    @property
    def registry_host(self) -> str:
        """The host of image references: `127.0.0.1:5000`."""
        return f"{LOCALHOST}:{self.registry.port}"

    @property
    def requests(self) -> list[str]:
        """The lines of the request log so far."""
        return self.requests_path.read_text(encoding="utf-8").splitlines()

    def start(self) -> None:
        self.registry.start()
        self.server.start()
        self.world.start()
        content = kubeconfig.config(self.server.port, self.token, user=ADMINISTRATOR)
        kubeconfig.write(self.kubeconfig_path, content)

    def stop(self) -> None:
        """Stop everything and write the state down."""
        self.server.stop()
        self.registry.stop()
        self.world.stop()
        self.store.close()
        self._log.close()

    def kubeconfig_for(self, name: str, denied: Iterable[Denial] = ()) -> Path:
        """Let in another user, who may do everything but this, and return their kubeconfig.

        Until the cluster stops; asked for again, the same name gets a new token.
        """
        token = secrets.token_urlsafe(32)
        self.users.add(token, name, denied)
        path = self.directory / f"kubeconfig-{name}.yaml"
        kubeconfig.write(path, self._config(token, name))
        return path

    def _config(self, token: str, name: str) -> dict[str, Any]:
        return kubeconfig.config(self.server.port, token, user=name)

    def __enter__(self) -> PracticeCluster:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _image(host: str, repository: str, version: str) -> Image | None:
    """Return what kubelet pulls: the registry's digest, with the program of that tag."""
    manifest = images.find(repository, version)
    found = sample(host, repository, manifest.tag) if manifest is not None else None
    if manifest is None or found is None:
        return None
    return replace(found, digest=manifest.digest)
