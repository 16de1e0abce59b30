"""Agents and events on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.engine.agents import HINT

AGENTS = """\
agents:
  shell: {docs: {strategy: rag, top_k: 2, sources: ["docs/*.md"]}}
  writer: {docs: {budget: 300, sources: ["README.md"]}}
  bare: {model: x}
"""
Quick = Callable[..., Any]


@pytest.fixture
def staffed(project: Path) -> Path:
    (project / "agents.yaml").write_text(AGENTS)
    return project


def test_agents_are_listed_as_text_and_json(staffed: Path, quick: Quick) -> None:
    shown = [line.split("  ") for line in quick("agents").out.splitlines()]
    assert [[cell.strip() for cell in row if cell.strip()] for row in shown] == [
        ["bare", "no docs"],
        ["shell", "rag, top_k 2", "docs/*.md"],
        ["writer", "preload, 300 tokens", "README.md"],
    ]
    assert quick("agents").out == quick("agents", "list").out
    listed = quick("agents", "list", "--json").json["agents"]
    assert [one["name"] for one in listed] == ["bare", "shell", "writer"]
    assert listed[1]["sources"] == ["docs/*.md"]
    assert listed[1]["strategy"] == "rag"


def test_a_folder_without_agents_is_no_failure(project: Path, quick: Quick) -> None:
    ran = quick("agents")
    assert (ran.code, ran.out) == (
        0,
        "No agents: `agents.yaml` in this folder or next to your user settings names them.\n",
    )
    assert quick("agents", "--json").json == {"success": True, "agents": []}


def test_ensure_indexes_only_after_changes(staffed: Path, quick: Quick) -> None:
    first = quick("agents", "ensure", "shell", "--json").json
    assert (first["changed"], first["sync"]["indexed"], first["sync"]["pending"]) == (
        True,
        1,
        0,
    )
    again = quick("agents", "ensure", "shell")
    assert (again.code, again.out) == (0, "shell: nothing has changed.\n")
    (staffed / "docs" / "new.md").write_text("More.\n")
    assert quick("agents", "ensure", "shell").out.startswith(
        "2 found = 1 indexed + 1 unchanged"
    )
    with Engine.open(staffed, config={"rag.embedding_provider": "fake"}) as engine:
        assert len(list(engine.agents.corpus("shell").sources())) == 2
        assert engine.is_empty()


def test_prompt_prints_the_prompt_to_stdout_and_notes_to_stderr(
    staffed: Path, quick: Quick
) -> None:
    ran = quick("agents", "prompt", "writer")
    assert ran.out.startswith("[DOCUMENTATION]\n")
    assert "File: README.md\n# Quarry\n" in ran.out
    assert ran.err.startswith("(preload, 1 file, ")
    ran = quick("agents", "prompt", "shell")
    assert ran.out == HINT + "\n"
    assert ran.err.splitlines()[-1].startswith("(rag, with the tool rag_search, ")
    prompt = quick("agents", "prompt", "writer", "--budget", "20", "--json").json
    assert (prompt["text"], prompt["files"], prompt["budget"]) == ("", [], 20)
    assert prompt["left_out"] == [{"uri": "README.md", "reason": "no room left in the budget"}]


def test_prompt_notes_the_fallback_to_preload(
    staffed: Path, quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "nothing")
    ran = quick("agents", "prompt", "shell")
    assert ran.out.startswith("[DOCUMENTATION]\n")
    assert ran.err.startswith(
        "(rag is not possible, the files are given whole instead: There is no embedder called"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["agents", "ensure", "nobody"],
            4,
            "there is no agent 'nobody' (there are bare, shell, writer)",
        ),
        (["agents", "prompt", "nobody"], 4, "there is no agent 'nobody'"),
        (["agents", "prompt", "writer", "--budget", "0"], 2, "0"),
        (["agents", "dance"], 2, "dance"),
        (["events", "--name", "nonsense"], 2, "nonsense"),
        (["events", "--limit", "-1"], 2, "-1"),
        (["events"], 4, "has no index"),
    ],
)
def test_wrong_input_is_refused_with_a_sentence(
    staffed: Path, quick: Quick, arguments: list[str], code: int, words: str
) -> None:
    ran = quick(*arguments)
    assert ran.code == code
    assert words in ran.err


def test_an_invalid_agents_file_is_reported_with_its_line(staffed: Path, quick: Quick) -> None:
    (staffed / "agents.yaml").write_text("agents:\n  a:\n    docs: {source: [x]}\n")
    ran = quick("agents")
    assert ran.code == 2
    assert "line 3" in ran.err
    assert "did you mean sources?" in ran.err
    assert quick("search", "stones", "--no-sync").code == 0  # nobody else is kept from working


# ── events ────────────────────────────────────────────────────────────────────────────────────────


def test_events_are_lines_of_json_and_can_be_filtered(project: Path, quick: Quick) -> None:
    quick("sync")
    quick("search", "stones")
    lines = [json.loads(line) for line in quick("events", "--json").out.splitlines()]
    assert [line["name"] for line in lines][-2:] == [
        "rag_search_started",
        "rag_search_completed",
    ]
    assert lines[-1]["query"] == "stones"
    only = quick(
        "events", "--json", "--name", "rag_search_started", "--limit", "1"
    ).out.splitlines()
    assert [json.loads(line)["name"] for line in only] == ["rag_search_started"]
    assert quick("events", "--limit", "0").out == ""
    shown = quick("events", "--limit", "1").out
    assert "rag_search_completed  query stones, ids [" in shown


def test_a_disabled_event_log_is_named_as_the_reason(
    project: Path, quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_EVENTS_LOG", "no")
    quick("search", "stones")
    ran = quick("events")
    assert (ran.code, ran.out, ran.err) == (
        0,
        "",
        "No events are kept (events.log is false).\n",
    )


def test_follow_shows_events_of_another_process(
    project: Path, environment: dict[str, str], quick: Quick
) -> None:
    quick("search", "stones")
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "events",
        "--follow",
        "--limit",
        "1",
        "--json",
        "-C",
        str(project),
    ]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as follower:
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        assert first["query"] == "stones"
        with Engine.open(project, config={"rag.embedding_provider": "fake"}) as engine:
            engine.search("pebbles")
        assert json.loads(follower.stdout.readline())["query"] == "pebbles"
        follower.terminate()


def test_control_characters_in_events_do_not_reach_the_terminal(
    project: Path, quick: Quick
) -> None:
    quick("search", "red \x1b[31m stones")
    assert "\x1b" not in quick("events").out
