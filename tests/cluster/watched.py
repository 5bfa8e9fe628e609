"""Services whose versions are followed side by side, with what is seen of them from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from deployments.actions import stop
from deployments.domain import names
from deployments.domain.observations import ObjectKind
from deployments.domain.settings import Settings
from deployments.models import Deployment, Slot
from deployments.reads.clock import database_now
from tests.cluster.product import WEB, Json, Product, state_of

NAME = "app.kubernetes.io/name"


@dataclass
class Walk:
    """One service whose second version takes over and leaves again, and what was seen of it."""

    product: Product
    slot: Slot
    second: Deployment | None = None
    seen: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def service(self) -> str:
        return self.slot.service.slug

    @property
    def row(self) -> Deployment:
        assert self.second is not None
        return Deployment.objects.get(pk=self.second.pk)

    def change(self, variables: dict[str, str], **process: object) -> None:
        """Change what the next version is to be like."""
        changed = replace(WEB, **process)  # type: ignore[arg-type]
        self.slot.settings = Settings((changed,)).to_json()
        self.slot.save(update_fields=["settings"])
        self.slot.variables.all().delete()
        for key, value in variables.items():
            self.slot.variables.create(key=key, value=value)

    def pods(self, release: int) -> list[Json]:
        """Return the service's pods of a release that do not stop yet."""
        found = self.product.pods(release)
        mine = [pod for pod in found if pod["metadata"]["labels"][NAME] == self.service]
        return [pod for pod in mine if "deletionTimestamp" not in pod["metadata"]]

    def note(self) -> None:
        """Note where the Service leads, and whether the second version still runs."""
        self.seen.append((self.product.serves(self.service), bool(self.pods(2))))

    def replicas(self, release: int) -> int:
        name = names.workload_name(self.service, "web", release)
        return int(self.product.get(ObjectKind.DEPLOYMENT, name)["spec"]["replicas"])

    def cancel(self) -> None:
        """Click Cancel."""
        now, by = database_now(), self.product.user
        stop.cancel(self.row.pk, reason="it is wrong", by=by, now=now)


def walk(product: Product, service: str, variables: dict[str, str], **process: object) -> Walk:
    """Make a service that was never deployed."""
    made = Walk(product, product.slot(service=service))
    made.change(variables, **process)
    return made


def serve(walks: list[Walk]) -> None:
    """Let the first versions become healthy, side by side."""
    for deployment in [walk.product.deploy(walk.slot) for walk in walks]:
        assert walks[0].product.ended(deployment).state == "healthy"


def deploy(walks: Iterable[Walk]) -> None:
    """Deploy the second versions."""
    for walk in walks:
        walk.second = walk.product.deploy(walk.slot, "sample:2")


def until(walks: list[Walk], holds: Callable[[Walk], object]) -> None:
    """Look until something has held for every walk; each is looked at from outside between."""
    waiting = list(walks)

    def all_held() -> bool:
        for walk in walks:
            walk.note()
        waiting[:] = [walk for walk in waiting if not holds(walk)]
        return not waiting

    walks[0].product.until(all_held)


def drains(walk: Walk) -> bool:
    """Whether the second version has taken over."""
    return state_of(walk.row) == "draining"


def ran_while_it_had_traffic(walk: Walk) -> bool:
    """Whether the second version's pods ran for as long as the Service led there."""
    return all(runs for serves, runs in walk.seen if serves == "r-2")
