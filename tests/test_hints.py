"""Hints can be told at run time, as frameworks for agents do with what they are given as a tool, and cost nothing."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pydantic
import pytest
from agents import function_tool
from langchain_core.tools import StructuredTool
from mcp.server import MCPServer
from pydantic_ai import Tool

import ragstone
from ragstone import Engine, protocols, types
from ragstone.engine import facets
from tests.support.hinted import everything_public, methods_of

TOOLS = (
    *(
        "search",
        "retrieve",
        "ask",
        "context",
        "sync",
        "explain",
        "recall",
        "turns",
        "add",
        "sources",
    ),
    *("memory", "graph", "agents", "admin", "prompts", "external"),
)
ALONE = """
import inspect, sys, typing
from ragstone import Engine
held = inspect.getattr_static(Engine, sys.argv[1])
function = getattr(held, "func", getattr(held, "fget", held))
assert typing.get_type_hints(function)
assert inspect.signature(function, eval_str=True)
"""
LOADED = "import sys, ragstone; ragstone.Engine; print(*sys.modules)"
MOST = 108
"""The number of our modules that an engine may load before its first call."""


def fresh(*arguments: str) -> str:
    """Return what a new interpreter prints."""
    ran = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "note.txt").write_text("the river crosses the valley\n", encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as made:
        yield made


# ── every hint stands for something ───────────────────────────────────────────────────────────────


def test_every_public_hint_is_resolved_where_only_ragstone_was_imported() -> None:
    rows = [
        line.split("\t")
        for line in fresh(str(Path(__file__).with_name("support") / "hinted.py")).splitlines()
    ]
    assert [row for row in rows if row[1]] == []
    told = {row[0] for row in rows}
    assert {
        "Engine.search",
        "Engine.open",
        "Engine.is_empty",
        "Engine.__init__",
        "inject",
        "attachment",
    } <= told
    assert {
        "DocumentStore.search_words",
        "Codec.decode",
        "Embedder",
        "Memory.recall",
        "CodeGraph.related",
    } <= told
    assert {"EventBus.subscribe", "EventLog.write", "Prompts.select", "Settings", "Hit"} <= told
    assert len(told) > 300


@pytest.mark.parametrize("name", TOOLS)
def test_each_verb_is_told_alone_by_a_new_interpreter(name: str) -> None:
    fresh("-c", ALONE, name)


def test_what_hints_name_is_the_public_noun_itself() -> None:
    hints = typing.get_type_hints(Engine.search)
    assert hints["return"] == list[ragstone.Hit]
    assert typing.get_args(hints["options"]) == (types.SearchOptions,)
    assert typing.get_type_hints(Engine.context)["return"] is ragstone.Context
    assert typing.get_type_hints(protocols.Embedder.embed)["return"] == types.Matrix


def test_a_signature_stays_short_enough_to_read() -> None:
    told = str(inspect.signature(Engine.recall))
    assert "-> 'list[types.Recalled]'" in told
    assert "ragstone." not in "".join(
        str(inspect.signature(one)) for one in methods_of(Engine).values()
    )


def test_the_walk_does_find_a_hint_that_only_type_checkers_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.support.hinted import unresolved

    assert unresolved(Engine.search) == ""
    monkeypatch.delitem(Engine.search.__globals__, "types")
    assert (
        unresolved(everything_public()["Engine.search"])
        == "NameError: name 'types' is not defined"
    )


# ── as frameworks do ──────────────────────────────────────────────────────────────────────────────


def named(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters that can be given by name, each with its hint and default, as `create_model` takes them."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    given = inspect.signature(function, eval_str=True).parameters.values()
    return {
        one.name: (one.annotation, ... if one.default is one.empty else one.default)
        for one in given
        if one.kind in kinds and one.name != "self"
    }


def test_arguments_that_a_model_gives_are_checked_by_the_hints_of_a_search(
    engine: Engine,
) -> None:
    model = pydantic.create_model("search", **named(engine.search))
    schema = model.model_json_schema()
    assert schema["required"] == ["query"] and set(schema["properties"]) == {"query", "top_k"}
    engine.sync()
    hits = engine.search(
        **model.model_validate_json('{"query": "river", "top_k": 1}').model_dump()
    )
    assert [hit.source_doc_id for hit in hits] == ["note.txt"]
    with pytest.raises(pydantic.ValidationError):
        model.model_validate({"query": "river", "top_k": "many"})


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="pydantic takes no TypedDict of typing's before 3.12"
)
@pytest.mark.parametrize("name", ["search", "retrieve", "context"])
def test_options_of_a_verb_are_checked_too(name: str) -> None:
    assert pydantic.validate_call(getattr(Engine, name))
    with pytest.raises(pydantic.ValidationError):
        pydantic.validate_call(getattr(Engine, name))(None, "river", collection=7)


@pytest.mark.parametrize(
    "name",
    ["sync", "recall", "turns", "graph.node", "graph.related", "graph.impact", "graph.history"],
)
def test_verbs_without_options_are_validated_by_their_hints(name: str, engine: Engine) -> None:
    assert pydantic.validate_call(attrgetter(name)(engine))


@pytest.mark.parametrize(
    "name", ["recall", "turns", "graph.node", "graph.related", "graph.impact", "graph.history"]
)
def test_a_verb_given_to_a_framework_becomes_a_tool(name: str, engine: Engine) -> None:
    verb = attrgetter(name)(engine)
    wanted = set(inspect.signature(verb).parameters)
    assert set(StructuredTool.from_function(verb).args) == wanted
    assert set(Tool(verb).function_schema.json_schema["properties"]) == wanted
    assert (
        set(function_tool(verb, strict_mode=False).params_json_schema["properties"]) == wanted
    )


def test_a_server_for_tools_answers_with_a_verb_as_it_is(engine: Engine) -> None:
    engine.remember("monday", "user", "the river crosses the valley")
    server = MCPServer("ours")
    server.add_tool(engine.recall)
    answer: Any = asyncio.run(
        server.call_tool("recall", {"session_id": "monday", "query": "river"})
    )
    assert [one["turn"]["index"] for one in answer.structured_content["result"]] == [0]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in dir(types)
        if isinstance(getattr(types, name), type)
        and dataclasses.is_dataclass(getattr(types, name))
    ],
)
def test_every_noun_has_a_schema_that_an_answer_of_a_web_service_can_be_declared_with(
    name: str,
) -> None:
    schema = pydantic.TypeAdapter(getattr(types, name)).json_schema()
    assert schema["title"] == name or f"/{name}" in schema["$ref"]


# ── and it costs nothing ──────────────────────────────────────────────────────────────────────────


def test_an_engine_loads_no_facet_and_nothing_heavy() -> None:
    loaded = set(fresh("-c", LOADED).split())
    facets = {
        f"ragstone.engine.{name}"
        for name in ("admin", "agents", "external", "graph", "memory", "prompts")
    }
    assert "ragstone.engine.facets" in loaded
    assert (
        loaded
        & (facets | {"numpy", "onnxruntime", "httpx2", "tree_sitter", "ragstone.testing"})
        == set()
    )
    assert len([name for name in loaded if name.partition(".")[0] == "ragstone"]) <= MOST


def test_an_unknown_facet_or_type_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Wacher'"):
        _ = facets.Wacher
    with pytest.raises(AttributeError, match="no attribute 'Matrices'"):
        _ = types.Matrices
