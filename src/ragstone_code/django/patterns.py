"""Django's path syntaxes as paths with parameters in braces."""

from __future__ import annotations

import re
from typing import Final

_CONVERTER: Final = re.compile(r"<(?:[^<>:\s]+:)?([^<>\s]+)>")
_NAMED_GROUP: Final = re.compile(r"\(\?P<(\w+)>")
_ESCAPES: Final = {
    r"\.": ".",
    r"\-": "-",
    r"\/": "/",
    r"\_": "_",
    r"\Z": "",
    r"\A": "",
    r"\+": "+",
}


def convert_path(path: str) -> str:
    """Return the path of a `path()` call: `orders/<int:pk>/` becomes `orders/{pk}/`."""
    return _CONVERTER.sub(r"{\1}", path)


def convert_regex(regex: str) -> str:
    """Return the path of a `re_path()` call: groups become parameters, anchors are removed."""
    parts: list[str] = []
    position = 0
    unnamed_groups = 0
    while position < len(regex):
        character = regex[position]
        if character == "(":
            end = _group_end(regex, position)
            name = _NAMED_GROUP.match(regex, position)
            if name:
                parts.append("{" + name[1] + "}")
            elif regex.startswith("(?", position):
                parts.append(convert_regex(_uncaptured_content(regex[position:end])))
            else:
                parts.append("{" + str(unnamed_groups) + "}")
                unnamed_groups += 1
            position = end
        elif character == "\\":
            escape = regex[position : position + 2]
            parts.append(_ESCAPES.get(escape, escape))
            position += 2
        else:
            if character not in "^$?":
                parts.append(character)
            position += 1
    return "".join(parts)


def _uncaptured_content(group: str) -> str:
    """Return the content of a `(?:…)` group; nothing for other special groups."""
    if not group.startswith("(?:"):
        return ""
    return re.sub(r"^\(\?[:=!<>]*", "", group).removesuffix(")")


def _group_end(regex: str, start: int) -> int:
    """Return the position after the parenthesis that closes a group."""
    depth = 0
    position = start
    in_brackets = False
    while position < len(regex):
        character = regex[position]
        if character == "\\":
            position += 1
        elif in_brackets:
            in_brackets = character != "]"
        elif character == "[":
            in_brackets = True
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if not depth:
                return position + 1
        position += 1
    return len(regex)
