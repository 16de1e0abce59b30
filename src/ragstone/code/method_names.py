"""Finds methods by a name without a class."""

from __future__ import annotations

import re
from typing import Final

from ragstone.protocols import GraphReader
from ragstone.types import Node, Scope

_MAX_METHODS: Final = 20_000
_SEPARATOR: Final = re.compile(r"[\\.:@#]")


def methods_named(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the methods of all classes with a name, ignoring case."""
    methods = graph.nodes(scope, kinds=("method",), limit=_MAX_METHODS)
    folded = name.casefold()
    return [node for node in methods if _SEPARATOR.split(node.name)[-1].casefold() == folded]
