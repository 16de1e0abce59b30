"""Tables are cut between rows, and every later chunk has the column names as its header."""

from __future__ import annotations

import csv
import io

import pytest

from ragstone.chunk.tables import TableChunker, find_row_starts
from ragstone.types import Chunk, Document, Mark


def cut(text: str, language: str = "csv", size: int = 40) -> list[Chunk]:
    return TableChunker(size=size).chunk(
        Document(f"a.{language}", text, kind="data", language=language)
    )


def test_the_row_of_names_is_repeated_in_every_header() -> None:
    chunks = cut("id,name,city\n" + "".join(f"{at},name {at},Town {at}\n" for at in range(40)))
    assert len(chunks) > 5
    assert chunks[0].header == "" and chunks[0].text.startswith("id,name,city\n0,")
    assert {chunk.header for chunk in chunks[1:]} == {"id,name,city"}
    assert [chunk.span.line_start for chunk in chunks[1:]] == [
        chunk.span.line_end + 1 for chunk in chunks[:-1]
    ]


def test_a_row_over_several_lines_is_never_parted() -> None:
    text = "id,note\n" + "".join(
        f'{at},"first ""{at}""\nsecond, {at}\n\nthird"\n' for at in range(30)
    )
    for chunk in cut(text):
        rows = list(csv.reader(io.StringIO(chunk.text)))
        assert all(len(row) == 2 for row in rows)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("name;size\na;1\nb;2\n", "name;size"),
        ("name|size\na|1\nb|2\n", "name|size"),
        ("name\tsize\na\t1\nb\t2\n", "name\tsize"),
        ("1,2\n3,4\n5,6\n", ""),
        ("a,a\n1,2\n3,4\n", ""),
        ("a,\n1,2\n3,4\n", ""),
        ("2024-01-01,x\n2024-01-02,y\n", ""),
        ("one column\nof words\nonly\n", ""),
        ('"a, b",c\n1,2\n3,4\n', '"a, b",c'),
    ],
)
def test_only_a_row_that_names_columns_is_a_header(text: str, header: str) -> None:
    chunks = cut(text + text.split("\n")[1] * 30 + "\n" + text, size=8)
    assert chunks[-1].header == header


def test_a_quote_that_is_left_open_does_not_swallow_the_table() -> None:
    assert find_row_starts('a,b\n5" pipe,1\n6,2\n', ",") == [0, 4, 14]
    assert find_row_starts('a,b\n"5\n6",2\n7,8', ",") == [0, 4, 12]
    assert find_row_starts("", ",") == []


def test_a_chunk_of_a_workbook_begins_at_a_mark_and_names_sheet_and_columns() -> None:
    text, marks = "# Costs\n\nName | Sum\n", [Mark(0, 1, "Costs row 1", "sheet")]
    for at in range(2, 60):
        if at % 4 == 0:
            marks.append(Mark(len(text), 1, f"Costs row {at}", "sheet"))
        text += f"item {at} | {at}\n"
    second = len(text) + 1
    text += "\n# Other\n\nfree words\n"
    marks.append(Mark(second, 2, "Other row 1", "sheet"))
    document = Document("a.xlsx", text, kind="data", language="xlsx", marks=tuple(marks))
    chunks = TableChunker(size=60).chunk(document)
    assert {chunk.span.start for chunk in chunks} <= {mark.start for mark in marks}
    assert {chunk.header for chunk in chunks} == {"", "Costs > Name | Sum"}
    assert (
        chunks[-1].text == "# Other\n\nfree words"
        and chunks[-1].span.page_label == "Other row 1"
    )
    for chunk in chunks[1:-1]:
        assert chunk.text.startswith(f"item {chunk.span.page_label.rpartition(' ')[2]} |")
