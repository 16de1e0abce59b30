"""Messages between processes: framed, complete, and checked against the annotations of a dataclass."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.read.confined_reader import ReadFailure, ReadReply
from ragstone.read.messages import decode, encode, parse, read_message, write_message
from ragstone.types import Document, Mark

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
METADATA = st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=3), max_size=3)


def test_an_empty_stream_has_no_message() -> None:
    assert read_message(BytesIO()) is None


@pytest.mark.parametrize("length", [1, 15, 16, 20, -1])
def test_a_truncated_message_is_an_error(length: int) -> None:
    stream = BytesIO()
    write_message(stream, ["something"], b"bytes")
    with pytest.raises(ValueError, match="truncated"):
        read_message(BytesIO(stream.getvalue()[:length]))


def test_a_message_above_the_limits_is_an_error() -> None:
    with pytest.raises(ValueError, match="too long"):
        read_message(BytesIO(b"\xff" * 16))
    stream = BytesIO()
    write_message(stream, "short", b"x" * 100)
    assert read_message(BytesIO(stream.getvalue()), max_payload=100) == ("short", b"x" * 100)
    with pytest.raises(ValueError, match="too long"):
        read_message(BytesIO(stream.getvalue()), max_payload=99)
    with pytest.raises(ValueError, match="too long"):
        read_message(BytesIO(stream.getvalue()), max_header=5)


@given(TEXTS, TEXTS, METADATA, st.lists(TEXTS))
def test_any_document_survives_encoding(
    text: str, title: str, metadata: dict[str, Any], remarks: list[str]
) -> None:
    marks = tuple(
        Mark(start, number, title, "slide")
        for number, start in enumerate(sorted({0, len(text)}))
    )
    document = Document(
        "u", text, "doc", "odd", title, metadata, marks, beside=title, remarks=tuple(remarks)
    )
    assert decode(Document, parse(encode(document))) == document


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert parse(encode(["a\ud83db"])) == ["a?b"]


@pytest.mark.parametrize("data", [b'"\\ud83d"', b'"\\\\\\uDC00"', b"\xff", b"[" * 9**5, b"{"])
def test_invalid_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse(data)


def test_a_written_escape_is_not_a_surrogate() -> None:
    assert parse(encode("\\ud83d and \\\\ud83d")) == "\\ud83d and \\\\ud83d"


DOCUMENT: list[object] = [
    "u",
    "text",
    "doc",
    "odd",
    "title",
    {"pages": 3},
    [[0, 1, "i", ""]],
    "",
    "a header",
    ["a remark"],
    None,
]


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (2, 7),
        (3, None),
        (4, ["title"]),
        (5, {"a": {"b": 1}}),
        (5, {"a": [[1]]}),
        (5, []),
        (6, [[0, 1, "i"]]),
        (6, [[0.5, 1, "", ""]]),
        (6, [[0, True, "", ""]]),
        (6, [[0, 1, 7, ""]]),
        (6, 7),
        (7, {}),
        (8, 7),
        (9, [7]),
        (9, 7),
        (10, 7),
    ],
)
def test_a_field_of_another_type_is_an_error(position: int, value: object) -> None:
    assert decode(Document, DOCUMENT).marks == (Mark(0, 1, "i"),)
    changed = [*DOCUMENT[:position], value, *DOCUMENT[position + 1 :]]
    with pytest.raises(ValueError, match="expected|match"):
        decode(Document, changed)


def test_a_failure_has_one_of_the_known_reasons() -> None:
    reply = ReadReply(None, ReadFailure("password", "it is locked"))
    assert decode(ReadReply, parse(encode(reply))) == reply
    for failure in (["odd", "x"], [["password"], "x"], ["password", 7], ["password"]):
        with pytest.raises(ValueError, match="match"):
            decode(ReadReply, [None, failure])


def test_metadata_may_be_any_mapping() -> None:
    document = replace(decode(Document, DOCUMENT), metadata={"a": [1, None]})
    assert decode(Document, parse(encode(document))) == document
