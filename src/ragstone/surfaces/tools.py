"""Tools for agents: what each is called, what it takes, and what it answers, the same through every door.

A tool never raises for what a model says: a wrong argument is answered in a sentence that helps it to ask again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragstone.engine import Engine
from ragstone.errors import InputError, RagstoneError
from ragstone.retrieval.context.fence import neutral
from ragstone.retrieval.context.layout import line as one_line
from ragstone.surfaces import present
from ragstone.text.tokens import at_most
from ragstone.types import Context, Recalled

SEARCH_TOKENS: Final = 2000
CONTEXT_TOKENS: Final = 1500
MOST_TOKENS: Final = 8000
"""No answer's text is longer, whatever is asked for."""
DATA_TOKENS: Final = 4000
"""Nor is what a program gets beside the text."""
_CUT: Final = "…"
NOTE_TOKENS: Final = 100
"""What is said about the index behind an answer."""
_LONGEST_TOKEN: Final = 16
"""Characters that a token has at most, nearly always: where the search for a cut begins."""
_DESCRIPTION: Final = 1000
"""Characters of a description that a settings file gives."""
SECONDS: Final = 30
"""A tool that reads should have answered within this time."""

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: text for a model, the same as data for a program."""

    text: str
    data: present.Json = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its schema, and what it does with an engine and checked arguments."""

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    run: Callable[[Engine, Mapping[str, Any]], Answer]
    output: Schema = field(default_factory=dict)
    read_only: bool = True

    @property
    def parameters(self) -> Schema:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }

    def openai(self) -> Schema:
        """Return it as OpenAI's function calling wants it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def anthropic(self) -> Schema:
        """Return it as Anthropic's tool use wants it."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}

    def mcp(self) -> Schema:
        """Return it as the Model Context Protocol wants it."""
        about = {"readOnlyHint": self.read_only, "destructiveHint": False, "openWorldHint": False}
        shown = {"name": self.name, "description": self.description, "inputSchema": self.parameters}
        return {**shown, "annotations": about, **({"outputSchema": self.output} if self.output else {})}

    def __call__(self, engine: Engine, arguments: Mapping[str, Any]) -> Answer:
        """Return the answer; a failure is an answer too."""
        try:
            return self.run(engine, _checked(self, arguments))
        except RagstoneError as error:
            return Answer(str(error), {"success": False, "error": present.failure(error)}, failed=True)


def within(answer: Answer, note: str = "") -> Answer:
    """Return an answer that is no longer than any may be, with a note about the index behind it."""
    note = cut(note, NOTE_TOKENS)
    told = f"\n({note})" if note else ""
    text = cut(answer.text, MOST_TOKENS) + told
    return replace(answer, text=text, data=_data({**answer.data, **({"index": note} if note else {})}))


def _data(data: present.Json) -> present.Json:
    """Return an answer's data, the last results left out where they are too long."""
    results = data.get("results", [])
    kept, out = len(results), data.get("left_out", 0)
    while kept and _size(data) > DATA_TOKENS:
        kept = min(kept - 1, kept * 3 // 4)
        data = {**data, "results": results[:kept], "left_out": len(results) - kept + out}
    return (
        data if _size(data) <= DATA_TOKENS else {"success": data.get("success", False), "note": "too long to be told"}
    )


def cut(text: str, tokens: int) -> str:
    """Return the beginning of a text that is at most so many tokens long; what was cut off is seen to be."""
    if at_most(text) <= tokens:
        return text
    length = min(len(text), tokens * _LONGEST_TOKEN)
    while length and at_most(f"{text[:length]}{_CUT}") > tokens:
        length = min(length - 1, int(length * 0.95 * tokens / at_most(text[:length])))
    return f"{text[:length]}{_CUT}" if length else ""


def _size(data: present.Json) -> int:
    return at_most(json.dumps(data, ensure_ascii=False, default=str))


def bound(engine: Engine, tools: Sequence[Tool]) -> dict[str, Callable[..., str]]:
    """Return tools as plain functions of one engine: `tools["rag_search"](query="…")` gives text."""

    def made(tool: Tool) -> Callable[..., str]:
        def call(**arguments: Any) -> str:
            return tool(engine, arguments).text

        call.__name__, call.__doc__ = tool.name, tool.description
        return call

    return {tool.name: made(tool) for tool in tools}


# ── the tools ─────────────────────────────────────────────────────────────────────────────────────


def _rag_search(engine: Engine, given: Mapping[str, Any]) -> Answer:
    filters = {key: given[key] for key in ("path", "kind") if given.get(key)}
    made = engine.context(
        given["query"],
        given.get("max_tokens", SEARCH_TOKENS),
        format="tool",
        top_k=given.get("top_k", engine.settings.search.top_k),
        filters=filters or None,
    )
    return Answer(made.text, _found(made))


def _search_documents(engine: Engine, given: Mapping[str, Any]) -> Answer:
    made = engine.context(given["query"], SEARCH_TOKENS, format="documents", top_k=engine.settings.search.top_k)
    return Answer(made.text, _found(made))


def _rag_context(engine: Engine, given: Mapping[str, Any]) -> Answer:
    budget = given.get("token_budget", CONTEXT_TOKENS)
    made = engine.context(given["task"], budget, session=given.get("session_id"))
    text = made.text or made.question or "Nothing was found."
    return Answer(text, {**_found(made), "needs_clarification": made.needs_clarification, "question": made.question})


def _memory_add(engine: Engine, given: Mapping[str, Any]) -> Answer:
    session, role = given["session_id"], given.get("role", "user")
    index = engine.remember(session, role, given["content"], speaker=given.get("speaker", ""))
    data = {"success": index >= 0, "session_id": session, "turn_index": index, "role": role}
    return Answer(f"Remembered as turn {index}." if index >= 0 else "Memory is switched off.", data)


def _memory_search(engine: Engine, given: Mapping[str, Any]) -> Answer:
    found = engine.recall(given["session_id"], given["query"], given.get("top_k", 5))
    lines: list[str] = []
    results: list[present.Json] = []
    for one in found:
        line = _spoken(one)
        room = SEARCH_TOKENS - at_most("\n".join(lines)) - 1
        if lines and at_most(line) > room:
            break
        lines.append(cut(line, room))
        results.append({**present.recalled(one), "content": cut(one.turn.content, room)})
    text = "\n".join(lines) or "Nothing that was said answers that."
    left = {"left_out": len(found) - len(lines)} if len(lines) < len(found) else {}
    return Answer(text, {"success": True, "session_id": given["session_id"], "results": results, **left})


def _spoken(one: Recalled) -> str:
    """Return a turn as a model reads it: no line of it can pose as another turn."""
    who = one_line(one.turn.speaker or one.turn.role)
    stale = f", superseded by turn {one.superseded_by}" if one.superseded_by is not None else ""
    said = neutral(one.turn.content).strip("\n").replace("\n", "\n   ")
    return f"[turn {one.turn.index}, {who}{stale}] {said}"


def _found(made: Context) -> present.Json:
    """Return what a search found as data: places and scores; the texts are in the answer's text."""
    cited = [
        {
            "place": one.place,
            "doc_id": one.doc_id,
            "score": round(one.score, 4),
            "lines": [one.span.line_start, one.span.line_end],
        }
        for one in made.cited
    ]
    return {"success": True, "results": cited, "tokens": made.tokens, "notes": list(made.notes)}


_QUERY: Final[Schema] = {
    "type": "string",
    "description": "What to look for, as a question or as key words.",
    "minLength": 1,
}
_SESSION: Final[Schema] = {
    "type": "string",
    "description": "The conversation's name.",
    "minLength": 1,
    "maxLength": 200,
}
_RESULTS: Final[Schema] = {
    "type": "object",
    "properties": {"success": {"type": "boolean"}, "results": {"type": "array", "items": {"type": "object"}}},
    "required": ["success"],
}

RAG_SEARCH: Final = Tool(
    "rag_search",
    "Search the project's code and documents by words and by meaning. Returns passages with the file they stand in.",
    {
        "query": _QUERY,
        "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Passages at most."},
        "path": {"type": "string", "description": "Only files whose path matches this glob, such as docs/**."},
        "kind": {"type": "string", "description": "Only this kind: code, doc, readme, adr, config …"},
        "max_tokens": {"type": "integer", "minimum": 100, "maximum": MOST_TOKENS, "description": "Length at most."},
    },
    ("query",),
    _rag_search,
    _RESULTS,
)
RAG_CONTEXT: Final = Tool(
    "rag_context",
    "Get what is known about a task as one cited block inside a token budget, ready to work from.",
    {
        "task": {"type": "string", "description": "What you are about to do.", "minLength": 1},
        "token_budget": {"type": "integer", "minimum": 100, "maximum": MOST_TOKENS},
        "session_id": {**_SESSION, "description": "Leave out what this session was given before."},
    },
    ("task",),
    _rag_context,
    _RESULTS,
)
MEMORY_ADD: Final = Tool(
    "rag_memory_add",
    "Remember something that was said or decided, word for word, so that it can be found in later sessions.",
    {
        "session_id": _SESSION,
        "content": {"type": "string", "description": "What to remember.", "minLength": 1},
        "role": {"type": "string", "description": "Who said it: user or assistant.", "minLength": 1},
        "speaker": {"type": "string", "description": "The name of who said it."},
    },
    ("session_id", "content"),
    _memory_add,
    {**_RESULTS, "properties": {"success": {"type": "boolean"}, "turn_index": {"type": "integer"}}},
    read_only=False,
)
MEMORY_SEARCH: Final = Tool(
    "rag_memory_search",
    "Find what was said in a conversation, by words, by meaning and by when it was said.",
    {"session_id": _SESSION, "query": _QUERY, "top_k": {"type": "integer", "minimum": 1, "maximum": 50}},
    ("session_id", "query"),
    _memory_search,
    _RESULTS,
)
DEFAULT_TOOLS: Final = (RAG_SEARCH, RAG_CONTEXT, MEMORY_ADD, MEMORY_SEARCH)


def search_documents(description: str = "", param_query: str = "") -> Tool:
    """Return the tool `search_documents`, its texts as the settings say."""
    query = {"type": "string", "description": _told(param_query) or "The question or key words to search for."}
    about = _told(description) or "Search the knowledge base of documents and return the passages that answer."
    return Tool("search_documents", about, {"query": query}, ("query",), _search_documents, _RESULTS)


def documents_tool(engine: Engine) -> Tool:
    """Return the tool `search_documents` as an engine's settings describe it."""
    texts = engine.settings.documents
    return search_documents(texts.description or "", texts.param_query or "")


def agent_search(agent: str) -> Tool:
    """Return the tool `rag_search` over the documents of an agent, as many passages as its `top_k` says."""

    def run(engine: Engine, given: Mapping[str, Any]) -> Answer:
        return _rag_search(engine.agent(agent), given)

    about = "Search the documentation you were given by words and by meaning. Returns passages with their file."
    return Tool("rag_search", about, {"query": _QUERY}, ("query",), run, _RESULTS)


def _told(text: str) -> str:
    """Return a text from a settings file, which may have come with a clone, short and with nothing hidden in it."""
    return one_line(text)[:_DESCRIPTION]


# ── what a model says ─────────────────────────────────────────────────────────────────────────────

_TYPES: Final[Mapping[str, type]] = {"string": str, "integer": int}


def _checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, or raise `InputError` that says which is wrong and what is right."""
    given = {key: value for key, value in arguments.items() if value is not None}
    for key in given:
        if key not in tool.properties:
            raise InputError(f"{tool.name} has no argument {key!r}", hint=f"it takes {', '.join(tool.properties)}")
    for key in tool.required:
        if key not in given:
            raise InputError(f"{tool.name} needs {key!r}", hint=tool.properties[key].get("description", ""))
    for key, value in given.items():
        _check(f"{tool.name}: {key}", value, tool.properties[key])
    return given


def _check(what: str, value: object, schema: Schema) -> None:
    wanted = _TYPES[schema["type"]]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InputError(f"{what} is a {schema['type']}", hint=schema.get("description", ""))
    if isinstance(value, str) and len(value.strip()) < schema.get("minLength", 0):
        raise InputError(f"{what} is empty", hint=schema.get("description", ""))
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        raise InputError(f"{what} is from {schema['minimum']} to {schema['maximum']}")
