"""`ragstone retrieve`: what the code says to a question, where that is written, and the pieces behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from ragstone.surfaces import present_graph
from ragstone.surfaces.cli import hits
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.search import query_text, shown
from ragstone.surfaces.cli.shell import emit, number, remark, safe, say, shared
from ragstone.types import GraphAnswer, Retrieval

_MOST_PLACES: Final = 12


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "--top-k", type=int, default=12, show_default=True, help="How many pieces at most.")
@click.option("--type", "source_types", multiple=True, metavar="KIND", help="Only of this kind: code, route, model, …")
@click.option("--must", "paths", multiple=True, metavar="PATH", help="Its best piece is shown whatever else is.")
@click.option("--route", "route_name", metavar="NAME", help="The route that is asked about.")
@click.option("--controller", "controller_class", metavar="CLASS", help="The controller that is asked about.")
@click.option("--table", "table_name", metavar="NAME", help="The table that is asked about.")
@click.option("--no-runs", is_flag=True, help="Leave out what earlier runs recorded.")
@click.option("--min-score", type=float, default=0.25, show_default=True, help="Leave out what is found below, 0 to 1.")
@click.option("--collection", help="Only this collection; default: all.")
@click.option("--full-text", is_flag=True, help="Show whole pieces, not only the lines that match.")
@click.option("--no-sync", is_flag=True, help="Do not look at the folder first.")
@click.option("-y", "--yes", is_flag=True, help="Index without asking, whatever the folder is.")
@shared
def retrieve(query: tuple[str, ...], folder: Path | None, as_json: bool, **given: Any) -> None:
    """Answer a question about code (`-` reads it from stdin): from its graph where it names something, else by search.

    In a folder that was never indexed this indexes it first.
    """
    text = query_text(query)
    with open_engine(folder) as engine:
        amiss: list[str] = []
        if not given["no_sync"]:
            _, amiss = bring_up_to_date(engine, yes=given["yes"])
        made = engine.retrieve(
            text,
            given["top_k"],
            source_types=list(given["source_types"]) or None,
            must_include_paths=list(given["paths"]) or None,
            route_name=given["route_name"],
            controller_class=given["controller_class"],
            table_name=given["table_name"],
            include_run_summaries=not given["no_runs"],
            min_score=given["min_score"],
            collection=given["collection"],
        )
        if as_json:
            emit({**present_graph.retrieval(made), "notes": amiss})
        else:
            _show(made, full_text=given["full_text"])
            remark(list(dict.fromkeys((*amiss, *_remarks(made)))))


def _show(made: Retrieval, *, full_text: bool) -> None:
    if made.answer is not None:
        _answer(made.answer)
    if made.chunks:
        if made.answer is not None:
            say()
        hits.show(made.chunks, made.query, full_text=full_text)
    elif made.answer is None:
        say(f"No hits for {shown(made.query)}.")


def _answer(told: GraphAnswer) -> None:
    say((safe(told.said), "bold"))
    for uri, line in told.evidence[:_MOST_PLACES]:
        say(("  ", ""), (safe(f"{uri}:{line}"), "cyan"))
    if len(told.evidence) > _MOST_PLACES:
        say((f"  and {number(len(told.evidence) - _MOST_PLACES, 'more place', 'more places')}", "dim"))
    say((f"  {told.confidence}", "dim"))


def _remarks(made: Retrieval) -> list[str]:
    unknown = made.debug.get("unknown")
    names = [str(one) for one in unknown] if isinstance(unknown, list) else []
    notes = made.debug.get("notes")
    return [*(f"not known: {name}" for name in names), *(map(str, notes) if isinstance(notes, list) else ())]
