"""The tool for agents that asks the graph of the code; offered where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ragstone.engine import Engine
from ragstone.retrieval.context.layout import line as one_line
from ragstone.surfaces import present_graph as shape
from ragstone.surfaces.tools import MOST_TOKENS, SEARCH_TOKENS, Answer, Schema, Tool, cut
from ragstone.text.tokens import at_most
from ragstone.types import Node, Related

_MOST: Final = 200


def _rag_related(engine: Engine, given: Mapping[str, Any]) -> Answer:
    kinds = [given["kind"]] if given.get("kind") else None
    node = engine.node(given["name"])
    found = engine.related(node, kinds=kinds, hops=given.get("hops", 1), limit=_MOST)
    budget = given.get("max_tokens", SEARCH_TOKENS)
    lines = [cut(_head(node), budget)]
    used = at_most(lines[0])
    for one in found:
        line = _line(one)
        used += at_most(line) + 1
        if used > budget:
            break
        lines.append(line)
    shown = found[: len(lines) - 1]
    left = len(found) - len(shown)
    if not found:
        of = f" of kind {one_line(given['kind'])}" if kinds else ""
        lines.append(f"Nothing{of} that is known hangs together with it.")
    elif left:
        lines.append(f"({left} more: ask with a kind, or for more tokens)")
    results = [{**shape.brief(one.node), "hops": one.hops, "confidence": one.confidence,
                "links": [{"kind": link.kind, "place": shape.place(link)} for link in one.links]}
               for one in shown]  # fmt: skip
    more = {"left_out": left} if left else {}
    return Answer("\n".join(lines), {"success": True, "node": shape.brief(node), "results": results, **more})


def _head(node: Node) -> str:
    place = f" at {node.place}" if node.place else ""
    signature = f"\n{one_line(node.signature)}" if node.signature else ""
    return one_line(f"{node.kind} {node.key.partition(':')[2]}{place}") + signature


def _line(one: Related) -> str:
    last = one.links[-1]
    way = "from" if last.target != one.node.key else "to"
    sure = one.confidence + (", in some cases only" if any(link.conditional for link in one.links) else "")
    path = " > ".join(link.kind for link in one.links)
    return one_line(f"{path} {way} {one.node.kind} {one.node.key.partition(':')[2]} ({sure}) {shape.place(last)}")


_RESULT: Final[Schema] = {
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
    "Ask how code hangs together: what a route, class, method, table or file is linked to, with file and line of each.",
    {
        "name": {
            "type": "string",
            "description": "A route (`songs.update`, `PUT api/songs/{song}`), class, `Class@method`, table or path.",
            "minLength": 1,
        },
        "kind": {"type": "string", "description": "Only this kind: route, model, table … or links such as MAPS_TO."},
        "hops": {"type": "integer", "minimum": 1, "maximum": 4, "description": "Links in a row."},
        "max_tokens": {"type": "integer", "minimum": 100, "maximum": MOST_TOKENS, "description": "Length at most."},
    },
    ("name",),
    _rag_related,
    _RESULT,
)
CODE_TOOLS: Final = (RAG_RELATED,)
