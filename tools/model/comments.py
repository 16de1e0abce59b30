"""Finds the comments of a file and the code below them, in languages with and without a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKS = {
    "#": "py rb rake sh bash r pl pm jl ex exs nim cmake",
    "//": "c h cc cpp cxx hpp hxx hh m mm java js mjs ts tsx go rs swift kt kts scala cs zig php dart",
    "--": "lua hs sql elm adb ads",
    "%": "erl hrl",
}
_MARK_OF_SUFFIX = {suffix: mark for mark, names in _MARKS.items() for suffix in names.split()}
_LONGEST_CODE = 24
"""Lines of code that belong to a comment at most."""
_LEAST_CODE = 2
_NO_SUBJECT = re.compile(
    r"copyright|licen[sc]e|spdx|generated|eslint|prettier|noqa|pragma|\btodo\b|fixme|@ts-|^\W*$|"
    r"[;{}]\s*$",
    re.I | re.M,
)
_DECORATION = re.compile(r"^\s*[-=*#/~_]{3,}\s*$|[-=*#/~]{4,}", re.M)


@dataclass(frozen=True, slots=True)
class Comment:
    """The text of a comment, and the code that follows it up to an empty line or the next comment."""

    text: str
    line: int
    """The index of its first line."""
    code: str


def is_commented(name: str) -> bool:
    """Return whether the comments of a file can be found, by its name."""
    return name.rpartition(".")[2].lower() in _MARK_OF_SUFFIX


def read_comments(name: str, lines: list[str]) -> Iterator[Comment]:
    """Yield the comments that say something about the code below them."""
    mark = _MARK_OF_SUFFIX.get(name.rpartition(".")[2].lower())
    if mark is None:
        return
    number = 0
    while number < len(lines):
        end = _end_of_comment(lines, number, mark)
        if end == number:
            number += 1
            continue
        text = _strip_marks(lines[number:end], mark)
        code = _code_below(lines, end, mark)
        if code and not _NO_SUBJECT.search(text):
            yield Comment(text, number, code)
        number = end


def _end_of_comment(lines: list[str], start: int, mark: str) -> int:
    """Return the index of the line after the comment, or `start` if there is no comment."""
    end = start
    if mark == "//" and lines[start].lstrip().startswith("/*"):
        while end < len(lines) and "*/" not in lines[end]:
            end += 1
        return min(end + 1, len(lines))
    while end < len(lines) and lines[end].lstrip().startswith(mark):
        end += 1
    return end


def _strip_marks(lines: list[str], mark: str) -> str:
    pattern = rf"^\s*(?:/\*+!?|\*+/?|{re.escape(mark)}+[!/|^]?)\s?|\s*\*+/\s*$"
    text = "\n".join(re.sub(pattern, "", line).rstrip() for line in lines)
    return _DECORATION.sub("", text).strip()


def _code_below(lines: list[str], start: int, mark: str) -> str:
    end = start
    while end < min(len(lines), start + _LONGEST_CODE):
        line = lines[end].strip()
        if not line or line.startswith((mark, "/*")):
            break
        end += 1
    return "\n".join(lines[start:end]) if end - start >= _LEAST_CODE else ""
