"""Definitions in their places: who stands in whom, which comments belong to each, and the symbols they make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ragstone.code.captures import Captures, Defined
from ragstone.code.comments import is_comment, said, unquoted
from ragstone.code.names import owner_of
from ragstone.types import Symbol

SCOPE: Final = ""
"""The kind of what others stand in without being a symbol: Rust's `impl`, Swift's `extension`."""
CLASSES: Final = frozenset({"class", "interface", "trait", "enum", "struct", "module", SCOPE})
FUNCTIONS: Final = frozenset({"function", "method", "constructor"})
_PROTOTYPE: Final = "prototype"
"""A function that is only declared; inside of another one it is a local variable that looks like it."""
_LOCAL: Final = frozenset({"field", "constant", _PROTOTYPE})
_CONSTRUCTORS: Final = {
    "python": "__init__",
    "php": "__construct",
    "javascript": "constructor",
    "typescript": "constructor",
    "tsx": "constructor",
    "ruby": "initialize",
}
_LONGEST_SIGNATURE: Final = 200
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
"""The bytes that begin no character."""


class Placed(NamedTuple):
    """A definition with all that belongs to it, and its full name."""

    start: int
    end: int
    kind: str
    qualified: str
    parent: str
    written: Defined


class Places:
    """The definitions that were found in a file."""

    def __init__(self, found: Captures, language: str) -> None:
        """Keep what was found, and where comments, decorators and attributes begin and end."""
        self._found = found
        self._constructor = _CONSTRUCTORS.get(language, "")
        self._named_alike = language == "cpp"
        self._classes = CLASSES if language == "ruby" else CLASSES - {"module"}
        self._ending_at = dict(found.attached)
        self._attached = sorted(found.attached, key=lambda one: one[1])
        self._ends = [end for _, end in self._attached]
        self._docstrings = dict(found.docstrings)

    def placed(self) -> list[Placed]:
        """Return the definitions in order of the text, those that stand in others behind them."""
        spans = sorted(
            ((self._begins(one), one) for one in self._found.definitions),
            key=lambda each: (each[0], -each[1].end, each[1].pattern),
        )
        around: list[Placed] = []
        seen: set[tuple[int, int, str]] = set()
        found: list[Placed] = []
        for start, one in spans:
            if (start, one.end, one.name) in seen and one.kind:
                continue
            seen.add((start, one.end, one.name))
            while around and (
                around[-1].end <= start or (around[-1].start, around[-1].end) == (start, one.end)
            ):
                around.pop()
            place = self._place(start, one, around)
            if place is None:
                continue
            found.append(place)
            if place.kind in CLASSES or place.kind in FUNCTIONS:
                around.append(place)
        return found

    def symbols(self, placed: Sequence[Placed], *, plain: bool) -> Iterator[Symbol]:
        """Yield the symbols; offsets are counted in characters, which are the bytes of plain ASCII."""
        at = (
            {}
            if plain
            else _characters(self._found.data, [place for one in placed for place in one[:2]])
        )
        for place in placed:
            if place.kind == SCOPE:
                continue
            one = place.written
            yield Symbol(
                name=_split(one.name)[1],
                qualified=place.qualified,
                kind=place.kind,
                start=at.get(place.start, place.start),
                end=at.get(place.end, place.end),
                line=one.line,
                line_end=one.line_end,
                signature=self._signature(one),
                doc=self._doc(place),
                parent=place.parent,
            )

    def _place(self, start: int, one: Defined, around: Sequence[Placed]) -> Placed | None:
        """Return a definition in its place; None for a name that only its function knows."""
        inner = around[-1] if around else None
        if inner and one.kind in _LOCAL and inner.kind in FUNCTIONS:
            if inner.kind != "constructor" or one.kind != "field":
                return None
            inner = next((each for each in reversed(around) if each.kind in CLASSES), None)
        outer = inner.qualified if inner else ""
        qualifier, name = _split(one.name)
        parent = ".".join(filter(None, (outer, owner_of(one.owner or qualifier))))
        if one.kind == SCOPE:
            return Placed(start, one.end, SCOPE, parent, outer, one)
        kind = (
            self._kind(one, name, parent, inner)
            if one.kind in FUNCTIONS or one.kind == _PROTOTYPE
            else one.kind
        )
        return Placed(start, one.end, kind, f"{parent}.{name}" if parent else name, parent, one)

    def _kind(self, one: Defined, name: str, parent: str, inner: Placed | None) -> str:
        """Return whether a function is a method or a constructor."""
        inside = parent != "" and (
            inner is None or parent != inner.qualified or inner.kind in self._classes
        )
        kind = "method" if inside and one.kind in ("function", _PROTOTYPE) else one.kind
        called = parent.rpartition(".")[2] if self._named_alike else self._constructor
        if kind == "method" and name == called:
            return "constructor"
        return "function" if kind == _PROTOTYPE else kind

    # ── what belongs to a definition ──────────────────────────────────────────────────────────────

    def _begins(self, one: Defined) -> int:
        """Return where a definition begins with what is around it and attached above it."""
        start = self._outer(one)
        for above, _ in self._above(start):
            start = above
        return start

    def _outer(self, one: Defined) -> int:
        """Return where what stands around a definition begins: both may be inside of a third."""
        start = one.start
        while (outer := self._found.around.get((start, one.end), start)) < start:
            start = outer
        return start

    def _above(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield what is attached right above a place, the nearest first: each on lines of its own, without a gap.

        Below a comment that is written for documentation one line may be empty.
        """
        data = self._found.data
        at = bisect_right(self._ends, start) - 1
        while at >= 0:
            above, end = self._attached[at]
            gap = data[end:start]
            lines = gap.count(b"\n")
            if gap.strip() or lines > (2 if data[above : above + 3] == b"/**" else 1):
                return
            before = data.rfind(b"\n", 0, above) + 1
            if data[before:above].strip() and not (at and self._attached[at - 1][1] > before):
                return
            yield above, end
            start = above
            at -= 1

    def _doc(self, place: Placed) -> str:
        """Return what is written about a definition: inside of it, or above."""
        found, body = self._found, place.written.body
        if body in self._docstrings:
            return unquoted(found.text(body, self._docstrings[body]))
        own = self._above(self._outer(place.written))
        pieces = [
            found.text(start, end)
            for start, end in own
            if is_comment(found.data[start : start + 6])
        ]
        return said("\n".join(piece.rstrip() for piece in reversed(pieces)))

    def _signature(self, one: Defined) -> str:
        """Return what opens a definition, on one line, without attributes and comments."""
        found, start = self._found, self._outer(one)
        while start in self._ending_at:
            start = self._ending_at[start]
            rest = found.data[start : start + 400]
            start += len(rest) - len(rest.lstrip())
        end = min(one.body if one.body >= start else one.end, start + 4 * _LONGEST_SIGNATURE)
        parts: list[str] = []
        first = bisect_right(self._ends, start)
        for above, below in self._attached[first:]:
            if above >= end:
                break
            parts.append(found.text(start, above))
            start = max(start, below)
        parts.append(found.text(start, max(start, end)))
        return " ".join(" ".join(parts).split())[:_LONGEST_SIGNATURE].rstrip(" {:;=,")


def _split(name: str) -> tuple[str, str]:
    """Return what qualifies a name (`A::b`), and the name without that and without quotes or a colon before it."""
    qualifier, _, bare = name.rpartition("::")
    return qualifier, bare.strip("\"'").removeprefix(":")


def _characters(data: bytes, offsets: Sequence[int]) -> dict[int, int]:
    """Return the place in characters of each place in bytes."""
    found: dict[int, int] = {}
    byte = character = 0
    for offset in sorted(set(offsets)):
        character += len(data[byte:offset].translate(None, _CONTINUATION))
        byte = offset
        found[offset] = character
    return found
