"""What the environment says beside settings."""

from __future__ import annotations

import os

import pytest

from ragstone.config.environment import cores, wants_colour


def test_colour_is_for_terminals_that_know_it_and_people_who_want_it() -> None:
    assert wants_colour({"TERM": "xterm"})
    assert wants_colour({"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_colour({"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_colour({"TERM": "dumb"})


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 5}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
