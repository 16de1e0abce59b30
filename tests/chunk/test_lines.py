"""Languages without a grammar are cut by lines."""

from __future__ import annotations

from itertools import pairwise

from ragstone.chunk.lines import LineChunker
from ragstone.text.tokens import estimate
from ragstone.types import Document


def function(number: int, length: int = 12) -> str:
    lines = "\n".join(
        f"    let value_{number}_{line} = compute({line});" for line in range(length)
    )
    return f"fn task_{number}() {{\n{lines}\n}}"


def test_cuts_are_at_blank_lines_of_low_indentation() -> None:
    text = "\n\n".join(function(number) for number in range(30))
    chunks = LineChunker(size=300).chunk(Document("a.rs", text, kind="code"))
    assert all(chunk.text.startswith("fn ") and chunk.text.endswith("}") for chunk in chunks)
    assert all(estimate(chunk.text) <= 330 for chunk in chunks)


def test_a_closing_line_stays_with_its_block() -> None:
    text = "\n".join(function(number, 5) for number in range(60))
    chunks = LineChunker(size=200).chunk(Document("a.rs", text, kind="code"))
    assert len(chunks) > 10
    assert all(chunk.text.startswith("fn ") for chunk in chunks)


def test_many_short_lines_are_cut_by_their_number() -> None:
    chunks = LineChunker(size=300, lines=50).chunk(Document("a", "x\n" * 500, kind="code"))
    assert all(25 <= chunk.text.count("\n") + 1 <= 50 for chunk in chunks)


def test_chunks_do_not_overlap_and_have_the_documents_kind() -> None:
    chunks = LineChunker(size=40).chunk(
        Document("a", "\n".join(f"row {number}" for number in range(300)), kind="config")
    )
    assert all(before.span.end <= after.span.start for before, after in pairwise(chunks))
    assert {chunk.kind for chunk in chunks} == {"config"}


def test_a_line_above_the_size_is_parted_between_words() -> None:
    chunks = LineChunker(size=50).chunk(
        Document("a.json", '{"key": "value"}, ' * 500, kind="data")
    )
    assert len(chunks) > 10
    assert all(estimate(chunk.text) <= 60 for chunk in chunks)
    assert all(chunk.text[0] in '{"' for chunk in chunks)
