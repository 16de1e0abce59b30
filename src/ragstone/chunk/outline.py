"""A Python module without what its functions do: as many lines, the same definitions, a sixth of the work to parse.

Strings are emptied, comments dropped, and the body of every function becomes `pass` on its last line of code. Where
anything is out of the ordinary there is no outline, and the caller parses the text as it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

# An unclosed string goes on to the end, so that nothing is looked at twice.
_QUIET: Final = re.compile(
    r'''"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:"""|\\?\Z)'''
    r"""|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+(?:'''|\\?\Z)"""
    r'''|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'''
    r"""|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'"""
    r"""|\#[^\n]*+""",
    re.DOTALL,
)
_FUNCTION: Final = re.compile(r"^( *+)(?:async +)?def\b[^\n]*", re.MULTILINE)
_TABS: Final = re.compile(r"^ *+\t", re.MULTILINE)
_DEEP: Final = " " * 64
"""Before what continues a string on further lines: deeper than any body, so that it never seems to end one."""


def outline(text: str) -> str | None:
    """Return the module's outline, or None where only the whole text can tell."""
    if "\0" in text or "\r" in text:
        return None
    bare = _QUIET.sub(_quiet, text)
    if "\t" in bare and _TABS.search(bare):
        return None
    parts: list[str] = []
    at = opened = 0
    for found in _FUNCTION.finditer(bare):
        if found.start() < max(at, opened):
            continue
        end = _opened(bare, found.start(), found.end())
        if end is None:
            return None
        opened = end
        if not bare[found.start() : opened].rstrip().endswith(":"):
            continue
        body = _body(bare, opened, len(found[1]))
        if body is None:
            return None
        parts += bare[at:opened], "\n" * body.count("\n"), found[1], " pass"
        at = opened + len(body)
    return "".join((*parts, bare[at:]))


def _quiet(found: re.Match[str]) -> str:
    """Return what stands for a string or a comment, on as many lines."""
    text = found[0]
    if text[0] == "#":
        return ""
    lines = text.count("\n")
    # The name may follow a string of bytes, which another string may not.
    return '""\\\n' + (_DEEP + "\\\n") * (lines - 1) + _DEEP + "+x" if lines else '""'


def _opened(bare: str, start: int, end: int) -> int | None:
    """Return where the lines end that open a function: behind its last bracket; None where that is never closed."""
    open_brackets = _level(bare[start:end])
    while open_brackets > 0:
        if end == len(bare):
            return None
        following = bare.find("\n", end + 1)
        following = len(bare) if following < 0 else following
        open_brackets += _level(bare[end:following])
        end = following
    return end


def _body(bare: str, start: int, indentation: int) -> str | None:
    """Return the lines below a function up to its last line of code; None where they do not end where they seem to."""
    following = _outside(indentation).search(bare, start + 1)
    body = bare[start : following.start() if following else len(bare)].rstrip()
    return None if not body or body.endswith("\\") or _level(body) else body


def _level(code: str) -> int:
    """Return how many brackets more are opened than closed."""
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))


@cache
def _outside(indentation: int) -> re.Pattern[str]:
    """Return what finds a line of code that is indented no further."""
    return re.compile(rf"^ {{0,{indentation}}}[^ \n]", re.MULTILINE)
