"""What the environment says beside settings."""

from __future__ import annotations

from ragstone.config.surroundings import wants_colour


def test_colour_is_for_terminals_that_know_it_and_people_who_want_it() -> None:
    assert wants_colour({"TERM": "xterm"})
    assert wants_colour({"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_colour({"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_colour({"TERM": "dumb"})
