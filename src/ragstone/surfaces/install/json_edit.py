"""Edits of JSON files with comments: one member is added or removed, every other byte stays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import InputError

_SPACES: Final = " \t\r\n\ufeff"
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its key, and the places of the key and the value in the text."""

    key: str
    start: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in the text: the place of its opening brace, its members, the place of its closing brace."""

    start: int
    members: tuple[_Member, ...]
    end: int

    def find(self, key: str) -> _Member | None:
        """Return the member with a key, or None."""
        return next((member for member in self.members if member.key == key), None)


def parse_json(text: str) -> object:
    """Return the data of JSON text with comments and trailing commas; raise `InputError` if it is not JSON."""
    try:
        return json.loads(_strip_comments(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", hint="mend the file first") from error


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a value at a path of keys; objects on the way are added if they are missing."""
    if not text.strip(_SPACES):
        return json.dumps(_nest(path, value), indent=_INDENT) + "\n"
    parse_json(text)
    place = _object_at(text, _skip(text, 0))
    for depth, key in enumerate(path):
        member = place.find(key)
        is_last = depth == len(path) - 1
        if member is None:
            return _insert(text, place, key, _nest(path[depth + 1 :], value))
        if is_last:
            new_value = _dump(value, _line_indent(text, member.start))
            return text[: member.value_start] + new_value + text[member.value_end :]
        place = _object_at(text, member.value_start)
    return text


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the value at a path; an object that becomes empty goes too."""
    parse_json(text)
    place = _object_at(text, _skip(text, 0))
    for key in path[:-1]:
        member = place.find(key)
        if member is None:
            return text
        place = _object_at(text, member.value_start)
    member = place.find(path[-1])
    if member is None:
        return text
    if len(place.members) == 1 and len(path) > 1:
        return remove_member(text, path[:-1])
    return _cut(text, place, member)


def _nest(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(text: str, place: _Object, key: str, value: object) -> str:
    """Return the text with a new first member: the end of an object may carry a comment of its last member."""
    if place.members:
        indent = _line_indent(text, place.members[0].start)
    else:
        indent = _line_indent(text, place.start) + _INDENT
    line = f"\n{indent}{json.dumps(key)}: {_dump(value, indent)}"
    after_brace = place.start + 1
    rest = text[after_brace:]
    if place.members:
        line += ","
        if not rest.startswith(("\n", "\r")):
            line += f"\n{indent}"
            rest = rest.lstrip(" \t")
    elif not text[after_brace : place.end].strip(_SPACES):
        rest = f"\n{_line_indent(text, place.start)}{text[place.end :]}"
    return text[:after_brace] + line + rest


def _cut(text: str, place: _Object, member: _Member) -> str:
    """Return the text without a member, its comma, and the line break before it."""
    start = member.start
    end = _skip(text, member.value_end)
    if text[end] == ",":
        end += 1
    else:
        end = member.value_end
        position = place.members.index(member)
        if position:
            previous = place.members[position - 1]
            comma = _skip(text, previous.value_end)
            text = text[:comma] + " " + text[comma + 1 :]
    line_start = len(text[:start].rstrip(" \t"))
    if line_start and text[line_start - 1] == "\n":
        start = len(text[:line_start].rstrip("\r\n"))
    return text[:start] + text[end:]


def _dump(value: object, indent: str) -> str:
    return json.dumps(value, indent=_INDENT).replace("\n", "\n" + indent)


def _line_indent(text: str, position: int) -> str:
    """Return the white space at the start of the line of a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _object_at(text: str, start: int) -> _Object:
    """Return the object at a place; raise `InputError` if there is another value."""
    if start >= len(text) or text[start] != "{":
        raise InputError(
            "an object `{…}` is expected, and there is another value",
            hint="mend the file first",
        )
    members: list[_Member] = []
    position = _skip(text, start + 1)
    while text[position] != "}":
        key_end = _end_of_string(text, position)
        value_start = _skip(text, _skip(text, key_end) + 1)
        value_end = _end_of_value(text, value_start)
        key = json.loads(text[position:key_end])
        members.append(_Member(key, position, value_start, value_end))
        position = _skip(text, value_end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return _Object(start, tuple(members), position)


def _end_of_value(text: str, position: int) -> int:
    """Return the place after a value; the text is known to be valid."""
    if text[position] == '"':
        return _end_of_string(text, position)
    if text[position] not in "{[":
        while position < len(text) and text[position] not in ",]}/" + _SPACES:
            position += 1
        return position
    depth = 0
    while True:
        position = _skip(text, position)
        character = text[position]
        if character == '"':
            position = _end_of_string(text, position)
            continue
        depth += (character in "{[") - (character in "]}")
        position += 1
        if not depth:
            return position


def _end_of_string(text: str, position: int) -> int:
    position += 1
    while text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position + 1


def _skip(text: str, position: int) -> int:
    """Return the place of the next character that is neither white space nor part of a comment."""
    while position < len(text):
        if text[position] in _SPACES:
            position += 1
        elif text.startswith("//", position):
            end = text.find("\n", position)
            position = end if end >= 0 else len(text)
        elif text.startswith("/*", position):
            end = text.find("*/", position + 2)
            position = end + 2 if end >= 0 else len(text)
        else:
            break
    return position


def _strip_comments(text: str) -> str:
    """Return the text without comments and without commas before a closing bracket."""
    parts: list[str] = []
    position = _skip(text, 0)
    while position < len(text):
        end = position + 1
        if text[position] == '"':
            closing = _find_closing_quote(text, position)
            end = closing + 1
        next_position = _skip(text, end)
        is_trailing_comma = text[position] == "," and text[
            next_position : next_position + 1
        ] in ("]", "}")
        if not is_trailing_comma:
            parts.append(text[position:end])
        if next_position > end:
            parts.append(" ")
        position = next_position
    return "".join(parts)


def _find_closing_quote(text: str, position: int) -> int:
    """Return the place of the quote that ends a string; the last place if there is none."""
    try:
        return _end_of_string(text, position) - 1
    except IndexError:
        return len(text) - 1
