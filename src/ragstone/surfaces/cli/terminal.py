"""Drawing on a terminal with `rich`: colour, grids and a progress bar.

`rich` is slow to load, so this module is imported only if a terminal is printed to.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, Literal, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ragstone.config.environment import wants_colour
from ragstone.surfaces.cli.output import Styled

_PIPE_WIDTH: Final = 10_000


def print_styled(stream: TextIO, parts: Sequence[Styled], style: str) -> None:
    """Print a line in colour; a long line is wrapped by the terminal."""
    _console(stream).print(Text.assemble(*parts, style=style), soft_wrap=True)


def print_grid(rows: Sequence[Sequence[str]], styles: Sequence[str]) -> None:
    """Print rows in columns; long cells are wrapped inside their column."""
    column_count = max((len(row) for row in rows), default=0)
    column_styles = [*styles, *([""] * column_count)]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in column_styles[:column_count]:
        grid.add_column(style=style, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    _console(sys.stdout).print(grid)


def new_progress_bar() -> Progress:
    """Return a bar on stderr that disappears when it stops."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[amount]}"),
        TimeRemainingColumn(),
        console=_console(sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _console(stream: TextIO) -> Console:
    """Return a console without colour if the user disabled it; a pipe with colours is never wrapped."""
    is_terminal = stream.isatty()
    colour_system: Literal["auto", "standard"] | None = None
    if wants_colour(is_terminal=is_terminal):
        colour_system = "auto" if is_terminal else "standard"
    return Console(
        file=stream,
        color_system=colour_system,
        force_terminal=True if colour_system else None,
        width=None if is_terminal else _PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
