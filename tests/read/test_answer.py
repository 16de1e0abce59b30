"""An answer of the process that reads is checked before it is believed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.read.answer import MOST_TEXT, READ, hear_document, hear_failure, tell_document, tell_failure
from ragstone.types import Document, Mark

SOUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | SOUND


@given(SOUND, SOUND, st.dictionaries(SOUND, SCALARS | st.lists(SCALARS, max_size=3), max_size=3), st.lists(SOUND))
def test_what_is_told_is_heard(text: str, title: str, metadata: dict[str, Any], remarks: list[str]) -> None:
    marks = tuple(Mark(at, number, title, "slide") for number, at in enumerate(sorted({0, len(text)})))
    told = Document("u", text, "doc", "odd", title, metadata, marks, beside=title, remarks=tuple(remarks))
    (verdict, *fields), blob = tell_document(told)
    assert verdict == READ
    assert hear_document("u", blob.decode(), fields) == told


GOOD: list[Any] = ["doc", "odd", "title", {"pages": 3}, [[0, 1, "i", ""], [3, 2, "ii", ""]], "", ["a remark"]]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, 7),
        (1, None),
        (2, ["title"]),
        (3, {"a": {"b": 1}}),
        (3, {"a": [[1]]}),
        (3, []),
        (4, [[0, 1, "i"]]),
        (4, [[0.5, 1, "", ""]]),
        (4, [[0, True, "", ""]]),
        (4, [[-1, 1, "", ""]]),
        (4, [[5, 1, "", ""]]),
        (4, [[3, 1, "", ""], [2, 2, "", ""]]),
        (4, [[0, 1, 7, ""]]),
        (4, 7),
        (5, {}),
        (6, [7]),
        (6, 7),
    ],
)
def test_a_document_that_makes_no_sense_is_an_error(place: int, value: object) -> None:
    assert hear_document("u", "text", GOOD).marks[1].label == "ii"
    fields = [*GOOD[:place], value, *GOOD[place + 1 :]]
    with pytest.raises((ValueError, TypeError, AttributeError)):
        hear_document("u", "text", fields)


def test_a_failure_has_one_of_the_known_reasons() -> None:
    (reason, *fields), _ = tell_failure("password", "it is locked")
    assert (hear_failure(reason, fields).reason, hear_failure(reason, fields).message) == ("password", "it is locked")
    for reason, fields in (("odd", ["x"]), (["password"], ["x"]), ("password", [7]), ("password", [])):
        with pytest.raises(ValueError, match="none"):
            hear_failure(reason, fields)


def test_a_text_above_the_limit_is_not_told() -> None:
    fields, blob = tell_document(Document("u", "x" * (MOST_TEXT + 1)))
    assert (fields[0], blob) == ("too-big", b"")


def test_a_long_message_and_a_long_title_are_cut() -> None:
    assert len(hear_failure("damaged", ["x" * 10**6]).message) <= 2000
    assert len(hear_document("u", "", [*GOOD[:2], "t" * 10**6, {}, [], "", ["r" * 10**6]]).title) <= 1000
