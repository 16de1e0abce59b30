"""Adds the namespace and the signatures of a class to the hits that have its opening lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ragstone.protocols import GraphReader
from ragstone.types import Hit, Node, Scope
from ragstone.types.documents import Value
from ragstone.types.graph import TYPE_KINDS

_KINDS: Final = (*sorted(TYPE_KINDS), "method")
_MAX_NODES: Final = 5000
_MAX_SIGNATURES: Final = 100


def with_signatures(
    graph: GraphReader, scope: Scope, hits: Sequence[Hit], uris: Sequence[str]
) -> tuple[Hit, ...]:
    """Return the hits; those in these files whose class goes on after them have `namespace` and `signatures` in
    their metadata.
    """
    nodes_by_uri: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node in graph.nodes(scope, uris=uris, kinds=_KINDS, limit=_MAX_NODES):
        nodes_by_uri[node.collection, node.uri].append(node)
    return tuple(
        _with_header(hit, nodes_by_uri.get((hit.collection, hit.source_doc_id), ()))
        for hit in hits
    )


def _with_header(hit: Hit, nodes: Sequence[Node]) -> Hit:
    first, last = hit.span.line_start, hit.span.line_end
    starting = [
        node for node in nodes if node.kind in TYPE_KINDS and first <= node.line <= last
    ]
    opened = [node for node in starting if _goes_on(node, nodes, last)]
    if not opened:
        return hit
    header: dict[str, Value] = {"signatures": _signatures(opened[-1], nodes)}
    namespace = opened[-1].attributes.get("namespace")
    if namespace:
        header["namespace"] = str(namespace)
    return replace(hit, metadata={**header, **hit.metadata})


def _goes_on(owner: Node, nodes: Sequence[Node], last: int) -> bool:
    """Return whether a class, or a method of it, is below a line."""
    return owner.line_end > last or any(node.line > last for node in _methods(owner, nodes))


def _signatures(owner: Node, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the signatures of the methods of a class, in the order of the file."""
    methods = sorted(_methods(owner, nodes), key=lambda node: node.line)
    return tuple(node.signature or node.name for node in methods[:_MAX_SIGNATURES])


def _methods(owner: Node, nodes: Sequence[Node]) -> list[Node]:
    """Return the methods inside a class, and those that the file defines outside of it, as Go and Rust do."""
    prefix = f"{owner.key.partition(':')[2]}."
    return [
        node
        for node in nodes
        if node.kind == "method"
        and (
            owner.line < node.line <= owner.line_end
            or node.key.partition(":")[2].startswith(prefix)
        )
    ]
