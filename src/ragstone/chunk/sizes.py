"""The sizes of chunks, and recipes: the name of a chunker with its version and sizes.

A document with another recipe is cut again.

A search compares recipes without loading a chunker, so this module imports none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ragstone.chunk.packing import check_sizes
from ragstone.errors import InputError

NAMES: Final = (
    "auto",
    "chars",
    "sentences",
    "tokens",
    "markdown",
    "code",
    "prose",
    "lines",
)

CODE_SIZE: Final = 300
"""Tokens of a chunk of code: about thirty lines, a function with its comment."""
CODE_LINES: Final = 50
PROSE_SIZE: Final = 160

MIXED: Final = {
    "auto": (
        "definitions",
        "markdown",
        "marked",
        "rows",
        "keys",
        "openapi",
        "lines",
        "prose",
    ),
    "code": ("definitions", "lines"),
}
"""Names that choose a chunker for each document, and the chunkers they choose from."""
OVERLAPS: Final = {
    "chars": 200,
    "sentences": 200,
    "tokens": 64,
    "markdown": 0,
    "marked": 0,
    "prose": 0,
}
"""Chunkers that support an overlap, with their defaults. An overlap of sections and paragraphs would repeat text
that is found anyway."""
_VERSIONS: Final = {
    "definitions": 4,
    "keys": 2,
    "lines": 3,
    "prose": 3,
    "sentences": 2,
    "tokens": 2,
    "markdown": 2,
    "marked": 2,
}
_SIZES: Final = {
    "chars": 1000,
    "sentences": 2000,
    "tokens": 512,
    "markdown": PROSE_SIZE,
    "marked": PROSE_SIZE,
    "prose": PROSE_SIZE,
}


_IN_CHARACTERS: Final = ("chars", "sentences")
"""Chunkers that measure in characters; all others count tokens."""
_CHARACTERS_PER_TOKEN: Final = 4


def size_in_unit(chunker: str, characters: int | None, tokens: int | None) -> int | None:
    """Return the largest chunk in the unit of a chunker, rounded up; None if neither is given."""
    if chunker in _IN_CHARACTERS:
        if tokens is not None:
            return tokens * _CHARACTERS_PER_TOKEN
        return characters
    if characters is not None and tokens is None:
        return -(-characters // _CHARACTERS_PER_TOKEN)
    return tokens


def overlap_in_unit(chunker: str, characters: int | None, tokens: int | None) -> int | None:
    """Return the overlap in the unit of a chunker, rounded down so that it stays below the size."""
    if characters is not None and tokens is None and chunker not in _IN_CHARACTERS:
        return characters // _CHARACTERS_PER_TOKEN
    return size_in_unit(chunker, characters, tokens)


@lru_cache(maxsize=64)
def describe_recipe(
    name: str = "auto", size: int | None = None, overlap: int | None = None
) -> str:
    """Return the recipe of these settings for all documents. Raise `InputError` if they allow no chunk."""
    check_name(name)
    recipes = []
    for chunker in MIXED.get(name, (name,)):
        chunk_size, chunk_overlap = resolve_sizes(chunker, size, overlap)
        check_sizes(chunk_size, chunk_overlap or 0)
        numbers = [chunk_size]
        if chunk_overlap is not None:
            numbers.append(chunk_overlap)
        elif chunker == "lines":
            numbers.append(CODE_LINES)
        recipes.append(format_recipe(chunker, *numbers))
    return f"{name}:" + ",".join(recipes)


def format_recipe(chunker: str, *numbers: int) -> str:
    """Return the recipe of one chunker: its name, its version and its sizes."""
    version = _VERSIONS.get(chunker, 1)
    fields = (chunker, version, *numbers)
    return "/".join(map(str, fields))


def resolve_sizes(
    chunker: str, size: int | None, overlap: int | None
) -> tuple[int, int | None]:
    """Return a chunker's size and overlap, with its defaults for None; the overlap is None if it supports none."""
    chunk_size = _SIZES.get(chunker, CODE_SIZE) if size is None else size
    if chunker not in OVERLAPS:
        return chunk_size, None
    if overlap is not None:
        return chunk_size, overlap
    default = OVERLAPS[chunker]
    if size is not None:  # the default overlap must not make a small size invalid
        default = min(default, max(size, 0) // 5)
    return chunk_size, default


def check_name(name: str) -> None:
    """Raise `InputError` if there is no chunker of that name."""
    if name not in NAMES:
        raise InputError(
            f"There is no chunker named {name!r}.",
            hint=f"known are {', '.join(NAMES)}",
        )


def check_overlap(name: str, overlap: int | None) -> None:
    """Raise `InputError` if the chunker of that name supports no overlap."""
    if overlap and name != "auto" and name not in OVERLAPS:
        hint = "leave the overlap out, or use auto, tokens or prose"
        raise InputError(f"The chunker for {name} knows no overlap.", hint=hint)


def check_chunking(name: str, size: int | None, overlap: int | None) -> None:
    """Raise `InputError` if no document could be cut with these settings."""
    describe_recipe(name, size, overlap)
    check_overlap(name, overlap)
