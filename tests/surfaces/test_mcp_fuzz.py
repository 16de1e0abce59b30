"""Every tool with arguments made from its schema, right and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone import Engine
from ragstone.surfaces.tools import ALL_TOOLS
from ragstone.surfaces.tools.tool import MAX_DATA_TOKENS, MAX_TEXT_TOKENS, Tool, limit_answer
from ragstone.text.tokens import at_most


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values for an argument: mostly of its type, some of any other."""
    by_type: dict[str, st.SearchStrategy[Any]] = {
        "string": st.sampled_from(
            ["gondola", "a.md", "a.md:1-9", "s", "../x", "\0", "\n", "é" * 300]
        )
        | st.text(max_size=20),
        "integer": st.integers(-2, 400),
        "number": st.floats(-1, 2),
        "boolean": st.booleans(),
        "array": st.lists(st.sampled_from(["code", "docs/**", ""]), max_size=3),
        "object": st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)),
    }
    wrong: st.SearchStrategy[Any] = st.sampled_from(
        [None, True, -1, 1.5, "", [], {}, [1], "x" * 5000]
    )
    return by_type[schema["type"]] | by_type[schema["type"]] | wrong


@pytest.fixture(scope="module")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "a.md").write_text("# Gondola\n\nThe gondola crosses the lagoon.\n" * 30)
    (folder / "b.py").write_text("def moor(boat):\n    return boat\n")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        engine.remember("s", "user", "The bell rings.")
        yield engine


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_arguments_make_a_tool_raise_or_exceed_its_limits(
    tool: Tool, shared_engine: Engine, data: st.DataObject
) -> None:
    arguments = {
        name: data.draw(values(dict(schema)), label=name)
        for name, schema in tool.properties.items()
        if name in tool.required or data.draw(st.booleans())
    }
    answer = limit_answer(tool(shared_engine, arguments))
    assert isinstance(answer.data["success"], bool)
    assert answer.text
    assert at_most(answer.text) <= MAX_TEXT_TOKENS
    assert at_most(json.dumps(answer.data, ensure_ascii=False)) <= MAX_DATA_TOKENS
    if answer.failed:
        assert answer.data["error"]["message"]
