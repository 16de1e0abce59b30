"""Replies of other servers become passages, whatever their fields are called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.remote.replies import MAX_CHARACTERS, MAX_PASSAGES, read_passages
from ragstone.types import RemotePassage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "results text content metadata path lines score page citation".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"text": "a", "path": "x.md", "lines": [3, 9]}, ("x.md", 3, 9)),
        ({"content": "a", "file": "x.md", "lines": "3-9"}, ("x.md", 3, 9)),
        ({"snippet": "a", "uri": "x.md", "lines": {"start": 3, "end": 9}}, ("x.md", 3, 9)),
        ({"text": "a", "source": "x.md", "line_start": 3, "line_end": 9}, ("x.md", 3, 9)),
        ({"text": "a", "filename": "x.md", "line": "3"}, ("x.md", 3, 3)),
        ({"text": "a", "path": "x.md", "citation": "x.md:3-9"}, ("x.md", 3, 9)),
        ({"page_content": "a", "metadata": {"source": "x.md"}}, ("x.md", None, None)),
        ({"content": [{"type": "text", "text": "a"}], "id": "x.md"}, ("x.md", None, None)),
        ({"document": {"text": "a"}, "doc_id": "x.md"}, ("x.md", None, None)),
        ("a", ("", None, None)),
    ],
)
def test_fields_are_read_under_many_names(
    result: object, expected: tuple[str, int | None, int | None]
) -> None:
    for reply in ({"results": [result]}, {"data": {"hits": [result]}}, [result]):
        (passage,) = read_passages(reply, [])
        assert (passage.text, passage.path) == ("a", expected[0])
        assert (passage.line_start, passage.line_end) == expected[1:]
        (from_text,) = read_passages(None, [json.dumps(reply)])
        assert from_text == passage


def test_scores_pages_and_metadata_are_read() -> None:
    result = {
        "text": "a",
        "distance": 0.25,
        "page": 4,
        "title": "Stones",
        "metadata": {"year": 1901, "tags": ["x"], "open": True},
    }
    (passage,) = read_passages({"passages": [result]}, [])
    assert passage == RemotePassage(
        "a", page=4, score=0.75, title="Stones", metadata={"year": 1901, "open": True}
    )


def test_text_that_is_no_json_is_a_passage_for_each_block() -> None:
    passages = read_passages(None, ["[1] first", "second", "  "])
    assert [passage.text for passage in passages] == ["[1] first", "second"]


def test_results_without_text_are_left_out_and_long_ones_are_cut() -> None:
    results: list[Any] = [{"path": "x"}, {"text": " "}, None, 3, {"text": "y" * 200_000}]
    (passage,) = read_passages(results, [])
    assert len(passage.text) == MAX_CHARACTERS
    assert len(read_passages(["z"] * 5000, [])) == MAX_PASSAGES


@given(JSON, st.lists(st.text(max_size=30), max_size=3))
def test_any_reply_gives_passages_with_text(structured: object, texts: list[str]) -> None:
    for passage in read_passages(structured, texts):
        assert passage.text.strip()
        assert passage.line_start is None or passage.line_start > 0
