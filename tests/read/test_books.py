"""Books and notebooks: chapters and cells in order, each with a mark for citations."""

from __future__ import annotations

import json

import pytest

from ragstone.errors import ReadError
from ragstone.read import epub as book
from ragstone.read.notebook import read
from ragstone.types import Mark
from tests.read.office_files import epub, notebook, zipped


def page(body: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{body}</body></html>'


def test_chapters_come_in_reading_order_with_their_names() -> None:
    data = epub(
        {
            "b": page("<h1>Second</h1><p>Then.</p>"),
            "a": page("<p>It began.</p>"),
            "cover": page("<img/>"),
        },
        ["cover", "a", "b"],
        {"a": "Chapter 1: The start"},
    )
    document = book.read(data, "a.epub")
    assert document.text == "# Chapter 1: The start\n\nIt began.\n\n# Second\n\nThen.\n\n"
    assert document.marks == (
        Mark(0, 1, "Chapter 1: The start", "chapter"),
        Mark(document.text.index("# Second"), 2, "Second", "chapter"),
    )
    assert (document.title, document.kind) == ("The Book", "doc")


def test_names_of_chapters_come_from_an_older_table_of_contents_too() -> None:
    ncx = (
        "<!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://x'><ncx><navMap><navPoint><navLabel><text>One</text>"
        "</navLabel><content src='c.html#x'/></navPoint></navMap></ncx>"
    )
    opf = (
        "<package><manifest><item id='c' href='c.html' media-type='text/html'/><item id='n' href='t.ncx' "
        "media-type='application/x-dtbncx+xml'/></manifest><spine><itemref idref='c'/><itemref idref='none'/></spine>"
        "</package>"
    )
    document = book.read(
        zipped({"a.opf": opf, "t.ncx": ncx, "c.html": page("<p>x</p>")}), "a.epub"
    )
    assert document.text == "# One\n\nx\n\n" and document.marks[0].label == "One"


def test_a_protected_book_is_refused_and_one_with_only_fonts_mangled_is_read() -> None:
    def locked(algorithm: str) -> bytes:
        encryption = (
            f"<e><EncryptedData><EncryptionMethod Algorithm='{algorithm}'/></EncryptedData></e>"
        )
        opf = "<package><manifest><item id='c' href='c.html'/></manifest><spine><itemref idref='c'/></spine></package>"
        return zipped(
            {"META-INF/encryption.xml": encryption, "a.opf": opf, "c.html": page("<p>x</p>")}
        )

    with pytest.raises(ReadError) as refused:
        book.read(locked("http://www.w3.org/2001/04/xmlenc#aes128-cbc"), "a.epub")
    assert refused.value.reason == "password"
    assert book.read(locked("http://www.idpf.org/2008/embedding"), "a.epub").text == "x\n\n"


def test_cells_are_in_order_with_code_and_output_between_fences() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "\n", "Some words."]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "code", "source": "x = 1\nprint(x)", "outputs": [
            {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
            {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["long"]},
        ]},
    ]  # fmt: skip
    document = read(notebook(cells, "Python"), "a.ipynb")
    assert document.text == (
        "# Study\n\nSome words.\n\n```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n\n```text\n<Figure>\n```\n\n"
        "```text\nValueError: no\n```\n"
    )
    assert document.marks == (
        Mark(0, 1, "", "cell"),
        Mark(document.text.index("```python"), 3, "", "cell"),
    )
    assert (document.kind, document.language, document.title) == ("notebook", "python", "Study")


def test_a_notebook_of_the_third_format_is_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Old"},
                                     {"cell_type": "code", "input": "1 + 1", "language": "python"}]}]}  # fmt: skip
    assert read(json.dumps(old).encode(), "a.ipynb").text == "## Old\n\n```python\n1 + 1\n```\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"cells": 5}',
        b'{"worksheets": [3]}x',
        b"\xff\xfe\x00",
        b"[" * 10**5,
    ],
)
def test_a_file_that_is_not_a_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(ReadError):
        read(data, "a.ipynb")


@pytest.mark.parametrize(
    "cell",
    [None, 5, {}, {"cell_type": 1}, {"cell_type": "code", "source": 5, "outputs": 5},
     {"cell_type": "code", "outputs": [None, {"data": 5}, {"text": 5}, {"data": {"text/plain": [1, None]}}]}],
)  # fmt: skip
def test_a_cell_of_nonsense_is_an_empty_one(cell: object) -> None:
    assert read(notebook([cell]), "a.ipynb").text == ""
