"""The tools for questions about the code graph; `rag_related` is offered if the project has a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.errors import InputError
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.graph import (
    change_json,
    explain_confidences,
    format_place,
    node_summary_json,
)
from ragstone.surfaces.tools.schemas import MAX_TOKENS, count_schema, list_schema, text_schema
from ragstone.surfaces.tools.search import SEARCH_TOKENS
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall, truncate
from ragstone.text.counts import plural
from ragstone.text.tokens import at_most
from ragstone.types import Affected, Change, Confidence, Node, Related

_MAX_RESULTS: Final = 200
_MAX_KINDS: Final = 30


def _rag_related(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    kind = arguments.get("kind")
    hops = arguments.get("hops", 1)
    graph = call.engine.graph
    node = graph.node(arguments["name"])
    kinds = [kind] if kind else None
    related = graph.related(node, kinds=kinds, hops=hops, limit=_MAX_RESULTS)
    if kind and not related:
        _check_kind(kind, graph.related(node, hops=hops, limit=_MAX_RESULTS))
    lines = [_format_related(result) for result in related]
    results = [_result_json(result) for result in related]
    if not related:
        lines = [f"Nothing{f' of kind {one_line(kind)}' if kind else ''} is connected to it."]
    confidences = [result.confidence for result in related]
    return _list_answer(call, _format_node(node), lines, results, {"node": node}, confidences)


def _check_kind(kind: str, connected: Sequence[Related]) -> None:
    """Raise `InputError` with the kinds of the connected nodes and links if none has this kind."""
    kinds: dict[str, None] = {}
    for result in connected:
        kinds[result.node.kind] = None
        kinds |= dict.fromkeys(link.kind for link in result.links)
    if kinds and kind not in kinds:
        listed = ", ".join(sorted(kinds)[:_MAX_KINDS])
        raise InputError(
            f"nothing of the kind {one_line(kind)!r} is connected to it",
            hint=f"there are {listed}",
        )


def _rag_impact(call: ToolCall) -> ToolAnswer:
    impact = call.engine.graph.impact(call.arguments["name"])
    lines: list[str] = []
    results: list[Json] = []
    confidences: list[Confidence] = []
    for kind, nodes in impact.groups:
        for affected in nodes:
            confidences.append(affected.confidence)
            lines.append(_format_affected(kind, affected))
            results.append(_affected_json(kind, affected))
    roots = ", ".join(impact.roots)
    title = f"{plural(impact.total, 'node depends', 'nodes depend')} on {roots}"
    if not lines:
        lines = ["Nothing in the code graph depends on it."]
    extra = {"roots": list(impact.roots), "total": impact.total, "more": impact.more}
    return _list_answer(call, one_line(title), lines, results, extra, confidences)


def _rag_history(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    changes = call.engine.graph.history(
        arguments["name"],
        limit=arguments.get("limit", 20),
        commits=arguments.get("commits", True),
    )
    lines = [_format_change(change) for change in changes]
    results = [change_json(change) for change in changes]
    title = f"{plural(len(changes), 'change')} of {one_line(arguments['name'])}, newest first"
    return _list_answer(call, title, lines, results, {})


def _list_answer(
    call: ToolCall,
    title: str,
    lines: list[str],
    results: list[Json],
    extra: Json,
    confidences: Iterable[Confidence] = (),
) -> ToolAnswer:
    """Return a title, as many lines as the token limit allows, and their results as data.

    The last line explains the confidences in the other lines.
    """
    max_tokens = call.arguments.get("max_tokens", SEARCH_TOKENS)
    title = truncate(title, max_tokens)
    meanings = explain_confidences(confidences)
    legend = "; ".join(f"{name}: {meaning}" for name, meaning in meanings.items())
    fitting = _fit_lines(lines, max_tokens - at_most(title) - at_most(legend))
    node = extra.get("node")
    if isinstance(node, Node):
        extra = {**extra, "node": node_summary_json(node)}
    data: Json = {"success": True, **extra, "results": results[: len(fitting)]}
    if meanings:
        data["confidences"] = meanings
    left_out = len(lines) - len(fitting)
    if left_out:
        data["left_out"] = left_out
        fitting.append(f"({left_out} more: ask more narrowly, or for more tokens)")
    if legend:
        fitting.append(f"({legend})")
    return ToolAnswer("\n".join([title, *fitting]), data)


def _fit_lines(lines: Sequence[str], max_tokens: int) -> list[str]:
    """Return the first lines, until the token limit."""
    fitting: list[str] = []
    used_tokens = 0
    for line in lines:
        used_tokens += at_most(line) + 1
        if used_tokens > max_tokens:
            break
        fitting.append(line)
    return fitting


def _format_node(node: Node) -> str:
    place = f" at {node.place}" if node.place else ""
    signature = f"\n{one_line(node.signature)}" if node.signature else ""
    return one_line(f"{node.kind} {node.key.partition(':')[2]}{place}") + signature


def _format_related(result: Related) -> str:
    link = result.links[-1]
    path = " > ".join(each.kind for each in result.links)
    direction = "to" if link.target == result.node.key else "from"
    name = result.node.key.partition(":")[2]
    certainty: str = result.confidence
    if any(each.conditional for each in result.links):
        certainty += ", in some cases only"
    return one_line(
        f"{path} {direction} {result.node.kind} {name} ({certainty}) {format_place(link)}"
    )


def _result_json(result: Related) -> Json:
    return {
        **node_summary_json(result.node),
        "hops": result.hops,
        "confidence": result.confidence,
        "links": [{"kind": link.kind, "place": format_place(link)} for link in result.links],
    }


def _format_affected(kind: str, affected: Affected) -> str:
    name = affected.key.partition(":")[2]
    place = format_place(affected.links[0]) if affected.links else ""
    certainty = affected.confidence
    return one_line(f"{kind} {name} ({plural(affected.hops, 'hop')}, {certainty}) {place}")


def _affected_json(kind: str, affected: Affected) -> Json:
    return {
        "kind": kind,
        "key": affected.key,
        "hops": affected.hops,
        "confidence": affected.confidence,
        "conditional": affected.conditional,
        "place": format_place(affected.links[0]) if affected.links else "",
    }


def _format_change(change: Change) -> str:
    fields = change_json(change)
    certainty = "" if change.exact else " (its file)"
    return one_line(
        f"{fields['when'] or 'unknown time'} {change.kind} {change.title}{certainty} {fields['place']}"
    )


_NAME: Final = text_schema(
    "A route (`songs.update`, `PUT api/songs/{song}`), class, `Class@method`, table or path."
)
RAG_RELATED: Final = Tool(
    "rag_related",
    "Show what a route, class, method, table or file is connected to, with file and line of each link.",
    {
        "name": _NAME,
        "kind": {
            "type": "string",
            "description": "Only this kind: route, model, table … or links such as MAPS_TO.",
        },
        "hops": count_schema("Number of links to follow.", 1, 4),
        "max_tokens": MAX_TOKENS,
    },
    ("name",),
    _rag_related,
    list_schema("key", "kind", node={"type": "object"}),
)
RAG_IMPACT: Final = Tool(
    "rag_impact",
    "List everything that depends on a file or symbol: look before you change it.",
    {"name": _NAME, "max_tokens": MAX_TOKENS},
    ("name",),
    _rag_impact,
    list_schema("key", "kind", total={"type": "integer"}),
)
RAG_HISTORY: Final = Tool(
    "rag_history",
    "List the changes of a file, symbol or table: recorded runs, migrations and commits.",
    {
        "name": _NAME,
        "limit": count_schema("Changes at most.", 1, 200),
        "commits": {"type": "boolean", "description": "Whether commits count."},
        "max_tokens": MAX_TOKENS,
    },
    ("name",),
    _rag_history,
    list_schema("kind", "title"),
)
