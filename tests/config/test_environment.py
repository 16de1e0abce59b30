"""What the environment says beside settings."""

from __future__ import annotations

import os

import pytest

from ragstone.config.environment import (
    child_environment,
    cores,
    remote_environment,
    wants_colour,
)


def test_colour_is_for_terminals_that_know_it_and_people_who_want_it() -> None:
    assert wants_colour(is_terminal=True, environ={"TERM": "xterm"})
    assert wants_colour(is_terminal=True, environ={"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_colour(is_terminal=True, environ={"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_colour(is_terminal=True, environ={"TERM": "dumb"})


def test_a_pipe_gets_colours_only_if_force_color_is_set_and_no_color_is_not() -> None:
    assert not wants_colour(is_terminal=False, environ={"TERM": "xterm"})
    assert wants_colour(is_terminal=False, environ={"FORCE_COLOR": "1"})
    assert not wants_colour(is_terminal=False, environ={"FORCE_COLOR": ""})
    assert not wants_colour(is_terminal=False, environ={"FORCE_COLOR": "1", "NO_COLOR": "1"})


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 5}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_a_server_that_is_started_finds_the_users_folders_and_no_key() -> None:
    environ = {
        "HOME": "/home/you",
        "XDG_CONFIG_HOME": "/home/you/settings",
        "XDG_CACHE_HOME": "",
        "OPENAI_API_KEY": "secret",
        "RAGSTONE_SEARCH_TOP_K": "3",
        "PATH": "/bin",
    }
    variables = remote_environment(environ)
    assert variables["XDG_CONFIG_HOME"] == "/home/you/settings"
    assert not {"OPENAI_API_KEY", "RAGSTONE_SEARCH_TOP_K", "XDG_CACHE_HOME"} & set(variables)
    assert "XDG_CONFIG_HOME" not in child_environment(environ)
