"""Chunkers of rows, keys, endpoints and slides keep the contract of every chunker for any text."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk.markdown import SlideChunker
from ragstone.chunk.openapi import OpenApiChunker
from ragstone.chunk.setting_keys import KeyChunker
from ragstone.chunk.tables import TableChunker
from ragstone.errors import InputError
from ragstone.protocols import Chunker
from ragstone.types import Chunk, Document, Mark

LANGUAGES = ["json", "yaml", "toml", "ini", "dotenv", "php", "none"]
CHUNKERS: list[Chunker] = [
    KeyChunker(size=12),
    KeyChunker(size=1),
    KeyChunker(),
    OpenApiChunker(size=12),
    OpenApiChunker(),
    TableChunker(size=9),
    TableChunker(size=1),
    TableChunker(),
    SlideChunker(size=9),
    SlideChunker(),
]

FRAGMENTS = st.sampled_from(
    [
        "a",
        "key",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        ":",
        ": ",
        "- ",
        "-\n",
        "=",
        " = ",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        '"""',
        "'''",
        ",",
        ", ",
        "#",
        "# note\n",
        "//",
        "/*",
        "*/",
        "|",
        "|\n",
        ">",
        "---\n",
        "[a.b]\n",
        "[[a]]\n",
        "key: 1\n",
        "  in: 2\n",
        'k = """\n',
        "'a' => 1,\n",
        "'b' => [\n",
        "],\n",
        "return [\n",
        "\\",
        '\\"',
        "1",
        "true",
        "null",
        "字",
        "👍🏽",
        "\ud800",
        "\x00",
        "\u2028",
        "paths:\n",
        "  /a/{id}:\n",
        "    get:\n",
        "      x: y\n",
        '{"paths": {"/a": {"get": {}}}}',
        '{"a": {"b": [1, 2, {"c": "d"}]}}',
        "a,b,c\n",
        '1,"x\ny",3\n',
        "a\tb\n",
        "a;b\n",
        "word " * 12,
        "x" * 60,
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=40).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=30,
)


def covered(chunker: Chunker, document: Document) -> list[Chunk]:
    """Return the chunks, having checked that they are exact, in order, and all of the text."""
    text, chunks = document.text, chunker.chunk(document)
    before, seen = 0, bytearray(len(text))
    for order, chunk in enumerate(chunks):
        span = chunk.span
        assert chunk.order == order and before <= span.start < span.end
        assert (
            text[span.start : span.end] == chunk.text
            and chunk.text.strip()
            and not chunk.text[-1].isspace()
        )
        assert span.line_start == text.count("\n", 0, span.start) + 1
        assert span.line_end == text.count("\n", 0, span.end) + 1
        assert chunk.symbol == " ".join(chunk.symbol.split())
        before = span.start
        seen[span.start : span.end] = b"\1" * (span.end - span.start)
    assert not [at for at, sign in enumerate(text) if not seen[at] and not sign.isspace()]
    assert all(first.span.end <= second.span.start for first, second in pairwise(chunks))
    return chunks


@pytest.mark.parametrize("chunker", CHUNKERS, ids=lambda chunker: chunker.recipe)
@settings(max_examples=80)
@given(text=TEXTS, language=st.sampled_from([*LANGUAGES, "csv", "tsv"]))
def test_any_text_is_covered_by_exact_slices(
    chunker: Chunker, text: str, language: str
) -> None:
    covered(chunker, Document("any", text, kind="config", language=language))


@pytest.mark.parametrize(
    "chunker",
    [KeyChunker(size=12), KeyChunker(size=40), OpenApiChunker(size=12)],
    ids=lambda chunker: chunker.recipe,
)
@given(value=JSON, indent=st.sampled_from([None, 0, 2]))
def test_any_json_is_covered_by_exact_slices(
    chunker: Chunker, value: object, indent: int | None
) -> None:
    covered(
        chunker,
        Document("a.json", json.dumps(value, indent=indent), kind="data", language="json"),
    )


@given(
    text=TEXTS,
    places=st.lists(st.integers(0, 300), max_size=6),
    unit=st.sampled_from(["slide", "sheet"]),
)
def test_any_marks_leave_the_slices_exact(text: str, places: list[int], unit: str) -> None:
    marks = tuple(
        Mark(at, number, f"S row {number}", unit)
        for number, at in enumerate(sorted(set(places)), 1)
    )
    document = Document(
        "a.pptx", text, marks=marks, language="pptx" if unit == "slide" else "xlsx"
    )
    covered(SlideChunker(size=9), document)
    covered(TableChunker(size=9), document)


MANY = 30_000
HARD = [
    "[" * MANY,
    "{" * MANY,
    '{"a":' * MANY,
    '"' * 10 * MANY,
    '\\"' * 10 * MANY,
    "/*" * 10 * MANY,
    "a: " * MANY,
    "a" + " " * 10 * MANY,
    "a.a" * MANY,
    "'''" * MANY + "'",
    '"""' * MANY + '"',
    "- " * MANY,
    "[a]\n" * MANY,
    "a=1\n" * MANY,
    "#\n" * MANY,
    ',"' * 10 * MANY,
    '"a""b",' * MANY,
    "a,b\n" * MANY,
    " \n" * MANY + "a: b",
    ("  " * 50 + "a:\n") * 5_000,
    "".join(f"{' ' * depth}a:\n" for depth in range(1_500)),
    "[" + "1," * MANY + "1]",
    "'a' => [\n" * 20_000,
    '{"a": [' + '{"b": "c d e"},' * 20_000 + "{}]}",
    "return [\n" + "|\n" * MANY + "'a' => 1",
]


@pytest.mark.parametrize("text", HARD, ids=[repr(text[:8]) for text in HARD])
def test_a_megabyte_of_repeated_text_is_cut_by_keys_and_rows(text: str) -> None:
    for language in ("json", "yaml", "toml", "ini", "php"):
        chunks = KeyChunker().chunk(Document("hard", text, language=language))
        assert sum(len("".join(chunk.text.split())) for chunk in chunks) >= len(
            "".join(text.split())
        )
    assert (
        "".join(chunk.text for chunk in TableChunker().chunk(Document("hard", text))).split()
        or not text.split()
    )


@pytest.mark.parametrize("make", [KeyChunker, OpenApiChunker, TableChunker, SlideChunker])
def test_a_size_of_nothing_is_refused_by_these_too(make: type[KeyChunker]) -> None:
    with pytest.raises(InputError):
        make(size=0)
