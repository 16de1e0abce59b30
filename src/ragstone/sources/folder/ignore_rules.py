"""The lines of an ignore file, in the syntax of `.gitignore`; the last line that matches a path decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ragstone.text.globs import has_wildcard, translate_glob

MAX_EXPRESSIONS: Final = 5_000
"""Patterns with wildcards in one ignore file. Each of them costs time for every path."""


class IgnorePattern(NamedTuple):
    """One line of an ignore file."""

    glob: str
    is_negated: bool
    only_folders: bool
    is_anchored: bool
    """Whether the pattern is matched with the whole path, not with the name alone."""

    @property
    def is_plain_name(self) -> bool:
        """Return whether the pattern matches one name and no other."""
        return not self.is_anchored and not has_wildcard(self.glob)

    @property
    def is_ending(self) -> bool:
        """Return whether the pattern matches every name with one ending: `*.log`."""
        ending = self.glob.removeprefix("*")
        return (
            not self.is_anchored
            and self.glob.startswith("*")
            and bool(ending)
            and not has_wildcard(ending)
        )

    @property
    def expression(self) -> str | None:
        """Return the expression for a path that ends in `/` if it is a folder; None if it can match nothing."""
        expression = translate_glob(_as_bytes(self.glob))
        if expression is None:
            return None
        folder_slash = "/" if self.only_folders else "/?"
        # The slash of a pattern is not that of a folder: `f/*` does not match the folder `f/`.
        return f"{expression}(?<!/){folder_slash}"


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
    """The patterns of one ignore file: names, endings and paths in tables, the others as two expressions.

    The tables take the same time for any number of patterns. An expression takes a time for each of its patterns, so a
    file with too many of them is refused (`is_too_long`).
    """

    def __init__(self, lines: Iterable[str]) -> None:
        """Parse the lines of an ignore file."""
        parsed = map(parse_line, lines)
        self._patterns = [pattern for pattern in parsed if pattern is not None]
        self._plain_names: dict[str, int] = {}
        self._plain_paths: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        names: list[str] = []
        paths: list[str] = []
        for number, pattern in enumerate(self._patterns):
            if self._add_to_table(pattern, number):
                continue
            expression = pattern.expression
            if expression is not None:
                group = f"(?P<line{number}>{expression})"
                (paths if pattern.is_anchored else names).append(group)
        self.is_too_long = len(names) + len(paths) > MAX_EXPRESSIONS
        if self.is_too_long:
            names, paths = [], []
        self._names = _combine(names)
        self._paths = _combine(paths)
        self._ending_lengths = sorted({len(ending) for ending in self._endings})

    def __bool__(self) -> bool:
        """Return whether there is any rule."""
        return bool(self._patterns)

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Return True if the path is ignored, False if a `!` line takes it back, None if no line matches."""
        path = _as_bytes(path)
        if is_folder:
            path += "/"
        name_start = path.rfind("/", 0, len(path) - 1) + 1
        name = path[name_start:]
        number = max(
            self._plain_names.get(name, -1),
            self._plain_paths.get(path, -1),
            self._ending_match(name),
            _last_match(self._names, path, name_start),
            _last_match(self._paths, path, 0),
        )
        if number < 0:
            return None
        return not self._patterns[number].is_negated

    def _ending_match(self, name: str) -> int:
        number = -1
        for length in self._ending_lengths:
            if length > len(name):
                break
            number = max(number, self._endings.get(name[-length:], -1))
        return number

    def _add_to_table(self, pattern: IgnorePattern, number: int) -> bool:
        """Add a pattern that a table can answer for; return False if it needs an expression."""
        if pattern.is_plain_name:
            table, text = self._plain_names, pattern.glob
        elif not has_wildcard(pattern.glob):
            table, text = self._plain_paths, pattern.glob
        elif pattern.is_ending:
            table, text = self._endings, pattern.glob.removeprefix("*")
        else:
            return False
        key = _as_bytes(text)
        table[f"{key}/"] = number
        if not pattern.only_folders:
            table[key] = number
        return True


def _combine(groups: Sequence[str]) -> re.Pattern[str] | None:
    """Return one expression for all groups, the last line first; a group's name has the number of its line."""
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
