"""The tools for agents: search, context and memory; the same through MCP, the bus and the adapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.engine import Engine
from ragstone.retrieval.context.fence import reveal_hidden
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.memory import recalled_json
from ragstone.surfaces.tool import MAX_TEXT_TOKENS, Schema, Tool, ToolAnswer, ToolCall, truncate
from ragstone.text.tokens import at_most
from ragstone.types import Context, ContextFormat, Recalled

SEARCH_TOKENS: Final = 2000
CONTEXT_TOKENS: Final = 1500
TIME_LIMIT_SECONDS: Final = 30
"""A read-only tool answers within this time."""
_MAX_DESCRIPTION: Final = 1000

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
_TOP_K: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 50,
    "description": "Results at most.",
}
MAX_TOKENS: Final[Schema] = {
    "type": "integer",
    "minimum": 100,
    "maximum": MAX_TEXT_TOKENS,
    "description": "Tokens at most.",
}
_RESULTS: Final[Schema] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "results": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["success"],
}


def _rag_search(call: ToolCall) -> ToolAnswer:
    return _search(call, "tool")


def _search_documents(call: ToolCall) -> ToolAnswer:
    return _search(call, "documents")


def _search(call: ToolCall, context_format: ContextFormat) -> ToolAnswer:
    arguments = call.arguments
    filters = {key: arguments[key] for key in ("path", "kind") if arguments.get(key)}
    context = call.engine.context(
        arguments["query"],
        arguments.get("max_tokens", SEARCH_TOKENS),
        format=context_format,
        top_k=arguments.get("top_k", call.engine.settings.search.top_k),
        filters=filters or None,
        fresh=call.fresh,
    )
    return ToolAnswer(context.text, _citations_json(context))


def _rag_context(call: ToolCall) -> ToolAnswer:
    context = call.engine.context(
        call.arguments["task"],
        call.arguments.get("token_budget", CONTEXT_TOKENS),
        session=call.arguments.get("session_id"),
        fresh=call.fresh,
    )
    data = {
        **_citations_json(context),
        "needs_clarification": context.needs_clarification,
        "question": context.question,
    }
    return ToolAnswer(context.text or context.question or "Nothing was found.", data)


def _citations_json(context: Context) -> Json:
    """Return the citations of a context; the passages are in the answer's text."""
    citations = [
        {
            "place": passage.citation,
            "doc_id": passage.doc_id,
            "score": round(passage.score, 4),
            "lines": [passage.span.line_start, passage.span.line_end],
        }
        for passage in context.cited
    ]
    return {
        "success": True,
        "results": citations,
        "tokens": context.tokens,
        "notes": list(context.notes),
    }


def _memory_add(call: ToolCall) -> ToolAnswer:
    session = call.arguments["session_id"]
    role = call.arguments.get("role", "user")
    speaker = call.arguments.get("speaker", "")
    index = call.engine.remember(session, role, call.arguments["content"], speaker=speaker)
    is_stored = index >= 0
    data = {"success": is_stored, "session_id": session, "turn_index": index, "role": role}
    text = f"Remembered as turn {index}." if is_stored else "Memory is switched off."
    return ToolAnswer(text, data)


def _memory_search(call: ToolCall) -> ToolAnswer:
    session = call.arguments["session_id"]
    recalled = call.engine.recall(
        session, call.arguments["query"], call.arguments.get("top_k", 5)
    )
    lines, results = _fit_turns(recalled)
    data: Json = {"success": True, "session_id": session, "results": results}
    if len(lines) < len(recalled):
        data["left_out"] = len(recalled) - len(lines)
    return ToolAnswer("\n".join(lines) or "No message answers that.", data)


def _fit_turns(recalled: Sequence[Recalled]) -> tuple[list[str], list[Json]]:
    """Return as many turns as the token limit allows, as text and as data; the first turn is cut if needed."""
    lines: list[str] = []
    results: list[Json] = []
    for result in recalled:
        line = _format_turn(result)
        remaining_tokens = SEARCH_TOKENS - at_most("\n".join(lines)) - 1
        if lines and at_most(line) > remaining_tokens:
            break
        lines.append(truncate(line, remaining_tokens))
        results.append(
            {
                **recalled_json(result),
                "content": truncate(result.turn.content, remaining_tokens),
            }
        )
    return lines, results


def _format_turn(recalled: Recalled) -> str:
    """Return a turn as text for a model; continuation lines are indented, so none can imitate another turn."""
    turn = recalled.turn
    speaker = one_line(turn.speaker or turn.role)
    superseded = ""
    if recalled.superseded_by is not None:
        superseded = f", superseded by turn {recalled.superseded_by}"
    content = reveal_hidden(turn.content).strip("\n").replace("\n", "\n   ")
    return f"[turn {turn.index}, {speaker}{superseded}] {content}"


RAG_SEARCH: Final = Tool(
    "rag_search",
    "Search the project's code and documents by words and by meaning. Returns passages with their file.",
    {
        "query": _QUERY,
        "top_k": _TOP_K,
        "path": {
            "type": "string",
            "description": "Only files whose path matches this glob, such as docs/**.",
        },
        "kind": {
            "type": "string",
            "description": "Only this kind: code, doc, readme, adr, config …",
        },
        "max_tokens": MAX_TOKENS,
    },
    ("query",),
    _rag_search,
    _RESULTS,
)
RAG_CONTEXT: Final = Tool(
    "rag_context",
    "Get the project's knowledge about a task as one cited block inside a token budget, ready to work from.",
    {
        "task": {"type": "string", "description": "What you are about to do.", "minLength": 1},
        "token_budget": {"type": "integer", "minimum": 100, "maximum": MAX_TEXT_TOKENS},
        "session_id": {
            **_SESSION,
            "description": "Leave out passages that this session already got.",
        },
    },
    ("task",),
    _rag_context,
    _RESULTS,
)
MEMORY_ADD: Final = Tool(
    "rag_memory_add",
    "Remember a statement or a decision, word for word, so that later sessions can find it.",
    {
        "session_id": _SESSION,
        "content": {"type": "string", "description": "What to remember.", "minLength": 1},
        "role": {
            "type": "string",
            "description": "The role: user or assistant.",
            "minLength": 1,
        },
        "speaker": {"type": "string", "description": "The speaker's name."},
    },
    ("session_id", "content"),
    _memory_add,
    {
        **_RESULTS,
        "properties": {"success": {"type": "boolean"}, "turn_index": {"type": "integer"}},
    },
    read_only=False,
)
MEMORY_SEARCH: Final = Tool(
    "rag_memory_search",
    "Search the messages of a conversation by words, by meaning and by time.",
    {"session_id": _SESSION, "query": _QUERY, "top_k": _TOP_K},
    ("session_id", "query"),
    _memory_search,
    _RESULTS,
)
DEFAULT_TOOLS: Final = (RAG_SEARCH, RAG_CONTEXT, MEMORY_ADD, MEMORY_SEARCH)


def search_documents(description: str = "", param_query: str = "") -> Tool:
    """Return the tool `search_documents` with the descriptions from the settings."""
    # A settings file may come with a cloned repository: its texts are shortened and hidden characters removed.
    query_text = (
        one_line(param_query)[:_MAX_DESCRIPTION] or "The question or key words to search for."
    )
    about = (
        one_line(description)[:_MAX_DESCRIPTION]
        or "Search the documents of the knowledge base for passages."
    )
    query = {"type": "string", "description": query_text}
    return Tool(
        "search_documents", about, {"query": query}, ("query",), _search_documents, _RESULTS
    )


def documents_tool(engine: Engine) -> Tool:
    """Return the tool `search_documents` as the engine's settings describe it."""
    texts = engine.settings.documents
    return search_documents(texts.description or "", texts.param_query or "")


def agent_search(agent: str) -> Tool:
    """Return the tool `rag_search` over the documents of one agent."""

    def run(call: ToolCall) -> ToolAnswer:
        return _rag_search(
            ToolCall(call.engine.agents.corpus(agent), call.arguments, call.fresh)
        )

    about = (
        "Search your documentation by words and by meaning. Returns passages with their file."
    )
    return Tool("rag_search", about, {"query": _QUERY}, ("query",), run, _RESULTS)
