"""Reads the facts of one file from its text alone: definitions, imports, uses of names, written types.

Names are reported as they are written. `ragstone.code.resolve` finds their targets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ragstone.code.definitions import CLASSES, FUNCTIONS, DefinitionReader, PlacedDefinition
from ragstone.code.file_languages import language_of
from ragstone.code.names import imports_of, namespace_of, type_of
from ragstone.code.query_captures import BindingCapture, Captures, find_captures
from ragstone.types.code import Binding, FileFacts, Import, Reference

_FIELD_PREFIXES: Final = {
    "php": "$this->",
    "python": "self.",
    "javascript": "this.",
    "typescript": "this.",
    "tsx": "this.",
    "rust": "self.",
}
"""The receiver of a field inside its class; other languages write fields as bare names."""
_FIELD_KINDS: Final = frozenset(("field", "declared", "assigned"))
_CALLS: Final = frozenset(("call", "new"))
_ASSIGNMENT_KINDS: Final = frozenset(("made", "other"))
_SELF_NAMES: Final = frozenset(("self", "cls"))
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WORD: Final = re.compile(r"[\w$]+")
_CPP_HEADER: Final = re.compile(
    r"^[ \t]*(?:class|namespace|template|using|public:|private:|protected:)\b", re.MULTILINE
)


def read_facts(
    text: str, uri: str, language: str = "", *, definitions_only: bool = False
) -> FileFacts | None:
    """Return the facts of a file; None if its language has no grammar or the file is too long to parse.

    `language` is used if the file's name does not decide. `definitions_only` leaves out the imports, the uses of names
    and the written types: chunks need none of them, and reading them takes as long as all the rest.
    """
    language = language_of(uri) or language
    if not language:
        return None
    if language == "c" and uri.endswith(".h") and _CPP_HEADER.search(text):
        language = "cpp"
    data = _SURROGATE.sub("\ufffd", text).encode()  # as long in bytes as a surrogate
    try:
        captures = find_captures(data, language, definitions_only=definitions_only)
    except KeyError:
        return None
    if captures is None:
        return None
    reader = DefinitionReader(captures, language)
    definitions = reader.place_definitions()
    facts = FileFacts(
        uri=uri,
        language=language,
        namespace=namespace_of(language, uri, captures.namespace),
        symbols=tuple(reader.symbols(definitions, is_ascii=text.isascii())),
        broken=_merge_line_ranges(captures.broken),
    )
    if definitions_only:
        return facts
    return replace(
        facts,
        imports=_read_imports(captures, language, uri),
        references=_read_references(captures, definitions),
        bindings=_read_bindings(captures, definitions, _FIELD_PREFIXES.get(language, "")),
    )


def _read_imports(captures: Captures, language: str, uri: str) -> tuple[Import, ...]:
    """Return the imports; if two captures match one name, the capture with a kind wins."""
    imports: dict[tuple[int, str], Import] = {}
    for capture in captures.imports:
        for imported in imports_of(language, uri, capture):
            key = (imported.line, imported.name)
            if imported.kind or key not in imports:
                imports[key] = imported
    return tuple(imports.values())


def _read_references(
    captures: Captures, definitions: Sequence[PlacedDefinition]
) -> tuple[Reference, ...]:
    """Return the uses of names, each with the symbol that contains it."""
    scopes = _ScopeCursor(definitions)
    references: list[Reference] = []
    for start, line, kind, name, receiver in captures.references:
        around = scopes.scopes_at(start)
        if kind in _CALLS:  # The code around a definition calls its decorators.
            around = [scope for scope in around if scope.capture.line <= line]
        inside = around[-1].qualified if around else ""
        references.append(Reference(kind, name, receiver, line, inside))
    return tuple(references)


def _read_bindings(
    captures: Captures, definitions: Sequence[PlacedDefinition], field_prefix: str
) -> tuple[Binding, ...]:
    """Return the names with a written type, or with the type of another name.

    A name that also gets a value without a written type is listed again, with an empty type.
    """
    collector = _BindingCollector(_ScopeCursor(definitions), field_prefix)
    for capture in captures.bindings:
        collector.add(capture)
    other_names = {definition.qualified for definition in definitions}
    for imported in captures.imports:
        words = _WORD.findall(imported.alias or imported.name)
        other_names.update(words[-1:])
    return collector.bindings(other_names)


class _BindingKey(NamedTuple):
    """A place where a name gets a type or a value."""

    owner: str
    name: str
    line: int
    end: int


class _BindingCollector:
    """Combines the binding captures of a file; captures are added in the order of the text."""

    def __init__(self, scopes: _ScopeCursor, field_prefix: str) -> None:
        self._scopes = scopes
        self._field_prefix = field_prefix
        self._local_types: dict[tuple[str, str], str] = {}
        self._rows: dict[_BindingKey, tuple[str, bool]] = {}
        """Type of each place, and whether it is a declaration rather than an assignment."""
        self._declared_fields: set[tuple[str, str]] = set()

    def add(self, capture: BindingCapture) -> None:
        """Record a capture. A declaration replaces an assignment at the same place."""
        around = self._scopes.scopes_at(capture.start)
        in_class_body = bool(around) and around[-1].kind in CLASSES
        function = around[-1].qualified if around else ""
        if capture.type:
            type_name = type_of(capture.type)
        else:
            type_name = self._local_types.get((function, capture.value), "")
        if capture.kind in _FIELD_KINDS:
            owner = _innermost_class(around)
            name = self._field_prefix + capture.name.removeprefix("$")
            is_declared = capture.kind == "declared"
            if in_class_body and capture.kind == "field":
                is_declared = True
            if is_declared:
                self._declared_fields.add((owner, name))
            key = _BindingKey(owner, name, capture.line, capture.end)
            self._record(key, type_name, is_declared=is_declared)
        elif not in_class_body and capture.name not in _SELF_NAMES:
            key = _BindingKey(function, capture.name, capture.line, capture.end)
            is_declared = capture.kind not in _ASSIGNMENT_KINDS
            if self._record(key, type_name, is_declared=is_declared):
                self._local_types[function, capture.name] = type_name

    def _record(self, key: _BindingKey, type_name: str, *, is_declared: bool) -> bool:
        """Store the type of a place unless it has a better one; return whether it was stored."""
        old_type, was_declared = self._rows.get(key, ("", False))
        is_better = is_declared and type_name != "" and not was_declared
        if old_type and not is_better:
            return False
        self._rows[key] = (type_name, is_declared)
        return True

    def bindings(self, other_names: set[str]) -> tuple[Binding, ...]:
        """Return the bindings; an untyped name is listed only if it hides a typed name or one of `other_names`."""
        names = {key.name for key, (type_name, _) in self._rows.items() if type_name}
        names |= other_names
        bindings: list[Binding] = []
        for key, (type_name, is_declared) in self._rows.items():
            if not is_declared and (key.owner, key.name) in self._declared_fields:
                continue
            if type_name or key.name in names:
                bindings.append(Binding(key.owner, key.name, type_name, key.line))
        return tuple(bindings)


def _innermost_class(around: Sequence[PlacedDefinition]) -> str:
    for definition in reversed(around):
        if definition.kind in CLASSES:
            return definition.qualified
    return ""


class _ScopeCursor:
    """Finds the classes and functions around offsets that are asked in ascending order."""

    def __init__(self, definitions: Sequence[PlacedDefinition]) -> None:
        scopes = [
            definition
            for definition in definitions
            if definition.kind in CLASSES or definition.kind in FUNCTIONS
        ]
        self._ahead = scopes[::-1]
        self._around: list[PlacedDefinition] = []

    def scopes_at(self, start: int) -> list[PlacedDefinition]:
        """Return the scopes around an offset, the outermost first. Do not change the list."""
        while self._ahead and self._ahead[-1].start <= start:
            scope = self._ahead.pop()
            self._leave_scopes(scope.start)
            self._around.append(scope)
        self._leave_scopes(start)
        return self._around

    def _leave_scopes(self, start: int) -> None:
        while self._around and self._around[-1].end <= start:
            self._around.pop()


def _merge_line_ranges(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the ranges sorted, with touching ranges joined."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
