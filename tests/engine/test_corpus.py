"""Which of an agent's files come first, and where they are kept."""

from __future__ import annotations

from ragstone.engine.corpus import HINT, TOOL, in_order
from ragstone.text.tokens import at_most
from ragstone.types import Item, Stamp


def test_files_come_in_the_order_of_the_sources_that_name_them() -> None:
    items = [Item(uri, Stamp(1, 1, 1, 1)) for uri in ("README.md", "docs/a.md", "docs/b.md", "docs/deep/c.md")]
    found = in_order(items, ["docs/deep", "README.md", "docs/*.md"])
    assert [item.uri for item in found] == ["docs/deep/c.md", "README.md", "docs/a.md", "docs/b.md"]


def test_the_hint_names_the_tool_and_costs_little() -> None:
    assert f"`{TOOL}`" in HINT
    assert at_most(HINT) < 150
