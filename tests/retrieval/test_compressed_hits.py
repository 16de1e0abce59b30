"""A compressed hit has the parts that answer, each with its place, on every surface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.retrieval.ask.quotes import check_quotes
from ragstone.retrieval.context.passages import cite_hit, shorten_piece
from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.client.decoding import read_context, read_hit
from ragstone.surfaces.present.context import context_json
from ragstone.surfaces.present.hits import hit_json
from ragstone.surfaces.tools.passages import passage_json
from ragstone.text import query_terms
from ragstone.types import ContextFormat

FERRY = """\
# Ferry

The ferry leaves the pier at nine.

Tickets are sold in the blue house.

Dogs travel in the rear cabin.

On Sundays the ferry leaves the pier at noon.
"""
QUERY = "when does the ferry leave the pier"
FAKE = {"rag.embedding_provider": "fake"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ferry.md").write_text(FERRY, encoding="utf-8")
    return tmp_path


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=FAKE) as opened:
        opened.sync()
        yield opened


def test_what_stands_between_two_answers_is_left_out(engine: Engine) -> None:
    hit = engine.search(QUERY, top_k=1, compress=True)[0]
    assert [part.text for part in hit.slices] == [
        "The ferry leaves the pier at nine.",
        "On Sundays the ferry leaves the pier at noon.",
    ]
    assert "Tickets" not in hit.text and "[…]" in hit.text
    for part in hit.slices:
        assert FERRY[part.span.start : part.span.end] == part.text
        assert FERRY.splitlines()[part.span.line_start - 1] == part.text
    assert hit.citation == "ferry.md:3,9"
    assert (hit.span.line_start, hit.span.line_end) == (3, 9)


def test_a_hit_that_is_not_compressed_has_no_slices(engine: Engine) -> None:
    assert engine.search(QUERY, top_k=1)[0].slices == ()


@pytest.mark.parametrize("form", ["block", "markdown", "tool", "documents", "json"])
def test_a_context_has_the_slices_with_a_gap_mark(engine: Engine, form: ContextFormat) -> None:
    context = engine.context(QUERY, format=form, compress=True)
    assert "at nine." in context.text and "at noon." in context.text
    assert "Tickets" not in context.text and "[…]" in context.text
    assert len(context.cited[0].slices) == 2
    assert read_context(context_json(context)) == context


def test_a_session_is_not_shown_a_slice_again(engine: Engine) -> None:
    engine.context(QUERY, session="monday")
    again = engine.context(QUERY, session="monday", compress=True)
    assert again.cited == () and again.sent_before == ("ferry.md:3,9",)


def test_a_small_budget_keeps_whole_slices(engine: Engine) -> None:
    piece = cite_hit(engine.search(QUERY, top_k=1, compress=True)[0])
    part = shorten_piece(piece, query_terms("ferry on sundays"), 60)
    assert part is not None
    assert part.text == "On Sundays the ferry leaves the pier at noon."
    assert (part.citation, part.whole) == ("ferry.md:9", False)


def test_the_json_of_a_hit_has_every_slice_with_its_place(engine: Engine) -> None:
    hit = engine.search(QUERY, top_k=1, compress=True)[0]
    data = json.loads(json.dumps(hit_json(hit)))
    assert [part["lines"] for part in data["slices"]] == [[3, 3], [9, 9]]
    assert read_hit(data).slices == hit.slices
    assert passage_json(cite_hit(hit))["slices"] == [[3, 3], [9, 9]]


def test_the_command_line_marks_the_gap(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    print_hits(engine.search(QUERY, top_k=1, compress=True), QUERY)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:4] == [
        "3  The ferry leaves the pier at nine.",
        "…",
        "9  On Sundays the ferry leaves the pier at noon.",
    ]


def test_a_quotation_across_a_gap_is_not_in_the_source(engine: Engine) -> None:
    piece = cite_hit(engine.search(QUERY, top_k=1, compress=True)[0])
    answer = '[1: "the pier at nine."] [1: "at nine. […] On Sundays"]'
    assert [quote.found for quote in check_quotes(answer, [piece])] == [True, False]
