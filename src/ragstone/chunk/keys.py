"""Cutting structured text by its keys: neighbours share a chunk while they fit, a big value is parted within.

A chunk's symbol lists the keys it holds, as dotted paths; its header is the path above them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.chunk.lines import cut_lines
from ragstone.chunk.pack import Unit, check_sizes, pack
from ragstone.chunk.recipes import CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.chunk.trees import (
    Part,
    Split,
    ini_parts,
    json_parts,
    php_parts,
    toml_parts,
    without_comments,
    yaml_parts,
)
from ragstone.text.sentences import weigh

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

SPLITS: Final[dict[str, Split]] = {
    "json": json_parts,
    "yaml": yaml_parts,
    "toml": toml_parts,
    "ini": ini_parts,
    "dotenv": ini_parts,
    "php": php_parts,
}
_DEEPEST: Final = 12
_STRONGEST: Final = 100
_MOST_NAMES: Final = 40
_LONGEST_SYMBOL: Final = 1000


class Keys:
    """Whole keys up to a size in tokens; text in which none are found is cut by lines."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = named("keys", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text, parts = top_parts(document)
        if not parts:
            return chunks_of(document, (Cut(*cut) for cut in cut_lines(text, 0, len(text), size=self.size)))
        split = SPLITS[document.language]
        owner = _owner(document)
        return chunks_of(document, key_cuts(text, parts, split, size=self.size, owner=owner))


def top_parts(document: Document) -> tuple[str, list[Part]]:
    """Return the text to look for keys in, as long as the document's, and its topmost keys; none if it has none."""
    text, split = document.text, SPLITS.get(document.language)
    if split is None:
        return text, []
    whole = Part(0, len(text))
    try:
        return text, split(text, whole)
    except (ValueError, RecursionError):
        if split is not json_parts:
            return text, []
    text = without_comments(text)
    try:
        return text, split(text, whole)
    except (ValueError, RecursionError):
        return document.text, []


def key_cuts(text: str, parts: Sequence[Part], split: Split, *, size: int, owner: str = "") -> Iterator[Cut]:
    """Yield the cuts of parts that follow each other."""
    units: list[Unit] = []
    paths: list[tuple[str, ...]] = []
    for part in parts:
        for unit, path in _units(text, part, split, size=size):
            units.append(unit)
            paths.append(path)
    starts = [unit.start for unit in units]
    for start, end in pack(units, parts[-1].end, size=size):
        held = paths[bisect_left(starts, start) : bisect_left(starts, end)]
        names = dict.fromkeys("_".join(".".join(filter(None, (owner, *path))).split()) for path in held)
        symbol = " ".join(list(filter(None, names))[:_MOST_NAMES])[:_LONGEST_SYMBOL].rstrip()
        yield Cut(start, end, symbol=symbol, header=" > ".join(_above(held)))


def _units(text: str, part: Part, split: Split, *, size: int, depth: int = 0) -> Iterator[tuple[Unit, tuple[str, ...]]]:
    """Yield what is not broken: a part of at most half the size, or the parts within a bigger one."""
    weight = weigh(text, part.start, part.end, size)
    inner = []
    if weight > size // 2 and part.inside >= 0 and depth < _DEEPEST:
        inner = split(text, part)
    border = _STRONGEST - depth
    for one in inner:
        for unit, path in _units(text, one, split, size=size, depth=depth + 1):
            yield unit._replace(border=max(border, unit.border)), path  # the first stands where the whole begins
            border = 0
    if inner:
        return
    pieces = [(part.start, part.end)] if weight <= size else cut_lines(text, part.start, part.end, size=size)
    for start, end in pieces:
        yield Unit(start, min(weigh(text, start, end, size), size), border), part.path
        border = 0


def _above(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the keys above all of these paths."""
    shortest = min((path[:-1] for path in paths), key=len, default=())
    count = 0
    for key in shortest:
        if any(path[count] != key for path in paths):
            break
        count += 1
    return shortest[:count]


def _owner(document: Document) -> str:
    """Return what keys of a PHP configuration file are asked for by: the name of the file."""
    return document.uri.rpartition("/")[2].partition(".")[0] if document.language == "php" else ""
