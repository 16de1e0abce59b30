"""Slides and chapters are never mixed in one chunk."""

from __future__ import annotations

from ragstone.chunk.marked import Marked
from ragstone.types import Document, Mark

TEXT = "# Plan\n\n# Why\n\nBecause.\n\n# How\n\nSlowly.\n"
MARKS = tuple(
    Mark(TEXT.index(title), number, "", "slide") for number, title in enumerate(("# Plan", "# Why", "# How"), 1)
)


def test_every_slide_is_a_chunk_of_its_own_even_one_with_only_a_title() -> None:
    chunks = Marked().chunk(Document("a.pptx", TEXT, marks=MARKS))
    assert [(chunk.text, chunk.span.page, chunk.span.unit) for chunk in chunks] == [
        ("# Plan", 1, "slide"), ("# Why\n\nBecause.", 2, "slide"), ("# How\n\nSlowly.", 3, "slide"),
    ]  # fmt: skip
    assert [chunk.header for chunk in chunks] == ["Plan", "Why", "How"]


def test_a_long_chapter_is_parted_between_paragraphs() -> None:
    text = "# One\n\n" + "Some words stand here.\n\n" * 30
    chunks = Marked(size=30).chunk(Document("a.epub", text, marks=(Mark(0, 1, "One", "chapter"),)))
    assert len(chunks) > 3
    assert {(chunk.span.page, chunk.span.page_label) for chunk in chunks} == {(1, "One")}
