"""Names in a question that no node has, so that nothing else may be answered in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from ragstone.code.method_names import last_part
from ragstone.protocols import DocumentReader
from ragstone.types import Scope
from ragstone_code.questions.answer import ParsedQuestion
from ragstone_code.questions.mentions import Mention

_QUALIFIED_NAME: Final = re.compile(r"\w\\\w|(?<!Route)::\w")
"""A class with its namespace, or a method with its class: such a name is never a common word."""
_LAST_TABLE: Final = re.compile(r"\btable\s+([A-Za-z]\w*)\W*$")
"""A plain word after `table` at the end of a question: it can only be the name of a table."""
_IDENTIFIER: Final = re.compile(
    r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Za-z]\w+(?:[.:_-][A-Za-z]\w{3,})+"
)
"""`OrderPaid`, `order_items`, `orders.store`, `orders:clean`: written like a name, not like a word."""
_MAX_FILES: Final = 50_000
_MAX_NODES: Final = 20_000
_NEAR: Final = 0.8
"""`OrderControler` is near `OrderController`, `OrderPaid` is not."""


def unknown_names(store: DocumentReader, scope: Scope, parsed: ParsedQuestion) -> list[str]:
    """Return the names in a question that match no node: qualified names, names of code, identifiers of no file."""
    names = [*unmatched_qualified_names(parsed), *_unmatched_code(parsed)]
    identifiers = _unmatched_identifiers(parsed)
    if not identifiers:
        return names
    files = store.graph.nodes(scope, kinds=("file",), limit=_MAX_FILES)
    paths = "\n".join(node.uri.lower() for node in files)
    if not paths:
        return names
    names += [name for name in identifiers if name.lower() not in paths]
    return list(dict.fromkeys(names))


def suggest_question(
    store: DocumentReader, scope: Scope, question: str, names: Sequence[str]
) -> str:
    """Return the question with near names of the graph in place of unknown ones; empty if none is near."""
    if not names:
        return ""
    nodes = store.graph.nodes(scope, limit=_MAX_NODES)
    spellings = {last_part(node.name).casefold(): last_part(node.name) for node in nodes}
    suggestion = question
    for name in names:
        written = last_part(name)
        near = get_close_matches(written.casefold(), spellings, n=1, cutoff=_NEAR)
        if near:
            suggestion = suggestion.replace(written, spellings[near[0]])
    return "" if suggestion == question else suggestion


def unmatched_qualified_names(parsed: ParsedQuestion) -> list[str]:
    """Return the names with a namespace or a class that match no node, and the table that a question ends with."""
    names = [
        mention.text
        for mention in parsed.linked.mentions
        if _QUALIFIED_NAME.search(mention.text) and not mention.plain
    ]
    table = _LAST_TABLE.search(parsed.question)
    if table and not parsed.linked.anchors:
        names.append(f"table {table[1]}")
    return [name for name in names if not _is_matched(parsed, name)]


def _unmatched_code(parsed: ParsedQuestion) -> list[str]:
    """Return the words whose place in the question says that they are code, if no code has the name."""
    names = [
        mention.name
        for mention in parsed.linked.mentions
        if mention.code and mention.code.is_certain
    ]
    return [name for name in names if not _is_matched(parsed, name)]


def _unmatched_identifiers(parsed: ParsedQuestion) -> list[str]:
    """Return the words that are written like identifiers and match no node."""
    names = [mention.text for mention in parsed.linked.mentions if _is_identifier(mention)]
    return [name for name in names if not _is_matched(parsed, name)]


def _is_identifier(mention: Mention) -> bool:
    """Return whether a mention is written like an identifier."""
    return not mention.plain and bool(_IDENTIFIER.fullmatch(mention.text))


def _is_matched(parsed: ParsedQuestion, name: str) -> bool:
    """Return whether a name is part of a name that matches a node, or contains one."""
    matched = [anchor.mention.text for anchor in parsed.linked.anchors]
    return any(name in text or text in name for text in matched)
