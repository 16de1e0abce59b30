"""`ragstone related`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone.surfaces.cli.graph_query import (
    GraphFlags,
    describe_kinds,
    graph_options,
    open_graph_engine,
    print_confidences,
    short_name,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table, printable
from ragstone.surfaces.present.graph import (
    format_place,
    node_json,
    related_json,
    unresolved_json,
)
from ragstone.types import Link, Node, Related

NO_LIMIT: Final = 100_000
_MAX_SIGNATURE: Final = 98
_UNMARKED: Final = "declared"
"""The usual confidence is not shown."""


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone related songs.update",
        "ragstone related SongController@update --hops 2 --kind table",
        "ragstone related 'App\\Models\\Song' --kind MAPS_TO",
    ),
)
@click.argument("name")
@graph_options
@click.option(
    "--hops",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    help="Number of links to follow.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Results at most.",
)
@common_options
def related(
    name: str, folder: Path | None, as_json: bool, hops: int, limit: int, flags: GraphFlags
) -> None:
    """Show what NAME is connected to: a route, class, method, table or path.

    Each line shows the link, how it is known unless it is declared in the code, and its file and line. A `?` marks a
    link that holds only under a condition. A --kind in capitals follows links of that kind.
    """
    with open_graph_engine(folder, flags) as engine:
        node = engine.graph.node(name, collection=flags.collection)
        neighbours = engine.graph.related(
            node,
            kinds=list(flags.kinds) or None,
            hops=hops,
            limit=NO_LIMIT if flags.paths else limit,
            collection=flags.collection,
        )
        results = [
            neighbour for neighbour in neighbours if flags.matches_path(neighbour.node.uri)
        ][:limit]
        unresolved = engine.graph.explain(node, 1).unresolved
        if as_json:
            data = {
                "success": True,
                "node": node_json(node),
                "related": [related_json(result) for result in results],
                "unresolved": [unresolved_json(reference) for reference in unresolved],
            }
            print_json(data)
        else:
            _print_related(node, results, flags)


def _print_related(node: Node, results: list[Related], flags: GraphFlags) -> None:
    name = node.key.partition(":")[2]
    print_line(
        (f"{printable(node.kind)} ", "magenta"),
        (printable(name), "bold"),
        (f"  {printable(node.place)}", "dim"),
    )
    if node.signature:
        print_line(f"  {printable(node.signature)[:_MAX_SIGNATURE]}")
    if results:
        print_table([_row(result) for result in results], ("magenta", "bold cyan", "", "dim"))
        print_confidences(
            result.confidence for result in results if result.confidence != _UNMARKED
        )
        return
    files = " in these files" if flags.paths else ""
    print_line(f"Nothing{describe_kinds(flags.kinds)}{files} is connected to it.")


def _row(result: Related) -> tuple[str, ...]:
    link = result.links[-1]
    arrow = "→" if link.target == result.node.key else "←"
    is_conditional = any(each.conditional for each in result.links)
    indent = "  " * (result.hops - 1)
    condition = "?" if is_conditional else ""
    remarks = _describe_link(link)
    if result.confidence != _UNMARKED:
        remarks = f"{remarks} {result.confidence}".strip()
    return (
        f"{indent}{arrow} {link.kind}{condition}",
        short_name(result.node.key),
        remarks,
        printable(format_place(link)),
    )


def _describe_link(link: Link) -> str:
    """Return the attributes of a link that a person wants to see."""
    words = [
        str(link.attributes.get(key) or "") for key in ("name", "type", "parameter", "how")
    ]
    return printable(" ".join(word for word in words if word and word != link.confidence))
