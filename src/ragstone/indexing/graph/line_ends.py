"""The last lines of described nodes: a route, a table or a setting ends with its statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from ragstone.code.file_languages import language_of
from ragstone.code.statements import last_lines
from ragstone.protocols import ProjectFiles
from ragstone.types import Graph, Node


def with_line_ends(graph: Graph, files: ProjectFiles) -> Graph:
    """Return a graph in which a described node with one line only ends with the statement that starts there."""
    described = {rendered.key for rendered in graph.rendered}
    short = {node.key: node for node in graph.nodes if _has_one_line(node)}
    short = {key: node for key, node in short.items() if key in described}
    ends = _find_ends(short.values(), files)
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.key in short:
            node = replace(node, line_end=ends.get((node.uri, node.line), node.line_end))
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


def _has_one_line(node: Node) -> bool:
    return bool(node.uri) and node.line_end <= node.line


def _find_ends(nodes: Iterable[Node], files: ProjectFiles) -> dict[tuple[str, int], int]:
    """Return the last line of each statement, by file and first line."""
    lines: dict[str, set[int]] = defaultdict(set)
    for node in nodes:
        lines[node.uri].add(node.line)
    ends: dict[tuple[str, int], int] = {}
    for uri, starts in lines.items():
        language, text = language_of(uri), files.text(uri)
        if language and text is not None:
            for line, end in last_lines(text, language, starts).items():
                ends[uri, line] = end
    return ends
