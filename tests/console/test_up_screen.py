"""The one screen that `make up` ends with."""

from __future__ import annotations

from pathlib import Path

from console.up import screen

UP = {
    "url": "http://127.0.0.1:8000/",
    "registry": "127.0.0.1:8411",
    "users": {"engineer": {"username": "engineer", "password": "tide", "token": "plh_1"}},
}


def test_the_screen_says_where_it_is_and_who_can_log_in() -> None:
    shown = screen.welcome(UP, var=Path("/srv/var"))

    assert "Pilothouse is at http://127.0.0.1:8000/" in shown
    assert "engineer       engineer       tide" in shown
    assert "/srv/var/up.json" in shown
    assert "environment real" not in shown


def test_with_a_cluster_of_ones_own_the_screen_names_its_environment() -> None:
    shown = screen.welcome(UP, var=Path("/srv/var"), cluster=Path("/home/me/staging"))

    assert "5. Deploy in the environment real, on the cluster of /home/me/staging." in shown
