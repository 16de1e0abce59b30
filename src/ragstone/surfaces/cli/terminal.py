"""Drawing on a terminal: colour, columns and a progress bar."""

from __future__ import annotations

import shutil
import sys
import time
import unicodedata
from collections.abc import Sequence
from typing import Final, TextIO

import click

from ragstone.config.environment import wants_colour
from ragstone.surfaces.cli.output import Styled

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}
_RESET: Final = "\x1b[0m"
_ERASE_LINE: Final = "\r\x1b[2K"
_GAP: Final = "  "
_NARROWEST: Final = 8
"""Columns stay at least this wide, also on a terminal that is too narrow for them."""
_BAR_WIDTH: Final = 30
_SECONDS_BETWEEN_FRAMES: Final = 0.1


def print_styled(stream: TextIO, parts: Sequence[Styled], style: str) -> None:
    """Print a line in colour; a long line is wrapped by the terminal."""
    has_colour = wants_colour(is_terminal=stream.isatty())
    texts = []
    for part in parts:
        text, own_style = (part, "") if isinstance(part, str) else part
        texts.append(_coloured(text, f"{style} {own_style}", has_colour=has_colour))
    click.echo("".join(texts), file=stream, color=has_colour)


def print_grid(rows: Sequence[Sequence[str]], styles: Sequence[str]) -> None:
    """Print rows in columns; on a terminal, long cells are wrapped inside their column."""
    has_colour = wants_colour(is_terminal=sys.stdout.isatty())
    column_count = max((len(row) for row in rows), default=0)
    column_styles = [*styles, *([""] * column_count)]
    widths = _column_widths(rows, column_count)
    for row in rows:
        cells = [_wrap(cell, width) for cell, width in zip(row, widths, strict=False)]
        for number in range(max(map(len, cells), default=0)):
            texts = []
            for cell, width, style in zip(cells, widths, column_styles, strict=False):
                text = cell[number] if number < len(cell) else ""
                padding = " " * (width - _display_width(text))
                texts.append(_coloured(text, style, has_colour=has_colour) + padding)
            click.echo(_GAP.join(texts).rstrip(), color=has_colour)


class ProgressBar:
    """A bar on stderr that disappears when it stops."""

    def __init__(self) -> None:
        """Start without a line; the first `update` draws it."""
        self._label = ""
        self._started = 0.0
        self._first_done = 0
        self._last_frame = 0.0

    def update(self, label: str, done: int, total: int, amount: str) -> None:
        """Draw how much is done; `total` is 0 if it is unknown."""
        now = time.monotonic()
        if label != self._label:
            self._label, self._started, self._first_done = label, now, done
        elif now - self._last_frame < _SECONDS_BETWEEN_FRAMES and done != total:
            return
        self._last_frame = now
        parts = [f"{label:>9}", _bar(done, total), amount, self._time_left(now, done, total)]
        line = " ".join(part for part in parts if part)
        width = shutil.get_terminal_size().columns - 1
        self._write(_ERASE_LINE + line[:width])

    def stop(self) -> None:
        """Erase the line."""
        self._write(_ERASE_LINE)

    def _time_left(self, now: float, done: int, total: int) -> str:
        """Return the minutes and seconds until the end at the present speed; empty if it is unknown."""
        advance = done - self._first_done
        if not total or advance <= 0:
            return ""
        seconds = int((now - self._started) / advance * max(0, total - done))
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes}:{seconds:02d} left"

    def _write(self, text: str) -> None:
        click.echo(text, file=sys.stderr, nl=False, color=True)


def _bar(done: int, total: int) -> str:
    """Return a bar that is filled in proportion; empty if the total is unknown."""
    if not total:
        return ""
    filled = min(_BAR_WIDTH, _BAR_WIDTH * done // total)
    return "━" * filled + "─" * (_BAR_WIDTH - filled)


def _coloured(text: str, style: str, *, has_colour: bool) -> str:
    """Return a text between the codes of a style such as `bold cyan`."""
    codes = ";".join(_CODES[name] for name in style.split())
    if not codes or not text or not has_colour:
        return text
    return f"\x1b[{codes}m{text}{_RESET}"


def _column_widths(rows: Sequence[Sequence[str]], count: int) -> list[int]:
    """Return the width of each column; on a terminal the widest columns give way until all of them fit."""
    widths = [
        max((_display_width(row[number]) for row in rows if number < len(row)), default=0)
        for number in range(count)
    ]
    if not sys.stdout.isatty():
        return widths
    room = shutil.get_terminal_size().columns - len(_GAP) * (count - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` places, broken at spaces if possible."""
    lines = []
    while _display_width(text) > width:
        end = _fitting_characters(text, width)
        space = text.rfind(" ", 0, end + 1)
        if space > 0:
            end = space
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _fitting_characters(text: str, width: int) -> int:
    """Return how many characters fit into a width; at least one."""
    used = 0
    for number, character in enumerate(text):
        used += _display_width(character)
        if used > width:
            return max(1, number)
    return len(text)


def _display_width(text: str) -> int:
    """Return the places that a text takes on a terminal: two for a Chinese character, none for an accent."""
    if text.isascii():
        return len(text)
    width = 0
    for character in text:
        if unicodedata.east_asian_width(character) in "WF":
            width += 2
        elif not unicodedata.combining(character):
            width += 1
    return width
