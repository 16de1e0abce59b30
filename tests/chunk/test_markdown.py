"""Markdown: sections with their path of headings."""

from __future__ import annotations

from itertools import pairwise

from ragstone.chunk.markdown import MarkdownChunker, SlideChunker
from ragstone.text.tokens import estimate
from ragstone.types import Chunk, Document, Mark

FILLER = "Something is said here that takes a few words. " * 8
APART = MarkdownChunker(size=100, overlap=0)


def cut(text: str, chunker: MarkdownChunker = APART) -> list[Chunk]:
    return chunker.chunk(Document("a.md", text, kind="doc"))


def test_a_section_has_the_path_of_headings_above_it() -> None:
    text = f"# Guide\n\n{FILLER}\n\n## Install\n\n{FILLER}\n\n### Linux\n\n{FILLER}\n\n## Use ##\n\n{FILLER}\n"
    assert [chunk.header for chunk in cut(text)] == [
        "Guide", "Guide > Install", "Guide > Install > Linux", "Guide > Use",
    ]  # fmt: skip


def test_underlined_headings_count_too() -> None:
    text = f"Guide\n=====\n\n{FILLER}\n\nInstall\n-------\n{FILLER}\n"
    assert [chunk.header for chunk in cut(text)] == ["Guide", "Guide > Install"]


def test_a_heading_is_read_without_its_links_and_emphasis() -> None:
    assert (
        cut(f"# The `run` [tool](https://example.org/a) **now**\n\n{FILLER}")[0].header
        == "The run tool now"
    )


def test_a_comment_in_code_is_not_a_heading() -> None:
    text = f"# Guide\n\n```sh\n# not a heading\nmake\n```\n\n~~~\n## nor this\n```\n~~~\n\n## Real\n\n{FILLER}"
    assert [chunk.header for chunk in cut(text)] == ["Guide", "Guide > Real"]


def test_code_that_is_never_closed_goes_to_the_end() -> None:
    text = f"# Guide\n\n{FILLER}\n\n```\n# inside\n\n# inside too\n"
    assert {chunk.header for chunk in cut(text)} == {"Guide"}


def test_front_matter_is_not_a_heading() -> None:
    (chunk,) = cut("---\ntitle: A guide\ntags: [a, b]\n---\n\nText.\n")
    assert (chunk.header, chunk.text[:3]) == ("", "---")


def test_a_bare_heading_stays_with_the_section_below_it() -> None:
    first, second = cut(f"# Guide\n\n## Install\n\n{FILLER}\n\n## Use\n\n{FILLER}")
    assert first.text.startswith("# Guide\n\n## Install")
    assert first.header == "Guide > Install"
    assert second.header == "Guide > Use"


def test_small_neighbouring_sections_share_a_chunk() -> None:
    text = "# Guide\n\n## One\n\nShort.\n\n## Two\n\nShort.\n\n## Three\n\nShort.\n"
    (chunk,) = cut(text, MarkdownChunker(overlap=0))
    assert chunk.header == "Guide"
    assert len(cut(text, MarkdownChunker(size=8, overlap=0))) == 3


def test_sections_of_different_parents_are_not_packed_together() -> None:
    text = f"# A\n\n{FILLER}\n\n## A1\n\nShort.\n\n# B\n\nShort.\n"
    headers = [chunk.header for chunk in cut(text, MarkdownChunker(size=88, overlap=0))]
    assert headers == ["A", "A > A1", "B"]


def test_a_long_section_is_parted_between_paragraphs_and_keeps_its_path() -> None:
    text = "# Guide\n\n" + "\n\n".join(f"Paragraph {number}. {FILLER}" for number in range(6))
    chunks = cut(text)
    assert len(chunks) == 6
    assert {chunk.header for chunk in chunks} == {"Guide"}
    assert all(chunk.text.startswith("Paragraph") for chunk in chunks[1:])


def test_a_long_section_has_at_least_the_overlap() -> None:
    text = "# Guide\n\n" + " ".join(
        f"This is sentence number {number}." for number in range(200)
    )
    chunks = cut(text, MarkdownChunker())
    assert len(chunks) > 4
    for before, after in pairwise(chunks):
        assert estimate(text[after.span.start : before.span.end]) >= 95


def test_a_table_and_code_that_fit_stay_whole() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(
        f"| row{number} | {number} |\n" for number in range(8)
    )
    code = "```python\nfirst = 1\n\nsecond = 2\n\nthird = 3\n```\n"
    text = f"# Guide\n\n{FILLER}\n\n{table}\n{FILLER}\n\n{code}\n{FILLER}\n"
    chunks = cut(text)
    assert sum(table.strip() in chunk.text for chunk in chunks) == 1
    assert sum(code.strip() in chunk.text for chunk in chunks) == 1


def test_a_table_that_does_not_fit_is_parted_between_rows() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(
        f"| row{number} | some value |\n" for number in range(100)
    )
    chunks = cut(f"# Data\n\n{table}")
    assert len(chunks) > 3
    assert all(chunk.text.startswith("|") and chunk.text.endswith("|") for chunk in chunks[1:])


def test_windows_line_ends_make_no_difference() -> None:
    text = f"# Guide\n\n{FILLER}\n\nInstall\n---\n\n```\n# no\n```\n\n{FILLER}\n"
    unix, windows = cut(text), cut(text.replace("\n", "\r\n"))
    assert [chunk.header for chunk in unix] == [chunk.header for chunk in windows]
    assert [chunk.text for chunk in unix] == [
        chunk.text.replace("\r\n", "\n") for chunk in windows
    ]


# ── slides and chapters ───────────────────────────────────────────────────────────────────────────

TEXT = "# Plan\n\n# Why\n\nBecause.\n\n# How\n\nSlowly.\n"
MARKS = tuple(
    Mark(TEXT.index(title), number, "", "slide")
    for number, title in enumerate(("# Plan", "# Why", "# How"), 1)
)


def test_every_slide_is_a_separate_chunk_even_with_only_a_title() -> None:
    chunks = SlideChunker().chunk(Document("a.pptx", TEXT, marks=MARKS))
    assert [(chunk.text, chunk.span.page, chunk.span.unit) for chunk in chunks] == [
        ("# Plan", 1, "slide"), ("# Why\n\nBecause.", 2, "slide"), ("# How\n\nSlowly.", 3, "slide"),
    ]  # fmt: skip
    assert [chunk.header for chunk in chunks] == ["Plan", "Why", "How"]


def test_a_long_chapter_is_parted_between_paragraphs() -> None:
    text = "# One\n\n" + "Some words stand here.\n\n" * 30
    chunks = SlideChunker(size=30).chunk(
        Document("a.epub", text, marks=(Mark(0, 1, "One", "chapter"),))
    )
    assert len(chunks) > 3
    assert {(chunk.span.page, chunk.span.page_label) for chunk in chunks} == {(1, "One")}
