"""`ragstone graph`: the routes, tables and models of a project, and what is known of its code at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from ragstone.errors import InputError
from ragstone.surfaces import present_graph as shape
from ragstone.surfaces.cli.related import asking, at_hand, passes
from ragstone.surfaces.cli.shell import emit, fitted, note, number, safe, say, shared, table
from ragstone.types import GraphReport, Node

_NONE: Final = "None are known."
_LONGEST_LISTING: Final = 50_000_000


@click.group(invoke_without_command=True)
@shared
@click.pass_context
def graph(context: click.Context, folder: Path | None, as_json: bool) -> None:
    r"""List the routes, tables and models of a project, as its framework has them; by itself it reports what is known.

    \b
    ragstone graph routes --path 'routes/api*'
    ragstone graph tables --json
    ragstone graph routes --import routes.json
    """
    if context.invoked_subcommand is None:
        given = {"paths": (), "kinds": (), "collection": None, "no_sync": False, "yes": False}
        context.invoke(report, folder=folder, as_json=as_json, **given)


def _kept(nodes: Sequence[Node], given: dict[str, Any], pattern: str | None) -> list[Node]:
    wanted = passes(given)
    kept = [one for one in nodes if wanted(one.uri) and (not given["kinds"] or one.kind in given["kinds"])]
    return [one for one in kept if pattern is None or _matches(one, pattern)]


def _matches(node: Node, pattern: str) -> bool:
    """Return whether a name or key matches a glob, or has it in it where it is none."""
    glob = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    names = (node.name, node.key.partition(":")[2], str(node.attributes.get("uri") or node.name))
    return any(fnmatchcase(one.lower(), glob.lower()) for one in names)


@graph.command()
@click.argument("pattern", required=False)
@asking
@click.option(
    "--import", "listing", type=click.File("rb"), metavar="FILE",
    help="First take in what `php artisan route:list --json` printed, as what the running application says.",
)  # fmt: skip
@shared
def routes(pattern: str | None, folder: Path | None, as_json: bool, listing: BinaryIO | None, **given: Any) -> None:
    """List routes: methods, path, what handles them, what guards them, and where they are registered."""
    with at_hand(folder, given) as engine:
        report = engine.import_routes(_read(listing), collection=given["collection"]) if listing else None
        found = _kept(engine.routes(collection=given["collection"]), given, pattern)
    if as_json:
        told = {"import": shape.graph_report(report)} if report else {}
        emit({"success": True, "routes": [shape.node(one) for one in found], **told})
        return
    rows = [
        (_methods(one), safe(str(one.attributes.get("uri", one.name))), _action(one), safe(one.place)) for one in found
    ]
    _listed(fitted(rows, (10, 38, 28)), ("magenta", "bold cyan", "", "dim"), "route")


def _methods(node: Node) -> str:
    told = node.attributes.get("methods")
    return "|".join(map(str, told)) if isinstance(told, list) else node.name.partition(" ")[0]


def _action(node: Node) -> str:
    action = str(node.attributes.get("action") or "")
    return safe(action.rpartition("\\")[2] or action)


def _read(listing: BinaryIO) -> str:
    data = listing.read(_LONGEST_LISTING + 1)
    if len(data) > _LONGEST_LISTING:
        raise InputError("this is too long for a listing of routes", hint="`php artisan route:list --json` prints one")
    return data.decode("utf-8", errors="replace")


@graph.command()
@click.argument("pattern", required=False)
@asking
@shared
def tables(pattern: str | None, folder: Path | None, as_json: bool, **given: Any) -> None:
    """List tables as the migrations leave them: columns, and how many migrations each had."""
    with at_hand(folder, given) as engine:
        found = _kept(engine.tables(collection=given["collection"]), given, pattern)
    if as_json:
        emit({"success": True, "tables": [shape.node(one) for one in found]})
        return
    rows = [(safe(one.name), _columns(one), safe(one.place)) for one in found]
    _listed(fitted(rows, (26, 46)), ("bold cyan", "", "dim"), "table")


def _columns(node: Node) -> str:
    told = node.attributes.get("columns")
    names = [str(one.get("name")) for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    shown = ", ".join(names)
    return safe(shown if len(shown) <= 46 else f"{shown[:40]}… {len(names)}")


@graph.command()
@click.argument("pattern", required=False)
@asking
@shared
def models(pattern: str | None, folder: Path | None, as_json: bool, **given: Any) -> None:
    """List models: the table each is kept in, and what it is related to."""
    with at_hand(folder, given) as engine:
        found = _kept(engine.models(collection=given["collection"]), given, pattern)
        rows, data = [], []
        for one in found:
            told = dict(engine.explain(one).out_of)
            kept_in = [link.target.partition(":")[2] for link in told.get("MAPS_TO", ())]
            others = [link.target.replace("\\", ".").rpartition(".")[2] for link in told.get("RELATES", ())]
            rows.append((safe(one.name), safe(", ".join(kept_in)), safe(", ".join(dict.fromkeys(others))),
                         safe(one.place)))  # fmt: skip
            data.append({**shape.node(one), "tables": kept_in, "related": list(dict.fromkeys(others))})
    if as_json:
        emit({"success": True, "models": data})
        return
    _listed(fitted(rows, (24, 24, 26)), ("bold cyan", "magenta", "", "dim"), "model")


@graph.command()
@asking
@shared
def report(folder: Path | None, as_json: bool, **given: Any) -> None:
    """Show what is known of the code: nodes by kind, what was read for it now, and what could not be known."""
    with at_hand(folder, given) as engine:
        told = engine.bring_graph_level(collection=given["collection"])
        counts = Counter(node.kind for node in engine.nodes(collection=given["collection"]))
        unknown = engine.unknowns(collection=given["collection"])
    if as_json:
        graphs = [shape.graph_report(one) for one in told]
        emit({"success": True, "kinds": dict(counts), "graphs": graphs, "unknowns": list(unknown)})
        return
    for one in told:
        _level(one)
    table([(f"{count:,}", kind) for kind, count in counts.most_common()], ("bold", "magenta"))
    if not counts:
        say("Nothing is known of code here.")
    for remark in unknown:
        note(safe(remark))


def _level(one: GraphReport) -> None:
    what = f"{number(one.read, 'file')} read, {one.seconds:.1f} s" if one.read or one.changed else "level"
    used = f" ({', '.join(one.frameworks)})" if one.frameworks else ""
    say((safe(one.collection), "bold cyan"), f": {what}{used}")


def _listed(rows: Sequence[tuple[str, ...]], styles: tuple[str, ...], what: str) -> None:
    if not rows:
        say(_NONE)
        return
    table(list(rows), styles)
    note(f"({number(len(rows), what)})")
