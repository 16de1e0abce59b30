"""Whole files for a prompt: as many as the budget allows, inside a fence, with the names of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.retrieval.context.budget import NO_ROOM
from ragstone.retrieval.context.fence import (
    WARNING,
    closing_line,
    new_mark,
    opening_line,
    reveal_hidden,
)
from ragstone.retrieval.context.formatters import one_line
from ragstone.text.tokens import at_most
from ragstone.types import Skip

HEADING: Final = "[DOCUMENTATION]"
_MAX_NAMES: Final = 20
"""Files left out that the text names; it counts the others."""
_MAX_NAME: Final = 120
"""Characters of a file's name in the text."""
_MAX_MISSES: Final = 100
"""After this many files in a row that do not fit, no more files are read."""
_SLACK: Final = 1.2
"""The token counts of parts may add up to a little more than the count of the full text."""

ReadText = Callable[[str], str | None]
"""Returns the text of a file; None if it has no text."""


@dataclass(frozen=True, slots=True)
class PreloadedFiles:
    """A text inside its budget, the files in it and the files left out."""

    text: str = ""
    tokens: int = 0
    files: Sequence[str] = ()
    left_out: Sequence[Skip] = ()


@dataclass(frozen=True, slots=True)
class _TextFile:
    """A file with its text, without hidden characters."""

    uri: str
    text: str

    def render(self) -> str:
        return f"File: {one_line(self.uri)}\n{self.text.rstrip()}\n\n"


def preload_files(uris: Iterable[str], read: ReadText, budget: int) -> PreloadedFiles:
    """Return the text of whole files in the order of the uris, never over the budget.

    The text is empty if not even the frame fits.
    """
    page = _FilePage(budget)
    for uri in uris:
        if page.is_full():
            page.left_out.append(uri)
            continue
        file = _TextFile(uri, reveal_hidden(read(uri) or ""))
        if file.text.strip():
            page.add(file)
    page.remove_excess()
    text = ""
    if page.files or page.left_out:
        text = page.render(page.files)
    if at_most(text) > budget:
        text = ""
    return PreloadedFiles(
        text=text,
        tokens=at_most(text),
        files=[file.uri for file in page.files],
        left_out=[Skip(uri, NO_ROOM) for uri in sorted(page.left_out)],
    )


class _FilePage:
    """A prompt under construction: its files, and the files that did not fit."""

    def __init__(self, budget: int) -> None:
        self.files: list[_TextFile] = []
        self.left_out: list[str] = []
        self._budget = budget
        self._mark = new_mark(())
        self._used = 0
        self._misses = 0

    def is_full(self) -> bool:
        """Return whether no further file is likely to fit."""
        return self._misses >= _MAX_MISSES or self._used >= self._budget

    def add(self, file: _TextFile) -> None:
        """Add a file if the page stays inside the budget; otherwise leave it out."""
        files = [*self.files, file]
        if self._mark in file.text or self._mark in file.uri:
            self._mark = _unused_mark(files)
        size = at_most(file.render())
        if self._used + size <= self._budget * _SLACK and self._fits(files):
            self.files = files
            self._used += size
            self._misses = 0
        else:
            self.left_out.append(file.uri)
            self._misses += 1

    def remove_excess(self) -> None:
        """Remove files from the end, if the names of the files left out took the last room."""
        while self.files and not self._fits(self.files):
            self.left_out.append(self.files.pop().uri)

    def render(self, files: Sequence[_TextFile]) -> str:
        """Return the full text with these files."""
        body = "".join(file.render() for file in files)
        head = f"{HEADING}\n{WARNING}\n{opening_line(self._mark)}\n"
        return f"{head}{body}{self._name_left_out()}{closing_line(self._mark)}"

    def _fits(self, files: Sequence[_TextFile]) -> bool:
        return at_most(self.render(files)) <= self._budget

    def _name_left_out(self) -> str:
        """Return the line that names the files left out; empty if there are none."""
        if not self.left_out:
            return ""
        names = [one_line(uri)[:_MAX_NAME] for uri in self.left_out[:_MAX_NAMES]]
        more = len(self.left_out) - _MAX_NAMES
        if more > 0:
            names.append(f"and {more} more")
        return f"Not shown, for want of room: {', '.join(names)}\n"


def _unused_mark(files: Sequence[_TextFile]) -> str:
    """Return a mark that occurs in none of the files."""
    texts = []
    for file in files:
        texts += [file.uri, file.text]
    return new_mark(texts)
