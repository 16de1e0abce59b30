"""Path patterns in git's syntax, compiled to regular expressions that match in linear time.

Patterns come with cloned files and from users, so they may be hostile. Every star but the last of a path segment is an
atomic group: `*a*a*a*a*b` stays linear, while a plain translation would backtrack for years.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_STAR: Final = "*"
_DEEP: Final = "**/"
_POSIX_CLASSES: Final = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class _InvalidGlob(Exception):
    """The pattern can match nothing: a bracket is not closed, or it ends in a backslash."""


def has_wildcard(pattern: str) -> bool:
    """Return whether a pattern holds a character with a special meaning."""
    return any(sign in pattern for sign in "*?[\\")


def matches_path(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern of a filter.

    A pattern without `/` is a name at any depth. One without wildcards is a file, or a folder and everything below it.
    `/` or `./` in front anchors the pattern at the top.
    """
    return _compile_filter(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compile_filter(pattern: str) -> re.Pattern[str]:
    glob = pattern[2:] if pattern.startswith("./") else pattern.removeprefix("/")
    is_anchored = glob != pattern
    if glob.endswith("/"):
        glob += "**"
    globs = [glob]
    if "/" not in glob and glob != "**" and not is_anchored:
        globs = [f"**/{glob}"]
    if glob and not has_wildcard(glob):
        globs.append(f"{globs[0]}/**")
    expressions = [translate_glob(option) or re.escape(option) for option in globs]
    return re.compile("|".join(expressions), re.DOTALL)


def compile_glob(pattern: str) -> re.Pattern[str] | None:
    """Return an expression that matches whole paths, or None if the pattern can match nothing."""
    expression = translate_glob(pattern)
    return None if expression is None else re.compile(expression, re.DOTALL)


def translate_glob(pattern: str) -> str | None:
    """Return the source of the expression for a pattern, or None if the pattern can match nothing.

    `*` and `?` match inside a folder, `**` crosses folders, `[...]` is one character, a backslash escapes.
    """
    try:
        tokens = _tokenise(pattern)
    except _InvalidGlob:
        return None
    blocks = _split(tokens, _DEEP)
    expression = _translate_block(blocks[0])
    for block in blocks[1:-1]:
        # The first position where a middle block matches is enough, because any folders may follow it.
        expression += f"(?>(?:[^/]*/)*?{_translate_block(block)})"
    if len(blocks) > 1:
        expression += f"(?:.*/)?{_translate_block(blocks[-1])}"
    return expression


def _tokenise(pattern: str) -> list[str]:
    """Return an expression for each character or bracket, and `_STAR` or `_DEEP` for stars."""
    tokens: list[str] = []
    position = 0
    while position < len(pattern):
        sign = pattern[position]
        if sign == "*":
            token, position = _read_stars(pattern, position)
        elif sign == "[":
            token, position = _read_bracket(pattern, position + 1)
        elif sign == "?":
            token, position = "[^/]", position + 1
        else:
            char, position = _read_character(pattern, position)
            token = re.escape(char)
        tokens.append(token)
    return tokens


def _read_stars(pattern: str, start: int) -> tuple[str, int]:
    """Return the token for a run of stars, and its end."""
    end = start
    while pattern[end : end + 1] == "*":
        end += 1
    # Git compares the text before the first wildcard separately, so to git `a**/b` also begins a segment.
    begins_segment = pattern[start - 1 : start] == "/" or not has_wildcard(pattern[:start])
    if end - start >= 2 and begins_segment:
        if end == len(pattern):
            return ".+", end
        if pattern[end] == "/":
            return _DEEP, end + 1
    return _STAR, end


def _read_bracket(pattern: str, position: int) -> tuple[str, int]:
    """Return the character class that begins after a `[`, and its end."""
    is_negated = pattern[position : position + 1] in ("!", "^")
    position += is_negated
    item, position = _read_bracket_item(
        pattern, position
    )  # a `]` in first place is an ordinary character
    members = item
    while pattern[position : position + 1] != "]":
        item, position = _read_bracket_item(pattern, position)
        members += item
    if members:
        return f"(?!/)[{'^' if is_negated else ''}{members}]", position + 1
    return ("[^/]" if is_negated else "(?!)"), position + 1


def _read_bracket_item(pattern: str, position: int) -> tuple[str, int]:
    """Return one character, range or named class of a bracket, and its end."""
    if pattern.startswith("[:", position):
        close = pattern.find("]", position + 2)
        if close < 0:
            raise _InvalidGlob
        if pattern[close - 1] == ":" and close - 1 >= position + 2:
            name = pattern[position + 2 : close - 1]
            if name not in _POSIX_CLASSES:
                raise _InvalidGlob
            return _POSIX_CLASSES[name], close + 1
    low, position = _read_character(pattern, position)
    if pattern[position : position + 1] != "-" or pattern[position + 1 : position + 2] in ("", "]"):
        return re.escape(low), position
    high, position = _read_character(pattern, position + 1)
    if low > high:
        return "", position
    return f"{re.escape(low)}-{re.escape(high)}", position


def _read_character(pattern: str, position: int) -> tuple[str, int]:
    """Return one character, without the backslash that escapes it, and its end."""
    if pattern[position : position + 1] == "\\":
        position += 1
    if position >= len(pattern):
        raise _InvalidGlob
    return pattern[position], position + 1


def _translate_block(tokens: list[str]) -> str:
    """Return the expression for a stretch of segments without `**/`."""
    return "/".join(_translate_segment(segment) for segment in _split(tokens, "/"))


def _translate_segment(tokens: list[str]) -> str:
    """Return the expression for one path segment: fixed pieces with a star between each two."""
    pieces = ["".join(piece) for piece in _split(tokens, _STAR)]
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _split(tokens: list[str], separator: str) -> list[list[str]]:
    """Return the runs of tokens between separators."""
    runs: list[list[str]] = [[]]
    for token in tokens:
        if token == separator:
            runs.append([])
        else:
            runs[-1].append(token)
    return runs
