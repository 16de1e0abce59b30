"""The heading of a hit shows the symbol that was found, and both numbers of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.surfaces.cli.hits import print_hits
from ragstone.types import Span
from tests.support.bookshop import written

FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}
CODE = "\n\n\n".join(
    f"def {name}(stone):\n    return stone" for name in ("cut", "wash", "lift", "weigh_stone")
)


def test_the_found_symbol_comes_first_in_the_heading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "yard.py").write_text(CODE, encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        print_hits(engine.search("weigh_stone", top_k=1), "weigh_stone")
    assert "  weigh_stone cut wash …" in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("span", "citation"),
    [
        (Span(0, 1, 0, 1, 1, 1, page=11, page_label="9"), "a.pdf p.9 (page 11)"),
        (Span(0, 1, 0, 1, 1, 1, page=4, page_label="4"), "a.pdf p.4"),
        (Span(0, 1, 0, 1, 1, 1, page=4), "a.pdf p.4"),
        (Span(0, 1, 0, 1, 1, 1, page=2, page_label="Costs", unit="sheet"), "a.pdf sheet Costs"),
    ],
)
def test_a_page_is_cited_by_its_printed_number_and_its_place(span: Span, citation: str) -> None:
    assert span.citation("a.pdf") == citation


def test_a_summary_by_ragstone_has_no_numbers_of_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine.open(written(tmp_path), config=FAKE) as engine:
        engine.sync()
        print_hits(engine.search("books", filters={"kind": "table"}), "books")
    heading, first_line = capsys.readouterr().out.splitlines()[:2]
    assert "summary by Ragstone" in heading
    assert first_line.startswith("  Database table")
