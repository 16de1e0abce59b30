"""Talking to a person or a pipe: answers on stdout, notes on stderr, colour only where somebody looks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from ragstone.surfaces.cli.place import said

Command = TypeVar("Command", bound=Callable[..., Any])
Part = str | tuple[str, str]
"""A piece of a line: text, or text with a style."""

_CONTROLS: Final = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
_HIDDEN: Final = (
    *range(0x80, 0xA0), *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF,
    *range(0xE0000, 0xE0080),
)  # fmt: skip
_VISIBLE: Final = _CONTROLS | {code: f"\\u{code:04x}" for code in _HIDDEN} | {ord("\t"): "    "}


class Interrupted(Exception):
    """A person stopped the work; the sentence says what that means."""


def shared(command: Command) -> Command:
    """Return the command with the options that every command has."""
    for option in (
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug."),
        click.option("--json", "as_json", is_flag=True, callback=said, help="Print one JSON object and nothing else."),
        click.option(
            "--project",
            metavar="NAME",
            expose_value=False,
            callback=said,
            help="Which of the projects that share an index; default: `default`.",
        ),
        click.option(
            "-C",
            "--folder",
            type=click.Path(path_type=Path),
            callback=said,
            help="The folder; default: the project around you.",
        ),
    ):
        command = option(command)
    return command


def safe(text: str) -> str:
    """Return text on one line with nothing in it that a terminal would obey or that would hide."""
    return text.translate(_VISIBLE)


def emit(data: Mapping[str, Any]) -> None:
    """Print one JSON object; ASCII only, so that any pipe and any name can take it."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def say(*parts: Part) -> None:
    """Print a line of the answer, in colour on a terminal."""
    if sys.stdout.isatty():
        _print(parts)
    else:
        sys.stdout.write("".join(part if isinstance(part, str) else part[0] for part in parts) + "\n")


def note(*parts: Part) -> None:
    """Print a line that is not part of the answer."""
    sys.stdout.flush()
    if sys.stderr.isatty():
        _print(parts, err=True, style="dim")
    else:
        sys.stderr.write("".join(part if isinstance(part, str) else part[0] for part in parts) + "\n")


def remark(lines: Iterable[str]) -> None:
    """Print what should be known about an answer, a line each."""
    for line in lines:
        note(f"({safe(line)})")


def complain(sentence: str, *, label: str = "error") -> None:
    """Print what went wrong."""
    shown = safe(sentence.replace("\n", " "))
    if sys.stderr.isatty():
        _print(((f"{label}: ", "bold red"), shown), err=True)
    else:
        sys.stderr.write(f"{label}: {shown}\n")


def table(rows: list[tuple[str, ...]], styles: tuple[str, ...] = ()) -> None:
    """Print rows in columns as wide as they need, the last one as it comes."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) + "  " for cell, width in zip(row, widths, strict=False)] + [row[-1]]
        say(*((cell, styles[i] if i < len(styles) else "") for i, cell in enumerate(cells)))


def fitted(rows: Sequence[tuple[str, ...]], widths: tuple[int, ...]) -> list[tuple[str, ...]]:
    """Return rows cut to the width of the terminal: columns to what they may have, the last one to what is left.

    Of a column the middle goes, of the last one the beginning: it is a place, and its line is the point of it.
    """
    import shutil  # brings three ways of compressing with it

    wide = shutil.get_terminal_size((0, 0)).columns
    if not wide:  # no terminal: whoever reads it takes whole names
        return list(rows)
    most = [min(width, max((len(row[i]) for row in rows), default=0)) for i, width in enumerate(widths)]
    while sum(most) + 2 * len(most) + 20 > wide and max(most) > 10:  # the widest gives way, down to a few letters
        most[most.index(max(most))] -= 1
    left = max(20, wide - sum(most) - 2 * len(most))
    return [
        (*(_middle(cell, width) for cell, width in zip(row, most, strict=False)), _tail(row[-1], left)) for row in rows
    ]


def _middle(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width // 2]}…{text[len(text) - (width - width // 2 - 1) :]}"


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else f"…{text[1 - width :]}"


def number(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 file`, `2,000 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return bytes as a person reads them."""
    value = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"


def _print(parts: Iterable[Part], *, err: bool = False, style: str = "") -> None:
    """Print a line with its styles, without them where nobody wants colour."""
    from ragstone.config.environment import wants_colour  # brings the settings with it

    shown = (_styled(*part, style) if isinstance(part, tuple) else _styled(part, "", style) for part in parts)
    click.echo("".join(shown), err=err, color=None if wants_colour() else False)


def _styled(text: str, *styles: str) -> str:
    words = " ".join(styles).split()
    colour = next((word for word in words if word not in ("bold", "dim")), None)
    return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None) if words else text
