from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ReadError
from ragstone.protocols import Reader
from ragstone.read.choose_reader import reader_for
from ragstone.read.plain import PlainReader, find_heading
from ragstone.types import Document


def test_a_document_is_the_file_as_it_is() -> None:
    reader: Reader = reader_for("docs/a.md")
    text = "intro\r\n\r\n# The title #\r\ntext\r\n"
    assert reader.read(text.encode(), "docs/a.md") == Document(
        "docs/a.md", text, "doc", "markdown", "The title"
    )


def test_the_mark_is_not_text_and_the_encoding_is_remembered() -> None:
    reader = PlainReader()
    assert reader.read(codecs.BOM_UTF8 + b"# Hi", "a.md").title == "Hi"
    wide = reader.read("x = 'é'".encode("utf-16"), "a.py")
    assert (wide.text, wide.metadata) == ("x = 'é'", {"encoding": "utf-16-le"})
    assert reader.read(b"x", "a.py").metadata == {}


def test_binary_bytes_are_never_half_a_document() -> None:
    with pytest.raises(ReadError, match="binary file"):
        PlainReader().read(b"good text, then \0 not", "a.txt")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n# Two", "One"),
        ("Title\n=====\n", "Title"),
        ("Title\n-----\n", "Title"),
        ("```\n# not a heading\n```\n## Yes", "Yes"),
        ("~~~\n```\n# no\n~~~\n# Yes", "Yes"),
        ("---\ntitle: 'From the front'\n---\n# Body", "From the front"),
        ("---\ntags:\n - a\n---\n# Body", "Body"),
        ("- item\n---\n# Body", "Body"),
        ("#no space\n", ""),
        ("    # indented code\n", ""),
        ("text only", ""),
        ("", ""),
        ("---\nnever closed", ""),
    ],
)
def test_the_title_is_the_first_heading(text: str, title: str) -> None:
    assert find_heading(text) == title


@given(st.text(alphabet="#`~-= \n\tab:", max_size=200))
def test_no_text_breaks_the_search_for_a_title(text: str) -> None:
    assert find_heading(text) == find_heading(text).strip()


def test_a_file_without_a_heading_is_called_by_its_name() -> None:
    assert PlainReader().read(b"x", "deep/down/a.py").title == "a.py"
