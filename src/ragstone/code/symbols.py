"""The symbols' pass: what one file defines, imports, uses and gives a type, by its text alone.

What the captures found is put together here: who stands in whom, which comments belong to a definition, its signature.
Nothing is resolved and nothing is guessed; a name that is written is reported as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ragstone.code.captures import Captures, captured
from ragstone.code.grammars import language_of
from ragstone.code.names import imports_of, namespace_of, type_of
from ragstone.code.places import CLASSES, FUNCTIONS, Placed, Places
from ragstone.types.code import Binding, FileFacts, Import, Reference

_FIELDS: Final = {
    "php": "$this->",
    "python": "self.",
    "javascript": "this.",
    "typescript": "this.",
    "tsx": "this.",
    "rust": "self.",
}
"""How a field is written inside of its class; where that can be left out, fields have their bare names."""
_OF_TYPES: Final = frozenset(("field", "declared", "assigned"))
_LONE: Final = re.compile("[\ud800-\udfff]")
"""Halves of a character, which no grammar's text may have; what stands for one is as long in bytes."""
_WORD: Final = re.compile(r"[\w$]+")
_GIVEN: Final = frozenset(("made", "other", "assigned"))
_SELVES: Final = frozenset(("self", "cls"))
_IS_CPP: Final = re.compile(
    r"^[ \t]*(?:class|namespace|template|using|public:|private:|protected:)\b", re.MULTILINE
)


def read(text: str, uri: str, language: str = "") -> FileFacts | None:
    """Return what a file says of itself; None where its language has no grammar or it is too long to be parsed.

    The language is told by the name, or given where the name says nothing.
    """
    language = language_of(uri) or language
    if language == "c" and uri.endswith(".h") and _IS_CPP.search(text):
        language = "cpp"
    try:
        found = captured(_LONE.sub("\ufffd", text).encode(), language) if language else None
    except KeyError:
        return None
    if found is None:
        return None
    places = Places(found, language)
    placed = places.placed()
    return FileFacts(
        uri=uri,
        language=language,
        namespace=namespace_of(language, uri, found.namespace),
        symbols=tuple(places.symbols(placed, plain=text.isascii())),
        imports=tuple(_imports(found, language, uri)),
        references=tuple(_references(found, placed)),
        bindings=tuple(_bindings(found, placed, _FIELDS.get(language, ""))),
        broken=_merged(found.broken),
    )


def _imports(found: Captures, language: str, uri: str) -> Iterator[Import]:
    """Yield what is imported; of two captures of one name, that which knows its kind counts."""
    known: dict[tuple[int, str], Import] = {}
    for one in (each for written in found.imports for each in imports_of(language, uri, written)):
        if one.kind or (one.line, one.name) not in known:
            known[one.line, one.name] = one
    yield from known.values()


def _references(found: Captures, placed: Sequence[Placed]) -> Iterator[Reference]:
    """Yield the uses of names, each with the symbol it stands in."""
    inside = _Inside(placed)
    for start, line, kind, name, receiver in found.references:
        around = inside.at(start)
        yield Reference(kind, name, receiver, line, around[-1].qualified if around else "")


def _bindings(found: Captures, placed: Sequence[Placed], field: str) -> Iterator[Binding]:
    """Yield the names that have a written type, or that of another name, which has one.

    A name that is also given something whose type is not written is told again, with no type.
    """
    inside = _Inside(placed)
    known: dict[tuple[str, str], str] = {}
    rows: dict[tuple[str, str, int, int], tuple[str, bool]] = {}
    declared: set[tuple[str, str]] = set()
    for start, line, kind, written, typed, value, end in found.bindings:
        around = inside.at(start)
        function = around[-1].qualified if around else ""
        direct = bool(around) and around[-1].kind in CLASSES
        if kind in _OF_TYPES:
            owner = next((one.qualified for one in reversed(around) if one.kind in CLASSES), "")
            name = field + written.removeprefix("$")
        elif direct or written in _SELVES:
            continue  # a field, which another capture names
        else:
            owner, name = function, written
        plain = type_of(typed) if typed else known.get((function, value), "")
        sure = kind not in _GIVEN and (kind != "field" or direct)
        if sure and kind in _OF_TYPES:
            declared.add((owner, name))
        # What a name is declared as counts, not what it is given in the same place.
        before, was_sure = rows.get((owner, name, line, end), ("", False))
        if not before or (sure and plain and not was_sure):
            rows[owner, name, line, end] = (plain, sure)
            if kind not in _OF_TYPES:
                known[owner, name] = plain
    names = {name for (_, name, _, _), (plain, _) in rows.items() if plain}
    names |= {one.qualified for one in placed}
    names |= {word for one in found.imports for word in _WORD.findall(one.alias or one.name)[-1:]}
    for (owner, name, line, _), (plain, sure) in rows.items():
        if sure or (owner, name) not in declared:
            if plain or name in names:
                yield Binding(owner, name, plain, line)


class _Inside:
    """What stands around places that are asked for in order."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        """Keep what others can stand in."""
        self._ahead = [
            one for one in reversed(placed) if one.kind in CLASSES or one.kind in FUNCTIONS
        ]
        self._around: list[Placed] = []

    def at(self, start: int) -> list[Placed]:
        """Return what is around a place, the outermost first."""
        while self._ahead and self._ahead[-1].start <= start:
            one = self._ahead.pop()
            self._leave(one.start)
            self._around.append(one)
        self._leave(start)
        return self._around

    def _leave(self, start: int) -> None:
        while self._around and self._around[-1].end <= start:
            self._around.pop()


def _merged(broken: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return runs of lines, those that touch made one."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted(broken):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return tuple(runs)
