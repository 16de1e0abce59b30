"""`ragstone stats`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table
from ragstone.surfaces.present.access import stats_json
from ragstone.text.counts import plural
from ragstone.types import SearchStats


@click.command(cls=ExampleCommand, examples=("ragstone stats", "ragstone stats --json"))
@common_options
def stats(folder: Path | None, as_json: bool) -> None:
    """Show searches, their speed, and the tokens of hits against those of whole files.

    The figures come from the event log in the index folder and never leave this machine.
    """
    with open_indexed_engine(folder) as engine:
        figures = engine.admin.stats()
        is_logged = engine.settings.events.log
    if as_json:
        print_json({"success": True, **stats_json(figures)})
    elif figures.searches:
        print_table(_rows(figures), ("cyan", ""))
    else:
        reason = "" if is_logged else " (events.log is false)"
        print_line(f"No searches yet{reason}.")


def _rows(stats: SearchStats) -> list[tuple[str, str]]:
    return [
        ("searches", f"{stats.searches:,} since {stats_json(stats)['since']}"),
        ("with hits", f"{stats.hit_rate:.0%} of {stats.for_hits:,} that asked for hits"),
        ("median", f"{stats.median_milliseconds:.1f} ms"),
        ("95 % within", f"{stats.slow_milliseconds:.1f} ms"),
        ("tokens returned", f"about {stats.tokens_returned:,}"),
        ("if the files were read whole", f"about {plural(stats.tokens_of_files, 'token')}"),
        ("saved against that", f"about {plural(stats.tokens_saved, 'token')}"),
    ]
