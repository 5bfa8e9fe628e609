"""What two do to one deployment at the same moment, in every order of their steps.

Whoever loses is told in a sentence, the events tell what the row says, and no invariant breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from deployments.actions import events, explain, locks
from deployments.actions.move import move
from deployments.actions.start import Started, deploy
from deployments.actions.stop import cancel
from deployments.domain import succession
from deployments.domain.actors import agent
from deployments.domain.blockers import Blocker
from deployments.domain.errors import StaleState
from deployments.domain.messages import Message
from deployments.domain.states import LABELS, USUAL_ROUTE, State
from deployments.models import Deployment, Slot, User
from tests.factories import make_user
from tests.races import invariants
from tests.races.orders import Race, Results, play_all
from tests.races.points import after, at_first, before
from tests.races.rows import LATER, deployment_in, make_place, new_slot

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

AGENT = agent("practice")
# Before the lock, between read and write, and between what an action has written and its commit.
POINTS = (
    at_first(locks, "lock_slot"),
    after(locks, "lock_deployment"),
    after(succession, "succeed"),
    before(events, "record_event"),
)
FEW = (at_first(locks, "lock_slot"), after(succession, "succeed"))
SAVED = (
    before(explain, "explain"),
    at_first(locks, "lock_slot"),
    before(Deployment, "save"),
    before(events, "record_event"),
)
MOVES = list(pairwise(USUAL_ROUTE))
BEFORE_THE_POINT = [m for m in MOVES if m[1] in USUAL_ROUTE[: USUAL_ROUTE.index(State.ACTIVATING)]]
PAST_THE_POINT = [m for m in MOVES if m[0] in (State.ACTIVATING, State.DRAINING)]
VERDICT = Message("r-2 was not ready for 30 s.", "Traffic goes back to r-1.", "Deploy again.")


def deploying(slot: Slot, by: User) -> Callable[[], Started]:
    return lambda: deploy(slot.pk, image="shop/web:3", reason="", by=by, now=LATER)


def moving(row: Deployment, start: State, to: State) -> Callable[[], Deployment]:
    return lambda: move(row.pk, expected=start, to=to, now=LATER, actor=AGENT)


def cancelling(row: Deployment, by: User) -> Callable[[], Deployment]:
    return lambda: cancel(row.pk, reason="not this one", by=by, now=LATER)


def judging(row: Deployment) -> Callable[[], None]:
    return lambda: explain.go_back(
        row.pk,
        expected=State(row.state),
        blocker=Blocker.READINESS,
        message=VERDICT,
        now=LATER,
        actor=AGENT,
    )


def explaining(row: Deployment, blocker: Blocker | None, what: str = "") -> Callable[[], bool]:
    return lambda: explain.explain(
        row.pk,
        state=State(row.state),
        blocker=blocker,
        message=Message(what),
        now=LATER,
        actor=AGENT,
    )


def told(results: Results, who: str) -> str:
    """Return the sentence that somebody was refused with; anything else is a failure."""
    answer = results[who]
    assert isinstance(answer, StaleState), repr(answer)
    return str(answer)


def started(results: Results, who: str = "deploy") -> Deployment:
    """Return the deployment that somebody's request made; anything else is a failure."""
    answer = results[who]
    assert isinstance(answer, Started), repr(answer)
    return Deployment.objects.get(pk=answer.deployment.pk)


def again(row: Deployment) -> Deployment:
    return Deployment.objects.get(pk=row.pk)


def test_of_two_deploys_each_goes_ahead_and_the_later_ends_the_earlier() -> None:
    place, ana, bob = make_place(), make_user(), make_user()

    def prepare() -> Race:
        slot = new_slot(place)

        def check(results: Results) -> None:
            first, second = sorted((started(results, "ana"), started(results, "bob")), key=_id)
            assert (first.state, second.state) == ("superseded", "pending")
            assert (first.superseded_by_id, first.what) == (second.pk, "Superseded by r-2")
            assert [first.release.number, second.release.number] == [1, 2]
            slot.refresh_from_db()
            assert (slot.generation, slot.fence, slot.releases_made) == (2, 2, 2)
            invariants.check(slot)

        return Race({"ana": deploying(slot, ana), "bob": deploying(slot, bob)}, check)

    play_all(prepare, at=POINTS)


def test_of_three_deploys_of_a_slot_in_which_one_starts_the_last_is_left() -> None:
    place, people = make_place(), [make_user() for _ in range(3)]

    def prepare() -> Race:
        older = deployment_in(place, State.STARTING)

        def check(results: Results) -> None:
            made = sorted((started(results, who) for who in results), key=_id)
            assert [row.state for row in made] == ["superseded", "superseded", "pending"]
            assert [row.release.number for row in made] == [3, 4, 5]
            assert again(older).superseded_by_id == made[0].pk
            invariants.check(older.slot)

        acts = {str(person): deploying(older.slot, person) for person in people}
        return Race(acts, check)

    play_all(prepare, at=FEW)


def _id(row: Deployment) -> int:
    return row.pk


@pytest.mark.parametrize(("start", "to"), BEFORE_THE_POINT)
def test_a_deploy_against_a_move_before_the_point_ends_it_and_tells_a_late_move(
    start: State, to: State
) -> None:
    place, ana = make_place(), make_user()

    def prepare() -> Race:
        older = deployment_in(place, start)

        def check(results: Results) -> None:
            newer, row = started(results), again(older)
            assert (row.state, row.superseded_by_id) == ("superseded", newer.pk)
            assert (newer.state, newer.blocker) == ("pending", "")
            path = list(row.events.values_list("to_state", flat=True))
            if to not in path:
                assert told(results, "move") == "This deployment is already Superseded."
            invariants.check(older.slot)

        acts = {"deploy": deploying(older.slot, ana), "move": moving(older, start, to)}
        return Race(acts, check)

    play_all(prepare, at=POINTS)


def test_a_deploy_against_activating_supersedes_it_or_waits_behind_it_and_never_both() -> None:
    place, ana = make_place(), make_user()

    def prepare() -> Race:
        older = deployment_in(place, State.QUALIFYING)

        def check(results: Results) -> None:
            newer, row = started(results), again(older)
            if row.state == "superseded":
                assert told(results, "move") == "This deployment is already Superseded."
                assert (row.past_point_of_no_return, newer.blocker) == (False, "")
            else:
                assert (row.state, newer.blocker) == ("activating", "waiting")
                assert newer.what == "Waiting for r-2 to finish taking over traffic"
            invariants.check(older.slot)

        move_on = moving(older, State.QUALIFYING, State.ACTIVATING)
        return Race({"deploy": deploying(older.slot, ana), "move": move_on}, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize(("start", "to"), PAST_THE_POINT)
def test_a_deploy_against_a_move_past_the_point_waits_or_comes_after_it(
    start: State, to: State
) -> None:
    place, ana = make_place(), make_user()

    def prepare() -> Race:
        older = deployment_in(place, start)

        def check(results: Results) -> None:
            newer, row = started(results), again(older)
            assert row.state == to
            assert isinstance(results["move"], Deployment)
            if to is not State.HEALTHY:
                assert newer.blocker == "waiting"
            slot = Slot.objects.get(pk=older.slot_id)
            assert (slot.generation, slot.fence) == (2, 2 if to is State.HEALTHY else 1)
            invariants.check(slot)

        acts = {"deploy": deploying(older.slot, ana), "move": moving(older, start, to)}
        return Race(acts, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize("state", USUAL_ROUTE[:-1])
def test_a_deploy_against_a_cancel_ends_the_deployment_once(state: State) -> None:
    place, ana, bob = make_place(), make_user(), make_user()

    def prepare() -> Race:
        older = deployment_in(place, state)

        def check(results: Results) -> None:
            newer, row = started(results), again(older)
            assert newer.state == "pending"
            if row.state == "superseded":
                assert told(results, "cancel") == "This deployment is already Superseded."
                assert row.superseded_by_id == newer.pk
            else:
                assert (row.state, row.superseded_by_id) == ("cancelled", None)
            invariants.check(older.slot)

        acts = {"deploy": deploying(older.slot, ana), "cancel": cancelling(older, bob)}
        return Race(acts, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize(("start", "to"), MOVES)
def test_a_cancel_against_a_move_ends_it_unless_it_became_healthy(start: State, to: State) -> None:
    place, bob = make_place(), make_user()

    def prepare() -> Race:
        row = deployment_in(place, start)

        def check(results: Results) -> None:
            ended, serving = again(row), Slot.objects.get(pk=row.slot_id).active_release_id
            if ended.state == "healthy":
                assert told(results, "cancel") == "This deployment is already Healthy."
                assert serving == row.release_id
            else:
                assert ended.state == "cancelled"
                assert serving != row.release_id
                if to not in ended.events.values_list("to_state", flat=True):
                    assert told(results, "move") == "This deployment is already Cancelled."
            invariants.check(row.slot)

        return Race({"cancel": cancelling(row, bob), "move": moving(row, start, to)}, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
def test_a_verdict_against_a_deploy_lets_the_newer_one_wait(state: State) -> None:
    place, ana = make_place(), make_user()

    def prepare() -> Race:
        older = deployment_in(place, state)

        def check(results: Results) -> None:
            newer, row = started(results), again(older)
            assert (row.state, row.verdict_blocker) == (state, "readiness")
            assert newer.blocker == "waiting"
            assert newer.what in {
                "Waiting for r-2 to finish taking over traffic",
                "Waiting for traffic to return to r-1",
            }
            assert Slot.objects.get(pk=older.slot_id).fence == 2
            invariants.check(older.slot)

        acts = {"deploy": deploying(older.slot, ana), "verdict": judging(older)}
        return Race(acts, check)

    play_all(prepare, at=POINTS)


def test_of_a_verdict_and_a_cancel_the_first_one_counts() -> None:
    place, bob = make_place(), make_user()

    def prepare() -> Race:
        row = deployment_in(place, State.DRAINING)

        def check(results: Results) -> None:
            judged = again(row)
            if judged.verdict_blocker:
                assert told(results, "cancel") == "r-2 is already going back to r-1."
                assert judged.state == "draining"
            else:
                assert told(results, "verdict") == "This deployment is already Cancelled."
                assert judged.state == "cancelled"
            assert Slot.objects.get(pk=row.slot_id).fence == 1
            invariants.check(row.slot)

        return Race({"verdict": judging(row), "cancel": cancelling(row, bob)}, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize(("start", "to"), PAST_THE_POINT)
def test_after_a_verdict_nothing_goes_on_and_after_healthy_there_is_none(
    start: State, to: State
) -> None:
    place = make_place()

    def prepare() -> Race:
        row = deployment_in(place, start)

        def check(results: Results) -> None:
            judged = again(row)
            if judged.verdict_blocker:
                assert told(results, "move") == "r-2 is already going back to r-1."
                assert judged.state == start
            else:
                assert told(results, "verdict") == f"This deployment is already {LABELS[to]}."
                assert judged.state == to
            invariants.check(row.slot)

        return Race({"verdict": judging(row), "move": moving(row, start, to)}, check)

    play_all(prepare, at=POINTS)


def test_of_two_verdicts_one_is_written() -> None:
    place = make_place()

    def prepare() -> Race:
        row = deployment_in(place, State.ACTIVATING)

        def check(results: Results) -> None:
            answers = [answer for answer in results.values() if answer is not None]
            assert [str(answer) for answer in answers] == [
                "This deployment is already Deploying: Activating."
            ]
            assert again(row).events.filter(kind="blocker").count() == 1
            assert Slot.objects.get(pk=row.slot_id).fence == 1
            invariants.check(row.slot)

        return Race({"one": judging(row), "two": judging(row)}, check)

    play_all(prepare, at=POINTS)


@pytest.mark.parametrize("end", ["cancel", "deploy", "move"])
def test_an_explanation_against_what_changes_the_state_never_stands_on_another_state(
    end: str,
) -> None:
    place, bob = make_place(), make_user()

    def prepare() -> Race:
        row = deployment_in(place, State.STARTING)
        ends: dict[str, Callable[[], object]] = {
            "cancel": cancelling(row, bob),
            "deploy": deploying(row.slot, bob),
            "move": moving(row, State.STARTING, State.QUALIFYING),
        }

        def check(results: Results) -> None:
            ended = again(row)
            assert not isinstance(results[end], Exception)
            assert results["explain"] in (True, False)
            assert ended.blocker == ""
            assert ended.state != "starting"
            assert ended.version == (5 if results["explain"] else 4)
            invariants.check(row.slot)

        said = explaining(row, Blocker.WAITING, "Waiting for room")
        return Race({"explain": said, end: ends[end]}, check)

    play_all(prepare, at=SAVED)


def test_an_explanation_never_takes_the_reason_of_a_verdict_away() -> None:
    place = make_place()

    def prepare() -> Race:
        row = deployment_in(place, State.DRAINING)
        explain.explain(
            row.pk,
            state=State.DRAINING,
            blocker=Blocker.READINESS,
            message=Message("Not ready yet"),
            now=LATER,
            actor=AGENT,
        )

        def check(results: Results) -> None:
            judged = again(row)
            assert results["verdict"] is None
            assert (judged.blocker, judged.what) == ("readiness", VERDICT.what)
            invariants.check(row.slot)

        return Race({"explain": explaining(row, None), "verdict": judging(row)}, check)

    play_all(prepare, at=SAVED)
