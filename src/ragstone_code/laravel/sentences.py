"""Words and sentences of the texts about a graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ragstone.types import Json, Node

NAME_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
COMMENT_LENGTH: Final = 300
"""Characters of a comment that a text shows: the comment must not outweigh the other sentences."""
NOISE_WORDS: Final = frozenset(
    (
        "invoke",
        "controller",
        "app",
        "http",
        "api",
        "controllers",
        "domains",
        "web",
        "events",
        "jobs",
        "models",
    )
)


def words(*names: str) -> str:
    """Return the words in names, each once: `PlaylistFolderController@store` gives playlist, folder and store."""
    unique_words: dict[str, None] = {}
    for name in names:
        for part in NAME_PARTS.findall(name):
            word = part.lower()
            if word not in NOISE_WORDS and len(word) > 1:
                unique_words[word] = None
    return " ".join(unique_words)


def short(name: str) -> str:
    """Return a class name without its namespace."""
    return name.removeprefix("class:").rpartition("\\")[2]


def full(node: Node) -> str:
    """Return the full name of a node: for a class, with its namespace."""
    return node.key.partition(":")[2]


def listing(value: Json) -> list[str]:
    """Return the entries of an attribute as strings; nothing if the attribute is no list."""
    return [str(item) for item in value] if isinstance(value, list) else []


def sentence(label: str, parts: Iterable[str], separator: str = ", ") -> str:
    """Return `label: a, b.`; an empty text if there are no parts."""
    joined = separator.join(dict.fromkeys(part for part in parts if part))
    return f"{label}: {joined}." if joined else ""


def lines(*sentences: str) -> str:
    """Return sentences on one line each; empty ones are left out."""
    return "\n".join(text for text in sentences if text)


def comment(text: str, limit: int = COMMENT_LENGTH) -> str:
    """Return the text of a doc comment without its markers and tags, cut at the limit."""
    parts: list[str] = []
    for line in text.splitlines():
        bare = line.strip().removeprefix("/**").removesuffix("*/")
        bare = bare.strip().lstrip("*").strip()
        if bare.startswith("@"):
            break
        if bare and not bare.startswith("{@"):
            parts.append(bare)
    joined = " ".join(parts)
    if len(joined) <= limit:
        return joined
    return joined[:limit].rsplit(" ", 1)[0] + " …"
