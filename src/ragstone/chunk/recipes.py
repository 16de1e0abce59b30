"""What names a way of cutting: a chunker, its version and its sizes. Another name means cutting again.

Told without any chunker: a search has to know whether files were cut as they would be now, and cuts none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ragstone.chunk.pack import check_sizes
from ragstone.errors import InputError

NAMES: Final = ("auto", "chars", "sentences", "tokens", "markdown", "code", "prose", "lines")

CODE_SIZE: Final = 300
"""Tokens of a chunk of code: about thirty lines, a function with its comment."""
CODE_LINES: Final = 50
PROSE_SIZE: Final = 160

SEVERAL: Final = {
    "auto": ("python", "definitions", "markdown", "marked", "rows", "keys", "openapi", "lines", "prose"),
    "code": ("python", "definitions", "lines"),
}
OVERLAPS: Final = {"chars": 200, "sentences": 200, "tokens": 64, "markdown": 0, "marked": 0, "prose": 0}
"""Chunkers that know an overlap, with their own. Sections and paragraphs stand alone: overlap there would only repeat
what is found anyway."""
_VERSIONS: Final = {"definitions": 2}
_SIZES: Final = {"chars": 1000, "sentences": 2000, "tokens": 512} | dict.fromkeys(
    ("markdown", "marked", "prose"), PROSE_SIZE
)


@lru_cache(maxsize=64)
def recipe(name: str = "auto", size: int | None = None, overlap: int | None = None) -> str:
    """Return what names these settings for all documents."""
    check_name(name)
    told = []
    for each in SEVERAL.get(name, (name,)):
        most, shared = sizes(each, size, overlap if each in OVERLAPS else None)
        check_sizes(most, shared or 0)
        more = (shared,) if shared is not None else (CODE_LINES,) if each == "lines" else ()
        told.append(named(each, most, *more))
    return f"{name}:" + ",".join(told)


def named(chunker: str, *numbers: int) -> str:
    """Return what names a chunker of these sizes."""
    return "/".join((chunker, *map(str, (_VERSIONS.get(chunker, 1), *numbers))))


def sizes(chunker: str, size: int | None, overlap: int | None) -> tuple[int, int | None]:
    """Return a chunker's size and overlap, those left out its own; no overlap where it knows none."""
    most = _SIZES.get(chunker, CODE_SIZE) if size is None else size
    if chunker not in OVERLAPS:
        return most, None
    if overlap is None:
        overlap = OVERLAPS[chunker]
        if size is not None:  # an overlap nobody asked for never forbids a size
            overlap = min(overlap, max(size, 0) // 5)
    return most, overlap


def check_name(name: str) -> None:
    """Raise `InputError` where there is no chunker of that name."""
    if name not in NAMES:
        raise InputError(f"There is no chunker named {name!r}.", hint=f"known are {', '.join(NAMES)}")
