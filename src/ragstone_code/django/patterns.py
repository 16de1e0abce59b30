"""Django's ways of writing a path, as one: parameters in braces."""

from __future__ import annotations

import re
from typing import Final

CONVERTED: Final = re.compile(r"<(?:[^<>:\s]+:)?([^<>\s]+)>")
NAMED: Final = re.compile(r"\(\?P<(\w+)>")
PLAIN: Final = {r"\.": ".", r"\-": "-", r"\/": "/", r"\_": "_", r"\Z": "", r"\A": "", r"\+": "+"}


def written(path: str) -> str:
    """Return a path of `path()`: `orders/<int:pk>/` is `orders/{pk}/`."""
    return CONVERTED.sub(r"{\1}", path)


def simplified(regex: str) -> str:
    """Return a regular expression of `re_path()` as a path: groups become parameters, anchors go."""
    found: list[str] = []
    at, count = 0, 0
    while at < len(regex):
        sign = regex[at]
        if sign == "(":
            end = _closing(regex, at)
            name = NAMED.match(regex, at)
            if name:
                found.append("{" + name[1] + "}")
            elif not regex.startswith("(?", at):
                found.append("{" + str(count) + "}")
                count += 1
            else:
                found.append(simplified(_inner(regex[at:end])))
            at = end
        elif sign == "\\":
            pair = regex[at : at + 2]
            found.append(PLAIN.get(pair, pair))
            at += 2
        else:
            found.append("" if sign in "^$?" else sign)
            at += 1
    return "".join(found)


def _inner(group: str) -> str:
    """Return what a group that keeps nothing has in it."""
    return re.sub(r"^\(\?[:=!<>]*", "", group).removesuffix(")") if group.startswith("(?:") else ""


def _closing(regex: str, at: int) -> int:
    """Return the place after the parenthesis that ends a group."""
    depth, place, inside = 0, at, False
    while place < len(regex):
        sign = regex[place]
        if sign == "\\":
            place += 1
        elif inside:
            inside = sign != "]"
        elif sign == "[":
            inside = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if not depth:
                return place + 1
        place += 1
    return len(regex)
