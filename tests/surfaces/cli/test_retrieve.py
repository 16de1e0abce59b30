from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.commands import retrieve
from tests.support.bookshop import written

Command = Callable[..., Any]


@pytest.fixture
def shop(project: Path) -> Path:
    return written(project)


def test_the_answer_with_file_and_line_comes_before_the_passages(
    quick: Command, shop: Path
) -> None:
    ran = quick("retrieve", "Which code serves route books.lend?")
    assert ran.code == 0, ran.err
    assert "  evaluated: found by following the framework's files\n" in ran.out
    first, second, third = ran.out.splitlines()[:3]
    assert first.startswith("POST api/books/{book}/loans (books.lend) is served by ")
    assert "app/Http/Controllers/BookController.php:27" in first
    assert (second.strip(), third.strip()) == (
        "routes/api.php:8",
        "app/Http/Controllers/BookController.php:27",
    )


def test_the_json_has_the_answer_the_chunks_and_the_debug(quick: Command, shop: Path) -> None:
    data = quick("retrieve", "Which table does Book use?", "-k", "3", "--json").json
    assert data["answer"]["facts"]["table"] == "books"
    assert data["answer"]["confidence"] == "convention"
    assert len(data["chunks"]) == 3 and data["chunks"][0]["label"] == "graph"
    assert {"strategy", "latency_ms", "total_candidates", "scores"} <= set(data["debug"])


def test_options_name_the_subject_of_the_question(quick: Command, shop: Path) -> None:
    data = quick(
        "retrieve",
        "what is it",
        "--table",
        "books",
        "--must",
        "README.md",
        "--type",
        "doc",
        "--json",
    ).json
    assert data["answer"]["intent"] == "table_columns"
    assert [chunk["path"] for chunk in data["chunks"]].count("README.md") == 1
    missing = quick(
        "retrieve", "what is it", "--route", "books.burn", "--no-runs", "--min-score", "0.9"
    )
    assert (
        missing.out.startswith("There is no route books.burn;")
        and "unknown name: route books.burn" in missing.err
    )


def test_a_question_without_an_answer_says_so(quick: Command, shop: Path) -> None:
    assert (
        quick("retrieve", "zzzqqq", "--no-sync", "--min-score", "1").out
        == "No answer for “zzzqqq”.\n"
    )


def test_an_invalid_option_is_refused(quick: Command, shop: Path) -> None:
    ran = quick("retrieve", "books", "--min-score", "3")
    assert ran.code == 2 and "--min-score is 3.0" in ran.err


def test_an_unknown_name_is_noted_before_the_answer(
    quick: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []
    monkeypatch.setattr(retrieve, "print_notes", lambda notes: printed.extend(notes))
    monkeypatch.setattr(retrieve, "print_hits", lambda *hits, **options: printed.append("hits"))
    quick("retrieve", "what writes books", "--table", "nosuchtable")
    assert printed.index("unknown name: table nosuchtable") < printed.index("hits")
