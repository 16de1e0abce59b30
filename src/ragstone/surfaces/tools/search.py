"""The tools that find passages: `rag_search`, `rag_context`, `rag_retrieve` and `search_documents`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.retrieval.context.formatters import NOTHING_FOUND, one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.graph import CONFIDENCE_MEANINGS, graph_answer_json
from ragstone.surfaces.tools.passages import fence_results, fit_passages, passage_json
from ragstone.surfaces.tools.schemas import (
    COLLECTION,
    MAX_TOKENS,
    PASSAGES,
    QUERY,
    SESSION,
    STRINGS,
    count_schema,
    text_schema,
)
from ragstone.surfaces.tools.tool import MAX_TEXT_TOKENS, Tool, ToolAnswer, ToolCall, truncate
from ragstone.text.tokens import at_most
from ragstone.types import Context, Hit

SEARCH_TOKENS: Final = 2500
"""Five passages of ordinary length with their citations."""
CONTEXT_TOKENS: Final = 1500
_ANSWER_TOKENS: Final = 400
"""Tokens for the sentence of the code graph before the chunks of `rag_retrieve`."""
_MAX_DESCRIPTION: Final = 1000
_MAX_NAME: Final = 100
_HINTS: Final = ("route_name", "controller_class", "table_name")
_LIMITS: Final = (
    "source_types",
    "must_include_paths",
    "include_run_summaries",
    "min_score",
    "collection",
)


def _rag_search(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    offset = arguments.get("offset", 0)
    count = arguments.get("top_k", call.engine.settings.search.top_k)
    filters = {key: arguments[key] for key in ("path", "kind") if arguments.get(key)}
    explanation = call.engine.explain(
        arguments["query"],
        offset + count,
        filters=filters or None,
        collection=arguments.get("collection"),
        fresh=call.fresh,
    )
    if not explanation.hits and "kind" in filters and not call.engine.is_empty():
        call.engine.admin.require_kinds([filters["kind"]])
    return _passages_answer(call, explanation.hits[offset:], explanation.notes)


def _passages_answer(
    call: ToolCall, hits: Sequence[Hit], notes: Sequence[str], *, max_tokens: int | None = None
) -> ToolAnswer:
    """Return hits as an answer; those that do not fit are counted, with the offset of the next page."""
    arguments = call.arguments
    offset = arguments.get("offset", 0)
    if max_tokens is None:
        max_tokens = arguments.get("max_tokens", SEARCH_TOKENS)
    max_tokens -= at_most(json.dumps(list(notes), ensure_ascii=False))
    fitted = fit_passages(hits, arguments["query"], max_tokens, first=offset + 1)
    data: Json = {"success": True}
    data |= fence_results([passage_json(passage) for passage in fitted.passages])
    if notes:
        data["notes"] = list(notes)
    text = "\n".join((NOTHING_FOUND, *notes))
    if fitted.passages:
        text = "\n\n".join((fitted.text, *(f"({note})" for note in notes)))
    if fitted.left_out:
        next_offset = offset + len(fitted.passages)
        data |= {"left_out": fitted.left_out, "next_offset": next_offset}
        text += f"\n\n({fitted.left_out} more: ask again with offset {next_offset})"
    return ToolAnswer(text, data)


def _rag_context(call: ToolCall) -> ToolAnswer:
    context = call.engine.context(
        call.arguments["task"],
        call.arguments.get("token_budget", CONTEXT_TOKENS),
        session=call.arguments.get("session_id"),
        fresh=call.fresh,
    )
    data = {
        **_context_json(context),
        "needs_clarification": context.needs_clarification,
        "question": context.question,
    }
    text = context.text or "\n".join((*context.notes, context.question)).strip()
    return ToolAnswer(text or "Nothing was found.", data)


def _context_for_prompt(call: ToolCall) -> ToolAnswer:
    project = call.arguments.get("project_id")
    if project not in (None, call.engine.project):
        hint = f"this server answers for {call.engine.project!r}"
        raise NotFound(f"there is no project {project!r} here", hint=hint)
    return _rag_context(call)


def _context_json(context: Context) -> Json:
    """Return the passages of a context with their citations."""
    data: Json = {"success": True}
    data |= fence_results([passage_json(passage) for passage in context.cited])
    if context.sent_before:
        data["sent_before"] = list(context.sent_before)
    if context.left_out:
        data["left_out"] = len(context.left_out)
    return {**data, "tokens": context.tokens, "notes": list(context.notes)}


def _rag_retrieve(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    options = {name: arguments[name] for name in (*_LIMITS, *_HINTS) if name in arguments}
    retrieval = call.engine.retrieve(arguments["query"], arguments.get("top_k", 12), **options)
    max_tokens = arguments.get("max_tokens", SEARCH_TOKENS)
    sentence = ""
    if retrieval.answer is not None:
        sentence = truncate(one_line(retrieval.answer.said), min(_ANSWER_TOKENS, max_tokens))
        max_tokens = max(100, max_tokens - _ANSWER_TOKENS)
    answer = _passages_answer(call, retrieval.chunks, retrieval.notes, max_tokens=max_tokens)
    data = {**answer.data, "strategy": retrieval.debug.get("strategy")}
    first = "".join(
        f"(unknown name: {one_line(name)[:_MAX_NAME]})\n" for name in retrieval.unknown
    )
    if first:
        data["unknown"] = list(retrieval.unknown)
    if retrieval.answer is None:
        return ToolAnswer(f"{first}{answer.text}", data)
    facts = graph_answer_json(retrieval.answer)
    data["answer"] = {
        "text": sentence,
        "confidence": facts["confidence"],
        "confidence_means": CONFIDENCE_MEANINGS[retrieval.answer.confidence],
        "evidence": facts["evidence"][:10],
    }
    return ToolAnswer(f"{first}{sentence}\n\n{answer.text}", data)


def _search_documents(call: ToolCall) -> ToolAnswer:
    context = call.engine.context(
        call.arguments["query"],
        SEARCH_TOKENS,
        format="documents",
        top_k=call.engine.settings.search.top_k,
        fresh=call.fresh,
    )
    return ToolAnswer(context.text, _context_json(context))


_TOKEN_BUDGET: Final = {"type": "integer", "minimum": 100, "maximum": MAX_TEXT_TOKENS}
_MAX_TOKENS: Final = {**MAX_TOKENS, "minimum": 300}
_TASK: Final = {"type": "string", "description": "What you are about to do."}
_OFFSET: Final = count_schema("Results to skip: the next page.", 0, 200)
RAG_SEARCH: Final = Tool(
    "rag_search",
    "Search the project's code and documents by words and by meaning. Returns passages, each with path:lines.",
    {
        "query": QUERY,
        "top_k": count_schema("Results at most."),
        "offset": _OFFSET,
        "path": {
            "type": "string",
            "description": "Only files whose path matches this glob, such as docs/**.",
        },
        "kind": {
            "type": "string",
            "description": "Only this kind: code, doc, readme, adr, config …",
        },
        "collection": COLLECTION,
        "max_tokens": _MAX_TOKENS,
    },
    ("query",),
    _rag_search,
    PASSAGES,
)
RAG_CONTEXT: Final = Tool(
    "rag_context",
    "Get the project's knowledge about a task as one cited block inside a token budget, ready to work from.",
    {
        "task": _TASK,
        "token_budget": _TOKEN_BUDGET,
        "session_id": {
            **SESSION,
            "description": "Leave out passages that this session already got.",
        },
    },
    ("task",),
    _rag_context,
    PASSAGES,
)
CONTEXT_FOR_PROMPT: Final = Tool(
    "get_context_for_prompt",
    "The same as rag_context, with the arguments of the REST interface.",
    {
        "task": _TASK,
        "project_id": text_schema("The project; this server's own if left out."),
        "token_budget": _TOKEN_BUDGET,
    },
    ("task",),
    _context_for_prompt,
    PASSAGES,
)
RAG_RETRIEVE: Final = Tool(
    "rag_retrieve",
    "Answer a question about code: the code graph's answer with its evidence first, then search hits.",
    {
        "query": QUERY,
        "top_k": count_schema("Chunks at most."),
        "offset": _OFFSET,
        "source_types": {
            **STRINGS,
            "description": "Only these kinds: code, route, migration, test …",
        },
        "must_include_paths": {**STRINGS, "description": "Files or globs to include anyway."},
        "route_name": text_schema("The route that the question is about."),
        "controller_class": text_schema("The controller that the question is about."),
        "table_name": text_schema("The table that the question is about."),
        "include_run_summaries": {
            "type": "boolean",
            "description": "Whether earlier runs count.",
        },
        "min_score": {"type": "number", "minimum": 0, "maximum": 1},
        "collection": COLLECTION,
        "max_tokens": _MAX_TOKENS,
    },
    ("query",),
    _rag_retrieve,
    PASSAGES,
)


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
        "search_documents", about, {"query": query}, ("query",), _search_documents, PASSAGES
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

    about = "Search your documentation by words and by meaning. Returns passages with their path:lines."
    return Tool("rag_search", about, {"query": QUERY}, ("query",), run, PASSAGES)
