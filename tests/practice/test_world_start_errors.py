"""A Job's pod whose command is not there: it ends with that, as on the real cluster."""

from __future__ import annotations

from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import manifests


def test_it_fails_for_good_and_has_an_empty_log() -> None:
    cluster = Driven()
    box = manifests.container(IMAGE) | {"command": ["/nope"]}
    cluster.create("jobs", manifests.job("once", box, backoffLimit=0))

    cluster.until(lambda: cluster.holds("jobs", "once", "Failed"))

    pod, status = cluster.pod(), cluster.container()
    ended = status["state"]["terminated"]
    assert pod["status"]["phase"] == "Failed"
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert ended["message"].endswith(
        'exec: "/nope": stat /nope: no such file or directory: unknown'
    )
    assert (status["lastState"], status["restartCount"]) == ({}, 0)
    found = cluster.store.get("pods", SPACE, pod["metadata"]["name"])
    assert cluster.world.log(found, status["name"], previous=False) == ""
