"""A conversation as JSON lines: exported lines are read back, damaged ones are refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.memory.jsonl import export_lines, read_lines
from ragstone.types import Turn

HEAD = '{"ragstone_session":1,"session":"s"}'
texts = st.text(min_size=1).filter(str.strip)


@given(
    st.lists(
        st.tuples(
            texts,
            texts,
            st.floats(-1e9, 1e11),
            st.text(),
            st.dictionaries(st.text(), st.integers()),
        )
    )
)
def test_every_conversation_comes_back(
    rows: list[tuple[str, str, float, str, dict[str, int]]],
) -> None:
    turns = [
        Turn(
            "s",
            n * 2,
            role,
            content,
            time,
            speaker,
            about,
            (n,) if n % 3 else (),
            "so" if n % 3 else "",
        )
        for n, (role, content, time, speaker, about) in enumerate(rows)
    ]
    lines = list(export_lines("s", turns))
    assert read_lines(lines) == turns
    assert [turn.session for turn in read_lines(lines, "t")] == ["t"] * len(turns)


def row(**changes: object) -> str:
    return json.dumps({"turn": 1, "role": "user", "time": 1.0, "content": "x", **changes})


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["[]"],
        ["{}"],
        ['{"ragstone_export":1}'],
        ["[" * 100_000],
        [HEAD, "nonsense"],
        [HEAD, "5"],
        [HEAD, "{}"],
        [HEAD, row(turn=-1)],
        [HEAD, row(turn=True)],
        [HEAD, row(turn=10**9)],
        [HEAD, row(), row()],
        [HEAD, row(time="noon")],
        [HEAD, row(time=1e300)],
        [HEAD, row(time=float("nan"))],
        [HEAD, row(content=" ")],
        [HEAD, row(role=None)],
        [HEAD, row(speaker=5)],
        [HEAD, row(metadata=[])],
        [HEAD, row(supersedes=[1])],
        [HEAD, row(supersedes="0")],
    ],
)
def test_a_damaged_line_is_refused_with_its_number(lines: list[str]) -> None:
    with pytest.raises(InputError, match=r"line \d|no conversation"):
        read_lines(lines)
