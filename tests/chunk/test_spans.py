"""The span of a chunk: characters, bytes, lines and page."""

from __future__ import annotations

from ragstone.chunk.spans import TextSlice, build_chunks
from ragstone.types import Document, Mark


def test_blank_lines_fall_off_and_indentation_stays() -> None:
    text = "\n  \n    indented\n  more  \n\n"
    (chunk,) = build_chunks(Document("a", text), [TextSlice(0, len(text))])
    assert chunk.text == "    indented\n  more"
    assert (chunk.span.start, chunk.span.line_start, chunk.span.line_end) == (4, 3, 4)


def test_a_cut_inside_a_line_loses_its_leading_space() -> None:
    (chunk,) = build_chunks(Document("a", "one   two"), [TextSlice(3, 9)])
    assert (chunk.text, chunk.span.start) == ("two", 6)


def test_bytes_are_those_of_utf_8() -> None:
    text = "é\n字 👍\nz"
    first, second = build_chunks(
        Document("a", text), [TextSlice(0, 2), TextSlice(2, len(text))]
    )
    data = text.encode()
    assert data[first.span.byte_start : first.span.byte_end].decode() == first.text
    assert data[second.span.byte_start : second.span.byte_end].decode() == second.text
    assert second.span.line_end == 3


def test_windows_line_ends_count_once_and_a_lone_return_does_not() -> None:
    text = "a\r\nb\rc\nd"
    chunks = build_chunks(
        Document("a", text), [TextSlice(0, 3), TextSlice(3, 7), TextSlice(7, 8)]
    )
    assert [(chunk.span.line_start, chunk.span.line_end) for chunk in chunks] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_the_page_is_that_of_the_chunks_first_character() -> None:
    document = Document("a", "front one two", marks=(Mark(10, 2, "ii"), Mark(6, 1, "i")))
    chunks = build_chunks(document, [TextSlice(0, 5), TextSlice(6, 9), TextSlice(9, 13)])
    assert [(chunk.span.page, chunk.span.page_label) for chunk in chunks] == [
        (None, ""),
        (1, "i"),
        (2, "ii"),
    ]


def test_a_cut_that_another_holds_is_left_out() -> None:
    chunks = build_chunks(
        Document("a", "one two   "), [TextSlice(0, 7), TextSlice(4, 10), TextSlice(7, 10)]
    )
    assert [chunk.text for chunk in chunks] == ["one two"]


def test_chunks_take_the_documents_kind_unless_the_cut_says_another() -> None:
    chunks = build_chunks(
        Document("a", "one two", kind="note"),
        [TextSlice(0, 3), TextSlice(4, 7, kind="other", symbol="s", header="h")],
    )
    assert [chunk.kind for chunk in chunks] == ["note", "other"]
    assert (chunks[1].symbol, chunks[1].header) == ("s", "h")
