"""Printing: answers go to stdout, notes and errors to stderr; a terminal gets colours and tables."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Final, TextIO

from ragstone.config.environment import wants_colour

Styled = str | tuple[str, str]
"""A piece of a line: text, or text with a style such as `bold cyan`."""

_CONTROL_PICTURES: Final = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
_INVISIBLE: Final = (
    *range(0x80, 0xA0),
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
    *range(0xE0000, 0xE0080),
)
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in _INVISIBLE}
_PRINTABLE: Final = _CONTROL_PICTURES | _ESCAPES | {ord("\t"): "    "}


def printable(text: str) -> str:
    """Return text on one line in which control and invisible characters are shown, not obeyed by a terminal."""
    return text.translate(_PRINTABLE)


def shorten(text: str, max_characters: int) -> str:
    """Return a printable text that ends in an ellipsis if it was too long."""
    if len(text) <= max_characters:
        return printable(text)
    return printable(text[:max_characters]) + "…"


def print_json(data: Mapping[str, object]) -> None:
    """Print one JSON object in ASCII, which every pipe accepts."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def print_json_lines(items: Iterable[Mapping[str, object]]) -> None:
    """Print one JSON object per line."""
    for item in items:
        sys.stdout.write(json.dumps(item) + "\n")


def print_result(data: Mapping[str, object], sentence: str, *, as_json: bool) -> None:
    """Print a result as JSON or as a sentence."""
    if as_json:
        print_json(data)
    else:
        print_line(sentence)


def print_line(*parts: Styled) -> None:
    """Print a line of the answer."""
    _print(sys.stdout, parts)


def print_note(*parts: Styled) -> None:
    """Print a line to stderr: it is not part of the answer."""
    sys.stdout.flush()
    _print_to_stderr(parts, style="dim")


def print_notes(notes: Iterable[str]) -> None:
    """Print notes about an answer to stderr, one per line; a reason that two notes give is printed once."""
    reasons = set()
    for note in notes:
        reason = note.partition(": ")[2]
        if reason not in reasons:
            print_note(f"({printable(note)})")
        if reason:
            reasons.add(reason)


def print_error(sentence: str, *, label: str = "error") -> None:
    """Print a failure to stderr."""
    text = printable(sentence.replace("\n", " "))
    _print_to_stderr(((f"{label}: ", "bold red"), text))


def print_table(rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """Print rows in columns; a terminal wraps long cells inside their column."""
    if _is_drawn(sys.stdout):
        load_terminal().print_grid(rows, styles)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def format_bytes(count: int) -> str:
    """Return a size for a person: `1.5 MB`."""
    if count < 1000:
        return f"{count} bytes"
    value = count / 1000
    for unit in ("kB", "MB"):
        if value < 1000:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def load_terminal() -> ModuleType:
    """Import and return the module that draws; output to a pipe does not need it."""
    from ragstone.surfaces.cli import terminal

    return terminal


def _is_drawn(stream: TextIO) -> bool:
    """Return whether output to a stream is drawn: on a terminal, or a pipe that gets colours."""
    return stream.isatty() or wants_colour(is_terminal=False)


def discard_output(stream: TextIO) -> None:
    """Send a stream to the null device: Python flushes it again at exit and would print a second error."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _print_to_stderr(parts: Sequence[Styled], style: str = "") -> None:
    """Print a line to stderr; a note that cannot be written must not end the command."""
    try:
        _print(sys.stderr, parts, style)
    except OSError:
        discard_output(sys.stderr)


def _print(stream: TextIO, parts: Sequence[Styled], style: str = "") -> None:
    if _is_drawn(stream):
        load_terminal().print_styled(stream, parts, style)
        return
    texts = [part if isinstance(part, str) else part[0] for part in parts]
    stream.write("".join(texts) + "\n")
