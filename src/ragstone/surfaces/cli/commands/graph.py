"""`ragstone graph`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Final

import click

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.surfaces.cli.graph_query import GraphFlags, graph_options, open_graph_engine
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_table,
    printable,
)
from ragstone.surfaces.present.graph import graph_report_json, node_json
from ragstone.text.counts import plural
from ragstone.types import GraphReport, Node

_MAX_LISTING_BYTES: Final = 50_000_000
_MAX_COLUMNS_TEXT: Final = 46
_MAX_REMARKS: Final = 5


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=(
        "ragstone graph",
        "ragstone graph routes --path 'routes/api*'",
        "ragstone graph tables --json",
    ),
)
@common_options
@click.pass_context
def graph(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List the routes, tables and models of a project; without a subcommand, show a summary of the code graph."""
    if context.invoked_subcommand is None:
        no_flags = {
            "paths": (),
            "kinds": (),
            "collection": None,
            "no_sync": False,
            "yes": False,
        }
        context.invoke(report, folder=folder, as_json=as_json, **no_flags)


@graph.command(
    examples=(
        "ragstone graph routes",
        "ragstone graph routes invoices --path 'routes/api*'",
        "ragstone graph routes --import routes.json",
    )
)
@click.argument("pattern", required=False)
@graph_options
@click.option(
    "--import",
    "listing",
    type=click.File("rb"),
    metavar="FILE",
    help="First import the output of `php artisan route:list --json`.",
)
@common_options
def routes(
    pattern: str | None,
    folder: Path | None,
    as_json: bool,
    listing: BinaryIO | None,
    flags: GraphFlags,
) -> None:
    """List routes with methods, path, handler and file; PATTERN filters them by name or path."""
    imported: GraphReport | None = None
    with open_graph_engine(folder, flags) as engine:
        if listing is not None:
            imported = engine.graph.import_listing(
                _read_listing(listing), collection=flags.collection
            )
        all_routes = engine.graph.routes(collection=flags.collection)
        nodes = _filter(all_routes, flags, pattern)
        remarks = _remarks_if_empty(engine, flags, all_routes)
    if as_json:
        data: dict[str, object] = {
            "success": True,
            "routes": [node_json(node) for node in nodes],
        }
        if imported is not None:
            data["import"] = graph_report_json(imported)
        print_json(data)
        return
    rows = [_route_row(node) for node in nodes]
    _print_rows(rows, ("magenta", "bold cyan", "", "dim"), "route", remarks)


@graph.command(
    examples=(
        "ragstone graph tables",
        "ragstone graph tables invoices --json",
    )
)
@click.argument("pattern", required=False)
@graph_options
@common_options
def tables(pattern: str | None, folder: Path | None, as_json: bool, flags: GraphFlags) -> None:
    """List tables with their columns after all migrations; PATTERN filters them by name."""
    with open_graph_engine(folder, flags) as engine:
        all_tables = engine.graph.tables(collection=flags.collection)
        nodes = _filter(all_tables, flags, pattern)
        remarks = _remarks_if_empty(engine, flags, all_tables)
    if as_json:
        print_json({"success": True, "tables": [node_json(node) for node in nodes]})
        return
    rows = [
        (printable(node.name), _format_columns(node), printable(node.place)) for node in nodes
    ]
    _print_rows(rows, ("bold cyan", "", "dim"), "table", remarks)


@graph.command(
    examples=(
        "ragstone graph models",
        "ragstone graph models '*Invoice*'",
    )
)
@click.argument("pattern", required=False)
@graph_options
@common_options
def models(pattern: str | None, folder: Path | None, as_json: bool, flags: GraphFlags) -> None:
    """List models with their tables and related models; PATTERN filters them by name."""
    rows = []
    data = []
    with open_graph_engine(folder, flags) as engine:
        all_models = engine.graph.models(collection=flags.collection)
        for node in _filter(all_models, flags, pattern):
            model_tables, related_models = _model_relations(engine, node)
            data.append({**node_json(node), "tables": model_tables, "related": related_models})
            cells = (node.name, ", ".join(model_tables), ", ".join(related_models), node.place)
            rows.append(tuple(printable(cell) for cell in cells))
        remarks = _remarks_if_empty(engine, flags, all_models)
    if as_json:
        print_json({"success": True, "models": data})
        return
    _print_rows(rows, ("bold cyan", "magenta", "", "dim"), "model", remarks)


@graph.command(examples=("ragstone graph report",))
@graph_options
@common_options
def report(folder: Path | None, as_json: bool, flags: GraphFlags) -> None:
    """Show a summary of the code graph: nodes by kind, files read now, and open questions."""
    with open_graph_engine(folder, flags) as engine:
        reports = engine.graph.update(collection=flags.collection)
        counts = Counter(node.kind for node in engine.graph.nodes(collection=flags.collection))
        unknowns = engine.graph.unknowns(collection=flags.collection)
    if as_json:
        graphs = [graph_report_json(each) for each in reports]
        print_json(
            {
                "success": True,
                "kinds": dict(counts),
                "graphs": graphs,
                "unknowns": list(unknowns),
            }
        )
        return
    for each in reports:
        _print_report(each)
    print_table(
        [(f"{count:,}", kind) for kind, count in counts.most_common()], ("bold", "magenta")
    )
    if not counts:
        print_line("The graph is empty: no supported code was found.")
    for unknown in unknowns:
        print_note(printable(unknown))


def _remarks_if_empty(
    engine: Engine, flags: GraphFlags, nodes: Sequence[Node]
) -> tuple[str, ...]:
    """Return the remarks of the graph, such as modules that were left out, if no node is known."""
    return () if nodes else engine.graph.unknowns(collection=flags.collection)


def _filter(nodes: Sequence[Node], flags: GraphFlags, pattern: str | None) -> list[Node]:
    matching = [node for node in nodes if flags.matches(node.uri, node.kind)]
    if pattern is None:
        return matching
    return [node for node in matching if _matches_pattern(node, pattern)]


def _matches_pattern(node: Node, pattern: str) -> bool:
    """Return whether a glob matches the node's name, key or path; a plain word matches a part of them."""
    is_glob = any(sign in pattern for sign in "*?[")
    glob = pattern if is_glob else f"*{pattern}*"
    names = (
        node.name,
        node.key.partition(":")[2],
        str(node.attributes.get("uri") or node.name),
    )
    return any(fnmatchcase(name.lower(), glob.lower()) for name in names)


def _route_row(node: Node) -> tuple[str, ...]:
    methods = node.attributes.get("methods")
    method_names = node.name.partition(" ")[0]
    if isinstance(methods, list):
        method_names = "|".join(map(str, methods))
    action = str(node.attributes.get("action") or "")
    short_action = action.rpartition("\\")[2] or action
    path = str(node.attributes.get("uri", node.name))
    return method_names, printable(path), printable(short_action), printable(node.place)


def _format_columns(node: Node) -> str:
    columns = node.attributes.get("columns")
    if not isinstance(columns, list):
        return ""
    names = [str(column.get("name")) for column in columns if isinstance(column, dict)]
    text = ", ".join(names)
    if len(text) > _MAX_COLUMNS_TEXT:
        text = f"{text[:40]}… {len(names)}"
    return printable(text)


def _model_relations(engine: Engine, node: Node) -> tuple[list[str], list[str]]:
    """Return the tables of a model and the names of related models."""
    links = dict(engine.graph.explain(node).out_of)
    table_names = [link.target.partition(":")[2] for link in links.get("MAPS_TO", ())]
    model_names = [
        link.target.replace("\\", ".").rpartition(".")[2] for link in links.get("RELATES", ())
    ]
    return table_names, list(dict.fromkeys(model_names))


def _read_listing(listing: BinaryIO) -> str:
    data = listing.read(_MAX_LISTING_BYTES + 1)
    if len(data) > _MAX_LISTING_BYTES:
        raise InputError(
            "this is too long for a route listing",
            hint="`php artisan route:list --json` prints one",
        )
    return data.decode("utf-8", errors="replace")


def _print_report(each: GraphReport) -> None:
    state = "up to date"
    if each.read or each.changed:
        state = f"{plural(each.read, 'file')} read, {each.seconds:.1f} s"
    frameworks = f" ({', '.join(each.frameworks)})" if each.frameworks else ""
    print_line((printable(each.collection), "bold cyan"), f": {state}{frameworks}")


def _print_rows(
    rows: Sequence[tuple[str, ...]], styles: tuple[str, ...], noun: str, remarks: Sequence[str]
) -> None:
    """Print a table; without rows, the remarks of the graph, which may say why there are none."""
    if not rows:
        print_line(f"No {noun} is known.")
        for remark in remarks[:_MAX_REMARKS]:
            print_note(f"({printable(remark)})")
        if len(remarks) > _MAX_REMARKS:
            print_note("(`ragstone graph report` has more remarks)")
        return
    print_table(rows, styles)
    print_note(f"({plural(len(rows), noun)})")
