"""The lines of an ignore file, in the syntax of `.gitignore`; the last line that matches a path decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.text.globs import translate_glob


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of an ignore file."""

    glob: str
    is_negated: bool
    only_folders: bool
    is_anchored: bool
    """Whether the pattern is matched with the whole path, not with the name alone."""

    @property
    def expression(self) -> str | None:
        """Return the expression for a path that ends in `/` if it is a folder; None if it can match nothing."""
        expression = translate_glob(_as_bytes(self.glob))
        if expression is None:
            return None
        if self.only_folders:
            return f"{expression}/"
        return f"{expression}/?"


def parse_line(line: str) -> IgnorePattern | None:
    """Return the pattern in a line, or None for a blank line or a comment."""
    line = line.removesuffix("\r")
    text = line.rstrip(" ")
    trailing_backslashes = len(text) - len(text.rstrip("\\"))
    if trailing_backslashes % 2 and text != line:
        text += " "  # the backslash escapes one space
    if text.startswith("#"):
        return None
    is_negated = text.startswith("!")
    glob = text.removeprefix("!")
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    is_anchored = "/" in glob
    glob = glob.removeprefix("/")
    if not glob:
        return None
    return IgnorePattern(glob, is_negated, only_folders, is_anchored)


class IgnoreRules:
    """The patterns of one ignore file, as one expression for names and one for paths."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Parse the lines of an ignore file."""
        parsed = [pattern for pattern in map(parse_line, lines) if pattern is not None]
        self._patterns = [pattern for pattern in parsed if pattern.expression is not None]
        self._names = _combine(self._patterns, anchored=False)
        self._paths = _combine(self._patterns, anchored=True)

    def __bool__(self) -> bool:
        """Return whether there is any rule."""
        return bool(self._patterns)

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Return True if the path is ignored, False if a `!` line takes it back, None if no line matches."""
        path = _as_bytes(path)
        if is_folder:
            path += "/"
        name_start = path.rfind("/", 0, len(path) - 1) + 1
        number = max(
            _last_match(self._names, path, name_start),
            _last_match(self._paths, path, 0),
        )
        if number < 0:
            return None
        return not self._patterns[number].is_negated


def _combine(patterns: list[IgnorePattern], *, anchored: bool) -> re.Pattern[str] | None:
    """Return one expression for all patterns, the last line first; a group's name has the number of its line."""
    groups = [
        f"(?P<line{number}>{pattern.expression})"
        for number, pattern in enumerate(patterns)
        if pattern.is_anchored == anchored
    ]
    if not groups:
        return None
    return re.compile("|".join(reversed(groups)), re.DOTALL)


def _last_match(expression: re.Pattern[str] | None, path: str, start: int) -> int:
    """Return the number of the last line that matches, or -1."""
    if expression is None:
        return -1
    match = expression.fullmatch(path, start)
    if match is None or match.lastgroup is None:
        return -1
    return int(match.lastgroup.removeprefix("line"))


def _as_bytes(text: str) -> str:
    """Return a text with one character for each of its bytes: to git, `?` is one byte and é is two."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    except UnicodeEncodeError:  # a lone surrogate that is in no file name
        return text.encode("utf-8", "surrogatepass").decode("latin-1")
