"""`ragstone history`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.commands.related import NO_LIMIT
from ragstone.surfaces.cli.graph_query import (
    GraphFlags,
    describe_kinds,
    graph_options,
    open_graph_engine,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table, printable
from ragstone.surfaces.present import format_time
from ragstone.surfaces.present.graph import change_json, format_place
from ragstone.types import Change


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone history app/Models/Song.php",
        "ragstone history SongController@update",
        "ragstone history songs --kind migration",
    ),
)
@click.argument("name")
@graph_options
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Changes at most.",
)
@click.option("--no-commits", is_flag=True, help="Only recorded runs and migrations.")
@common_options
def history(
    name: str,
    folder: Path | None,
    as_json: bool,
    limit: int,
    no_commits: bool,
    flags: GraphFlags,
) -> None:
    """Show what changed NAME, newest first: recorded runs, migrations of a table, commits."""
    is_filtered = bool(flags.paths or flags.kinds)
    with open_graph_engine(folder, flags) as engine:
        changes = engine.graph.history(
            name,
            limit=NO_LIMIT if is_filtered else limit,
            commits=flags.matches_kind("commit") and not no_commits,
            collection=flags.collection,
        )
        changes = [change for change in changes if flags.matches(change.uri, change.kind)][
            :limit
        ]
        if as_json:
            print_json(
                {
                    "success": True,
                    "name": name,
                    "changes": [change_json(change) for change in changes],
                }
            )
        elif changes:
            print_table([_row(change) for change in changes], ("dim", "magenta", "", "dim"))
        else:
            print_line(
                f"Nothing{describe_kinds(flags.kinds)} is recorded of {printable(name)}."
            )


def _row(change: Change) -> tuple[str, ...]:
    date = (format_time(change.when) or "")[:10]
    scope = "" if change.exact else " (its file)"
    return (
        date,
        change.kind,
        f"{printable(change.title)}{scope}",
        printable(format_place(change)),
    )
