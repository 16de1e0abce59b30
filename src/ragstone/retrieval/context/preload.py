"""Whole files as a prompt is given them: as many as a hard budget takes, fenced, and those that do not fit by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.retrieval.context.fence import WARNING, closer, neutral, new_mark, opener
from ragstone.retrieval.context.fit import NO_ROOM, Count
from ragstone.retrieval.context.layout import line
from ragstone.text.tokens import at_most
from ragstone.types import Skip

HEADING: Final = "[DOCUMENTATION]"
_NAMED: Final = 20
"""Files that did not fit and are named in the text; the others are counted there and listed beside it."""
_LONGEST_NAME: Final = 120
_MISSES: Final = 100
"""After so many files in a row that do not fit, no other is read."""
_SLACK: Final = 1.2
"""Counts of parts add up to a little more or less than the count of the whole."""

Read = Callable[[str], str | None]
"""Returns the text of a file, None where it has none."""


@dataclass(frozen=True, slots=True)
class Preloaded:
    """A text inside its budget, and what became of each file."""

    text: str = ""
    tokens: int = 0
    files: Sequence[str] = ()
    left_out: Sequence[Skip] = ()


Piece = tuple[str, str]
"""A file's name and its text, nothing hidden in it."""


def preload(uris: Iterable[str], read: Read, budget: int, *, count: Count = at_most) -> Preloaded:
    """Return the text of whole files, in this order, never more than the budget; empty where not even a frame fits."""
    taken: list[Piece] = []
    left: list[str] = []
    mark = new_mark(())
    used, misses = 0, 0
    for uri in uris:
        if misses >= _MISSES or used >= budget:
            left.append(uri)
            continue
        text = neutral(read(uri) or "")
        if not text.strip():
            continue
        if mark in text or mark in uri:  # nobody could have known it, and still
            mark = new_mark((text, uri, *(held for piece in taken for held in piece)))
        size = count(_shown((uri, text)))
        if (
            used + size <= budget * _SLACK
            and count(_page(mark, [*taken, (uri, text)], left)) <= budget
        ):
            taken.append((uri, text))
            used, misses = used + size, 0
        else:
            left.append(uri)
            misses += 1
    while (
        taken and count(_page(mark, taken, left)) > budget
    ):  # naming what is left out took the last room
        left.append(taken.pop()[0])
    text = _page(mark, taken, left) if taken or left else ""
    if count(text) > budget:
        text = ""
    return Preloaded(
        text, count(text), [uri for uri, _ in taken], [Skip(uri, NO_ROOM) for uri in sorted(left)]
    )


def _page(mark: str, taken: Sequence[Piece], left: Sequence[str]) -> str:
    names = [line(uri)[:_LONGEST_NAME] for uri in left[:_NAMED]]
    if len(left) > _NAMED:
        names.append(f"and {len(left) - _NAMED} more")
    tail = f"Not shown, for want of room: {', '.join(names)}\n" if names else ""
    return (
        f"{HEADING}\n{WARNING}\n{opener(mark)}\n{''.join(map(_shown, taken))}{tail}{closer(mark)}"
    )


def _shown(piece: Piece) -> str:
    uri, text = piece
    return f"File: {line(uri)}\n{text.rstrip()}\n\n"
