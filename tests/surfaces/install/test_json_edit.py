"""Edits of JSON with comments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.surfaces.install.json_edit import parse_json, remove_member, set_member

PATH = ("mcpServers", "ragstone")
ENTRY = {"command": "ragstone", "args": ["mcp"]}

KEYS = st.text(min_size=1, max_size=8).filter(lambda key: key not in PATH)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


def with_comments(text: str) -> str:
    """Return the text with a comment wherever a line ends."""
    lines = text.split("\n")
    return "\n".join(f"{line} // line {number} {{" for number, line in enumerate(lines))


@given(
    data=OBJECTS,
    others=OBJECTS,
    has_servers=st.booleans(),
    indent=INDENTS,
    commented=st.booleans(),
)
def test_a_member_is_added_and_removed_and_all_else_stays(
    data: dict[str, Any],
    others: dict[str, Any],
    has_servers: bool,
    indent: int | str | None,
    commented: bool,
) -> None:
    if has_servers:
        data = {**data, "mcpServers": others}
    text = json.dumps(data, indent=indent)
    if commented:
        text = "/* settings */\n" + with_comments(text) + "\n"
    changed = set_member(text, PATH, ENTRY)
    expected = {**data, "mcpServers": {**data.get("mcpServers", {}), "ragstone": ENTRY}}
    assert parse_json(changed) == expected
    assert changed.count("// line") == text.count("// line")
    assert set_member(changed, PATH, ENTRY) == changed
    removed = parse_json(remove_member(changed, PATH))
    if not others:
        data = {key: value for key, value in data.items() if key != "mcpServers"}
    assert removed == data


def test_a_comment_and_a_trailing_comma_stay_where_they_are() -> None:
    text = '{\n  // mine\n  "servers": {\n    "a": {"command": "a"}, // keep\n  },\n}\n'
    changed = set_member(text, ("servers", "ragstone"), {"command": "r"})
    assert changed == (
        '{\n  // mine\n  "servers": {\n    "ragstone": {\n      "command": "r"\n    },\n'
        '    "a": {"command": "a"}, // keep\n  },\n}\n'
    )
    assert remove_member(changed, ("servers", "ragstone")) == text


def test_the_last_member_leaves_without_its_comma() -> None:
    text = '{"a": {"x": 1, "ragstone": 2}}'
    assert parse_json(remove_member(text, ("a", "ragstone"))) == {"a": {"x": 1}}


@pytest.mark.parametrize(
    "text", ["[", '{"a": ', '{"a" 1}', "{'a': 1}", '{"a": "', "{} {}", "/* open"]
)
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        set_member(text, PATH, ENTRY)


@pytest.mark.parametrize("text", ["[]", '"text"', '{"mcpServers": []}', '{"mcpServers": null}'])
def test_another_value_in_the_place_of_an_object_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="another value"):
        set_member(text, PATH, ENTRY)
