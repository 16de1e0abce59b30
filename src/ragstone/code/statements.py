"""The ends of statements: the last line of the longest piece of syntax that starts on a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragstone.code.grammars import tree_of

if TYPE_CHECKING:
    from tree_sitter import Node


def last_lines(text: str, language: str, lines: Iterable[int]) -> dict[int, int]:
    """Return the last line of the statement, array entry or definition that starts on each line.

    A line on which nothing starts is left out, and so is everything if the text cannot be parsed.
    """
    tree = tree_of(text.encode("utf-8", "replace"), language)
    if tree is None:
        return {}
    ends = {line: _last_row(tree.root_node, line - 1) for line in lines}
    return {line: row + 1 for line, row in ends.items() if row is not None}


def _last_row(node: Node, row: int) -> int | None:
    """Return the last row of the pieces directly inside the innermost one around a row that start on the row."""
    around: Node | None = node
    while around is not None:
        pieces = around.children
        rows = [piece.end_point[0] for piece in pieces if piece.start_point[0] == row]
        if rows:
            return max(rows)
        around = next(
            (piece for piece in pieces if piece.start_point[0] < row <= piece.end_point[0]),
            None,
        )
    return None
