"""Every chunker keeps its contract for any text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk.definitions import DefinitionChunker
from ragstone.chunk.lines import LineChunker
from ragstone.chunk.markdown import MarkdownChunker
from ragstone.chunk.prose import CharacterChunker, ProseChunker, SentenceChunker, TokenChunker
from ragstone.errors import InputError
from ragstone.protocols import Chunker
from ragstone.types import Chunk, Document

Check = Callable[[Chunker, str], list[Chunk]]

SMALL: list[Chunker] = [
    CharacterChunker(size=7, overlap=3),
    CharacterChunker(size=1, overlap=0),
    SentenceChunker(size=30, overlap=10),
    SentenceChunker(size=3, overlap=2),
    TokenChunker(size=8, overlap=3),
    TokenChunker(size=1, overlap=0),
    ProseChunker(size=10, overlap=0),
    ProseChunker(size=6, overlap=5),
    MarkdownChunker(size=12, overlap=0),
    MarkdownChunker(size=9, overlap=4),
    LineChunker(size=9, lines=3),
    LineChunker(size=1, lines=1),
    DefinitionChunker(size=12),
]
USUAL: list[Chunker] = [
    CharacterChunker(),
    SentenceChunker(),
    TokenChunker(),
    ProseChunker(),
    MarkdownChunker(),
    MarkdownChunker(overlap=0),
    LineChunker(),
    DefinitionChunker(),
]

FRAGMENTS = st.sampled_from(
    ["word", " ", "\n", "\n\n", "\r\n", "\r", "\t", "    ", "\x0c", "\u2028", "\xa0", "Sentence one. ", "Zwei! ",
     "“Q?” ", "e.g. ", "字。", "é", "👍🏽", "\ud800", "\x00", "\ufeff", "# Title\n", "## Sub\n", "Set\n===\n", "```p\n",
     "```\n", "| a | b |\n", "---\n", "- item\n", "1. item\n", "def f(x):\n    return x\n", "class A:\n    x = 1\n",
     "    def m(self):\n        pass\n", "@deco\n", "# comment\n", '"""doc"""\n', "x = [\n", "]\n", "a" * 50, "a.b(c);"]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=40).map("".join) | st.text(
    st.characters(codec=None), max_size=120
)


@pytest.mark.parametrize("chunker", SMALL + USUAL, ids=lambda chunker: chunker.recipe)
@settings(max_examples=60)
@given(text=TEXTS)
def test_any_text_is_covered_by_exact_slices_in_order(
    keeps_its_promises: Check, chunker: Chunker, text: str
) -> None:
    keeps_its_promises(chunker, text)


@pytest.mark.parametrize("chunker", USUAL, ids=lambda chunker: chunker.recipe)
@pytest.mark.parametrize("text", ["", " ", "\n\n \t\r\n", "\x0c\u2028"])
def test_an_empty_text_has_no_chunk(
    chunker: Chunker, text: str, keeps_its_promises: Check
) -> None:
    assert keeps_its_promises(chunker, text) == []


@pytest.mark.parametrize("chunker", USUAL, ids=lambda chunker: chunker.recipe)
def test_a_short_text_is_one_chunk(chunker: Chunker, keeps_its_promises: Check) -> None:
    (chunk,) = keeps_its_promises(chunker, "\n\n  x = 1  # short\n\n")
    assert chunk.text == "  x = 1  # short"
    assert (chunk.span.line_start, chunk.span.line_end) == (3, 3)


HARD = [
    "a" * 10**6, "word " * 2 * 10**5, "." * 10**6, "Hm. " * 50_000, "\n" * 10**6, " " * 10**6 + "x", "#" * 10**6,
    "#\n" * 20_000, "```\n" * 20_000, "|a|\n" * 20_000, "t\n---\n" * 20_000, "字" * 10**6, "(" * 10**6, "-" * 10**6,
    "x = " + "(" * 10**5, "def f():\n  pass\n" * 3000, "a\r" * 10**5, "`" * 10**6, "# " + " \t" * 10**5,
    "\n" + "\t" * 10**6,
]  # fmt: skip


@pytest.mark.parametrize("text", HARD, ids=[repr(text[:6]) for text in HARD])
def test_a_megabyte_of_repeated_text_is_cut_by_every_chunker(text: str) -> None:
    chunkers: list[Chunker] = [
        SentenceChunker(),
        ProseChunker(),
        MarkdownChunker(),
        LineChunker(),
        DefinitionChunker(),
    ]
    for chunker in chunkers:
        chunks = chunker.chunk(Document("hard", text))
        assert sum(len("".join(chunk.text.split())) for chunk in chunks) >= len(
            "".join(text.split())
        )


@pytest.mark.parametrize(
    "make", [CharacterChunker, SentenceChunker, TokenChunker, ProseChunker, MarkdownChunker]
)
def test_an_overlap_as_large_as_the_size_is_refused(make: Callable[..., Chunker]) -> None:
    for size, overlap in ((10, 10), (10, 11), (10, -1), (0, 0), (-5, 0)):
        with pytest.raises(InputError) as refused:
            make(size=size, overlap=overlap)
        assert refused.value.hint


@pytest.mark.parametrize("make", [LineChunker, DefinitionChunker])
def test_a_size_of_zero_is_refused(make: Callable[..., Chunker]) -> None:
    with pytest.raises(InputError):
        make(size=0)


def test_another_size_is_another_recipe() -> None:
    assert len({chunker.recipe for chunker in SMALL + USUAL}) == len(SMALL + USUAL)
