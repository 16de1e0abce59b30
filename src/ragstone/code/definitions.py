"""Places definitions inside each other, finds their comments, and turns them into symbols."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ragstone.code.comments import comment_text, docstring_text, is_comment
from ragstone.code.names import owner_of
from ragstone.code.query_captures import Captures, DefinitionCapture
from ragstone.types import Symbol

SCOPE: Final = ""
"""The kind of a scope that is no symbol: Rust's `impl`, Swift's `extension`."""
CLASSES: Final = frozenset({"class", "interface", "trait", "enum", "struct", "module", SCOPE})
FUNCTIONS: Final = frozenset({"function", "method", "constructor"})
_PROTOTYPE: Final = "prototype"
"""A C function without a body. Inside a function it is a local variable that looks the same."""
_LOCAL_KINDS: Final = frozenset({"field", "constant", _PROTOTYPE})
_CONSTRUCTORS: Final = {
    "python": "__init__",
    "php": "__construct",
    "javascript": "constructor",
    "typescript": "constructor",
    "tsx": "constructor",
    "ruby": "initialize",
}
_MAX_SIGNATURE: Final = 200
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))
"""The UTF-8 bytes that do not start a character."""


class PlacedDefinition(NamedTuple):
    """A definition with its comments, and its qualified name."""

    start: int
    end: int
    kind: str
    qualified: str
    parent: str
    capture: DefinitionCapture


class DefinitionReader:
    """Reads the definitions of one file from its captures."""

    def __init__(self, captures: Captures, language: str) -> None:
        self._captures = captures
        self._constructor = _CONSTRUCTORS.get(language, "")
        self._constructor_has_class_name = language == "cpp"
        self._method_owners = CLASSES if language == "ruby" else CLASSES - {"module"}
        self._attached_ends = dict(captures.attached)
        self._attached = sorted(captures.attached, key=lambda span: span[1])
        self._ends = [end for _, end in self._attached]
        self._docstrings = dict(captures.docstrings)

    def place_definitions(self) -> list[PlacedDefinition]:
        """Return the definitions in the order of the text; a container comes before its content."""
        starts = {capture: self._start(capture) for capture in self._captures.definitions}
        captures = sorted(
            self._captures.definitions,
            key=lambda capture: (starts[capture], -capture.end, capture.pattern),
        )
        around: list[PlacedDefinition] = []
        seen: set[tuple[int, int, str]] = set()
        definitions: list[PlacedDefinition] = []
        for capture in captures:
            start = starts[capture]
            identity = (start, capture.end, capture.name)
            if identity in seen and capture.kind != SCOPE:
                continue
            seen.add(identity)
            while around and not _contains(around[-1], start, capture.end):
                around.pop()
            definition = self._place(start, capture, around)
            if definition is None:
                continue
            definitions.append(definition)
            if definition.kind in CLASSES or definition.kind in FUNCTIONS:
                around.append(definition)
        return definitions

    def symbols(
        self, definitions: Sequence[PlacedDefinition], *, is_ascii: bool
    ) -> Iterator[Symbol]:
        """Yield the symbols, with offsets in characters; in ASCII these are the offsets in bytes."""
        characters: dict[int, int] = {}
        if not is_ascii:
            offsets = {definition.start for definition in definitions}
            offsets.update(definition.end for definition in definitions)
            characters = _character_offsets(self._captures.data, offsets)
        for definition in definitions:
            if definition.kind == SCOPE:
                continue
            capture = definition.capture
            yield Symbol(
                name=_split_name(capture.name)[1],
                qualified=definition.qualified,
                kind=definition.kind,
                start=characters.get(definition.start, definition.start),
                end=characters.get(definition.end, definition.end),
                line=capture.line,
                line_end=capture.line_end,
                signature=self._signature(capture),
                doc=self._doc(capture),
                parent=definition.parent,
            )

    def _place(
        self, start: int, capture: DefinitionCapture, around: Sequence[PlacedDefinition]
    ) -> PlacedDefinition | None:
        """Return the placed definition; None if it is local to a function."""
        if _is_local(capture, around):
            return None
        container = around[-1] if around else None
        if container and container.kind == "constructor" and capture.kind == "field":
            container = _innermost_class(around)
        outer = container.qualified if container else ""
        qualifier, name = _split_name(capture.name)
        owner = owner_of(capture.owner or qualifier)
        parent = ".".join(filter(None, (outer, owner)))
        if capture.kind == SCOPE:
            return PlacedDefinition(start, capture.end, SCOPE, parent, outer, capture)
        kind = capture.kind
        if kind in FUNCTIONS or kind == _PROTOTYPE:
            kind = self._function_kind(kind, name, parent, container)
        qualified = f"{parent}.{name}" if parent else name
        return PlacedDefinition(start, capture.end, kind, qualified, parent, capture)

    def _function_kind(
        self, kind: str, name: str, parent: str, container: PlacedDefinition | None
    ) -> str:
        """Return `function`, `method` or `constructor`."""
        if kind in ("function", _PROTOTYPE):
            is_method = self._is_method(parent, container)
            kind = "method" if is_method else "function"
        constructor = self._constructor
        if self._constructor_has_class_name:
            constructor = parent.rpartition(".")[2]
        if kind == "method" and name == constructor:
            return "constructor"
        return kind

    def _is_method(self, parent: str, container: PlacedDefinition | None) -> bool:
        if not parent:
            return False
        if container is None or parent != container.qualified:
            return True
        return container.kind in self._method_owners

    # ── text around a definition ──────────────────────────────────────────────────────────────────

    def _start(self, capture: DefinitionCapture) -> int:
        """Return the start of a definition with its wrapping statement and the comments above it."""
        start = self._outer_start(capture)
        for attached_start, _ in self._attached_above(start):
            start = attached_start
        return start

    def _outer_start(self, capture: DefinitionCapture) -> int:
        """Return the start of the outermost statement that wraps a definition."""
        start = capture.start
        while (outer := self._captures.around.get((start, capture.end), start)) < start:
            start = outer
        return start

    def _attached_above(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield the comments and decorators directly above an offset, the nearest first.

        Each is on separate lines. One empty line may follow a documentation comment.
        """
        data = self._captures.data
        number = bisect_right(self._ends, start) - 1
        while number >= 0:
            above, end = self._attached[number]
            gap = data[end:start]
            is_documentation = data[above : above + 3] == b"/**"
            max_line_breaks = 2 if is_documentation else 1
            if gap.strip() or gap.count(b"\n") > max_line_breaks:
                return
            line_start = data.rfind(b"\n", 0, above) + 1
            follows_attached = number > 0 and self._attached[number - 1][1] > line_start
            if data[line_start:above].strip() and not follows_attached:
                return
            yield above, end
            start = above
            number -= 1

    def _doc(self, capture: DefinitionCapture) -> str:
        """Return the docstring of a definition, or else the comments above it."""
        captures = self._captures
        if capture.body in self._docstrings:
            end = self._docstrings[capture.body]
            return docstring_text(captures.text(capture.body, end))
        comments: list[str] = []
        for start, end in self._attached_above(self._outer_start(capture)):
            if is_comment(captures.data[start : start + 6]):
                comments.append(captures.text(start, end).rstrip())
        return comment_text("\n".join(reversed(comments)))

    def _signature(self, capture: DefinitionCapture) -> str:
        """Return the text before the body on one line, without attributes and comments."""
        captures = self._captures
        start = self._outer_start(capture)
        while start in self._attached_ends:
            start = self._attached_ends[start]
            rest = captures.data[start : start + 400]
            start += len(rest) - len(rest.lstrip())
        end = capture.body if capture.body >= start else capture.end
        end = min(end, start + 4 * _MAX_SIGNATURE)
        parts: list[str] = []
        for attached_start, attached_end in self._attached[bisect_right(self._ends, start) :]:
            if attached_start >= end:
                break
            parts.append(captures.text(start, attached_start))
            start = max(start, attached_end)
        parts.append(captures.text(start, max(start, end)))
        signature = " ".join(" ".join(parts).split())
        return signature[:_MAX_SIGNATURE].rstrip(" {:;=,")


def _contains(container: PlacedDefinition, start: int, end: int) -> bool:
    return container.end > start and (container.start, container.end) != (start, end)


def _is_local(capture: DefinitionCapture, around: Sequence[PlacedDefinition]) -> bool:
    """Return whether a definition is visible only in its function; fields in a constructor are not local."""
    if not around or around[-1].kind not in FUNCTIONS or capture.kind not in _LOCAL_KINDS:
        return False
    return around[-1].kind != "constructor" or capture.kind != "field"


def _innermost_class(around: Sequence[PlacedDefinition]) -> PlacedDefinition | None:
    for definition in reversed(around):
        if definition.kind in CLASSES:
            return definition
    return None


def _split_name(written: str) -> tuple[str, str]:
    """Return the qualifier of a name (`A` of `A::b`), and the name without it, quotes and a leading colon."""
    qualifier, _, name = written.rpartition("::")
    return qualifier, name.strip("\"'").removeprefix(":")


def _character_offsets(data: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Return the offset in characters of each offset in bytes."""
    characters: dict[int, int] = {}
    byte = character = 0
    for offset in sorted(offsets):
        character += len(data[byte:offset].translate(None, _CONTINUATION_BYTES))
        byte = offset
        characters[offset] = character
    return characters
