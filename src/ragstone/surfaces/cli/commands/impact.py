"""`ragstone impact`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

import click

from ragstone.surfaces.cli.graph_query import (
    GraphFlags,
    graph_options,
    open_graph_engine,
    print_confidences,
    short_name,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table, printable
from ragstone.surfaces.present.graph import format_place, impact_json
from ragstone.text.counts import plural
from ragstone.types import Affected, Impact

_MAX_SHOWN: Final = 12


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone impact app/Models/Song.php",
        "ragstone impact SongService::update --kind route",
    ),
)
@click.argument("name")
@graph_options
@common_options
def impact(name: str, folder: Path | None, as_json: bool, flags: GraphFlags) -> None:
    """Show what depends on NAME, a file or a symbol: routes first, then the nearest."""
    with open_graph_engine(folder, flags) as engine:
        result = _filter(engine.graph.impact(name, collection=flags.collection), flags)
        if as_json:
            print_json({**impact_json(result), "name": name})
        else:
            _print_impact(result, name)


def _filter(impact: Impact, flags: GraphFlags) -> Impact:
    """Return the affected nodes that --kind and --path allow."""
    groups = []
    for kind, nodes in impact.groups:
        if not flags.matches_kind(kind):
            continue
        matching = tuple(node for node in nodes if flags.matches_path(node.links[0].uri))
        if matching:
            groups.append((kind, matching))
    return Impact(impact.roots, tuple(groups), impact.more)


def _print_impact(impact: Impact, name: str) -> None:
    if not impact.total:
        is_file = any(root.startswith("file:") for root in impact.roots)
        subject = "No other file" if is_file else "Nothing"
        print_line(f"{subject} depends on {printable(name)}, as far as the graph knows.")
    for kind, nodes in impact.groups:
        print_line((f"{kind} ", "bold magenta"), (f"({len(nodes):,})", "dim"))
        print_table([_row(node) for node in nodes[:_MAX_SHOWN]], ("cyan", "", "dim"))
        hidden = len(nodes) - _MAX_SHOWN
        if hidden > 0:
            print_line((f"  and {hidden:,} more (--json shows all)", "dim"))
    if impact.total:
        print_line()
        print_line(("  1 hop: one link of the code graph", "dim"))
        shown = chain.from_iterable(nodes[:_MAX_SHOWN] for _, nodes in impact.groups)
        print_confidences(node.confidence for node in shown)


def _row(node: Affected) -> tuple[str, ...]:
    condition = ", conditional" if node.conditional else ""
    return (
        f"  {short_name(node.key)}",
        f"{plural(node.hops, 'hop')}, {node.confidence}{condition}",
        printable(format_place(node.links[0])),
    )
