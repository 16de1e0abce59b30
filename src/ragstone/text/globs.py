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
_ESCAPE: Final = re.compile(r"\\([*?\[\]\\])")
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


def readable_pattern(pattern: str) -> str:
    """Return a pattern of a filter for a message: without escapes, and without the `/` that anchors it."""
    return _ESCAPE.sub(r"\1", pattern.removeprefix("/"))


def matches_path(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern of a filter.

    A pattern without `/` is a name at any depth. One without wildcards is a file, or a folder and everything below it.
    `/` or `./` in front anchors the pattern at the top.
    """
    return _compile_filter(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compile_filter(pattern: str) -> re.Pattern[str]:
    glob = pattern
    for prefix in ("./", "/"):
        if pattern.startswith(prefix):
            glob = pattern.removeprefix(prefix)
    is_anchored = glob != pattern
    if glob.endswith("/"):
        glob += "**"
    has_folder = "/" in glob or glob == "**"
    full_glob = glob
    if not has_folder and not is_anchored:
        full_glob = f"**/{glob}"
    expressions = [_translate_or_escape(full_glob)]
    if glob and not has_wildcard(glob):
        expressions.append(_translate_or_escape(f"{full_glob}/**"))
    return re.compile("|".join(expressions), re.DOTALL)


def _translate_or_escape(pattern: str) -> str:
    """Return the expression for a pattern; an invalid pattern matches itself."""
    return translate_glob(pattern) or re.escape(pattern)


def compile_glob(pattern: str) -> re.Pattern[str] | None:
    """Return an expression that matches whole paths, or None if the pattern can match nothing."""
    expression = translate_glob(pattern)
    if expression is None:
        return None
    return re.compile(expression, re.DOTALL)


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
        middle = _translate_block(block)
        expression += f"(?>(?:[^/]*/)*?{middle})"
    if len(blocks) > 1:
        last = _translate_block(blocks[-1])
        expression += f"(?:.*/)?{last}"
    return expression


def _tokenise(pattern: str) -> list[str]:
    """Return an expression for each character or bracket, and `_STAR` or `_DEEP` for stars."""
    tokens: list[str] = []
    position = 0
    while position < len(pattern):
        sign = pattern[position]
        if sign == "*":
            expression, position = _read_stars(pattern, position)
        elif sign == "[":
            expression, position = _read_bracket(pattern, position + 1)
        elif sign == "?":
            expression = "[^/]"
            position += 1
        else:
            char, position = _read_character(pattern, position)
            expression = re.escape(char)
        tokens.append(expression)
    return tokens


def _read_stars(pattern: str, start: int) -> tuple[str, int]:
    """Return the token for a run of stars, and its end."""
    end = start
    while pattern.startswith("*", end):
        end += 1
    # Git compares the text before the first wildcard separately, so to git `a**/b` also begins a segment.
    before = pattern[:start]
    begins_segment = before.endswith("/") or not has_wildcard(before)
    if end - start >= 2 and begins_segment:
        if end == len(pattern) and before and not before.endswith("/"):
            return ".*", end  # to git, `a**` also matches `a`
        if end == len(pattern):
            return ".+", end
        if pattern[end] == "/":
            return _DEEP, end + 1
    return _STAR, end


def _read_bracket(pattern: str, position: int) -> tuple[str, int]:
    """Return the character class that begins after a `[`, and its end."""
    is_negated = pattern.startswith(("!", "^"), position)
    if is_negated:
        position += 1
    # A `]` in first place is an ordinary character.
    members, position = _read_bracket_item(pattern, position)
    while not pattern.startswith("]", position):
        item, position = _read_bracket_item(pattern, position)
        members += item
    return _character_class(members, is_negated=is_negated), position + 1


def _character_class(members: str, *, is_negated: bool) -> str:
    """Return the expression for one of these characters, or for any other one; never for a slash."""
    if is_negated:
        if not members:
            return "[^/]"
        return f"(?!/)[^{members}]"
    if not members:
        return "(?!)"
    return f"(?!/)[{members}]"


def _read_bracket_item(pattern: str, position: int) -> tuple[str, int]:
    """Return one character, range or named class of a bracket, and its end."""
    if pattern.startswith("[:", position):
        start = position + 2
        close = pattern.find("]", start)
        if close < 0:
            raise _InvalidGlob
        name = pattern[start:close]
        if name.endswith(":"):
            return _posix_class(name.removesuffix(":")), close + 1
    low, position = _read_character(pattern, position)
    after_dash = pattern[position + 1 : position + 2]
    if not pattern.startswith("-", position) or after_dash in ("", "]"):
        return re.escape(low), position
    high, position = _read_character(pattern, position + 1)
    if low > high:
        return "", position
    return f"{re.escape(low)}-{re.escape(high)}", position


def _posix_class(name: str) -> str:
    if name not in _POSIX_CLASSES:
        raise _InvalidGlob
    return _POSIX_CLASSES[name]


def _read_character(pattern: str, position: int) -> tuple[str, int]:
    """Return one character, without the backslash that escapes it, and its end."""
    if pattern.startswith("\\", position):
        position += 1
    if position >= len(pattern):
        raise _InvalidGlob
    return pattern[position], position + 1


def _translate_block(tokens: list[str]) -> str:
    """Return the expression for a stretch of segments without `**/`."""
    segments = _split(tokens, "/")
    return "/".join(map(_translate_segment, segments))


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
