"""The tool for questions about the code graph; offered if the project has a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.graph import format_place, node_summary_json
from ragstone.surfaces.tool import Schema, Tool, ToolAnswer, ToolCall, truncate
from ragstone.surfaces.tools import MAX_TOKENS, SEARCH_TOKENS
from ragstone.text.tokens import at_most
from ragstone.types import Node, Related

_MAX_RESULTS: Final = 200


def _rag_related(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    kind = arguments.get("kind")
    node = call.engine.graph.node(arguments["name"])
    related = call.engine.graph.related(
        node,
        kinds=[kind] if kind else None,
        hops=arguments.get("hops", 1),
        limit=_MAX_RESULTS,
    )
    max_tokens = arguments.get("max_tokens", SEARCH_TOKENS)
    title = truncate(_format_node(node), max_tokens)
    lines = _fit_lines(related, max_tokens - at_most(title))
    data: Json = {
        "success": True,
        "node": node_summary_json(node),
        "results": [_result_json(result) for result in related[: len(lines)]],
    }
    left_out = len(related) - len(lines)
    if left_out:
        data["left_out"] = left_out
        lines.append(f"({left_out} more: ask with a kind, or for more tokens)")
    if not related:
        of_kind = f" of kind {one_line(kind)}" if kind else ""
        lines.append(f"Nothing{of_kind} is connected to it.")
    return ToolAnswer("\n".join([title, *lines]), data)


def _fit_lines(related: Sequence[Related], max_tokens: int) -> list[str]:
    """Return a line for each result until the token limit."""
    lines: list[str] = []
    used_tokens = 0
    for result in related:
        line = _format_related(result)
        used_tokens += at_most(line) + 1
        if used_tokens > max_tokens:
            break
        lines.append(line)
    return lines


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


_OUTPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "node": {"type": "object"},
        "results": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["success"],
}
RAG_RELATED: Final = Tool(
    "rag_related",
    "Show what a route, class, method, table or file is connected to, with file and line of each link.",
    {
        "name": {
            "type": "string",
            "description": "A route (`songs.update`, `PUT api/songs/{song}`), class, `Class@method`, table or path.",
            "minLength": 1,
        },
        "kind": {
            "type": "string",
            "description": "Only this kind: route, model, table … or links such as MAPS_TO.",
        },
        "hops": {
            "type": "integer",
            "minimum": 1,
            "maximum": 4,
            "description": "Number of links to follow.",
        },
        "max_tokens": MAX_TOKENS,
    },
    ("name",),
    _rag_related,
    _OUTPUT,
)
CODE_TOOLS: Final = (RAG_RELATED,)
