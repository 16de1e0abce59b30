"""`ragstone retrieve`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, TypedDict, Unpack

import click

from ragstone.config.validation import HIT_RANGE, SCORE_RANGE
from ragstone.engine import Engine
from ragstone.retrieval.ranking.confidence import NOTHING_INDEXED
from ragstone.surfaces.cli.engine import describe_missing_index, open_engine, scan_policy
from ragstone.surfaces.cli.graph_query import print_confidences
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.cli.options import (
    check_output_format,
    collection_option,
    common_options,
    json_lines_option,
    no_sync_option,
    number_type,
    yes_option,
)
from ragstone.surfaces.cli.output import (
    print_json,
    print_json_lines,
    print_line,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.query import explain_coverage, query_text, quote_query
from ragstone.surfaces.present.graph import retrieval_json
from ragstone.surfaces.present.hits import hit_json
from ragstone.text.counts import plural
from ragstone.types import GraphAnswer, Retrieval

_MAX_EVIDENCE: Final = 12


class RetrieveFlags(TypedDict):
    """The options of `retrieve` that change the answer."""

    top_k: int
    source_types: tuple[str, ...]
    must_include_paths: tuple[str, ...]
    route_name: str | None
    controller_class: str | None
    table_name: str | None
    no_runs: bool
    min_score: float
    collection: str | None
    full_text: bool
    no_sync: bool
    yes: bool


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone retrieve "which controller serves invoices.store, and what guards it"',
        'ragstone retrieve "what changes the table invoices" --table invoices',
        'ragstone retrieve "how is a total computed" --type code --must app/Models/Invoice.php',
    ),
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k",
    "--top-k",
    type=number_type("-k", HIT_RANGE),
    default=12,
    show_default=True,
    help="Number of passages at most.",
)
@click.option(
    "--type",
    "source_types",
    multiple=True,
    metavar="KIND",
    help="Only this kind: code, route, model, …",
)
@click.option(
    "--must",
    "must_include_paths",
    multiple=True,
    metavar="PATH",
    help="Always show this file's best part.",
)
@click.option("--route", "route_name", metavar="NAME", help="The route the question is about.")
@click.option(
    "--controller",
    "controller_class",
    metavar="CLASS",
    help="The controller the question is about.",
)
@click.option("--table", "table_name", metavar="NAME", help="The table the question is about.")
@click.option("--no-runs", is_flag=True, help="Leave out recorded runs.")
@click.option(
    "--min-score",
    type=number_type("--min-score", SCORE_RANGE),
    default=0.25,
    show_default=True,
    help="Drop hits with a lower score, 0 to 1.",
)
@collection_option()
@click.option(
    "--full-text", is_flag=True, help="Show whole passages, not only the lines that match."
)
@no_sync_option
@yes_option
@json_lines_option
@common_options
def retrieve(
    query: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    as_json_lines: bool,
    **flags: Unpack[RetrieveFlags],
) -> None:
    """Answer a question about code (`-` reads it from stdin) from the code graph and by search.

    A folder without an index is indexed first.
    """
    check_output_format(as_json=as_json, as_json_lines=as_json_lines)
    text = query_text(query)
    with open_engine(folder) as engine:
        missing = describe_missing_index(engine, no_sync=flags["no_sync"])
        if missing:
            retrieval = Retrieval(text, (), notes=(missing,))
        else:
            retrieval = _retrieve(engine, text, flags)
        print_notes([f"unknown name: {name}" for name in retrieval.unknown])
        if as_json_lines:
            print_json_lines(hit_json(hit) for hit in retrieval.chunks)
        elif as_json:
            print_json(retrieval_json(retrieval))
        else:
            _print_retrieval(retrieval, full_text=flags["full_text"])
        print_notes(retrieval.notes)


def _retrieve(engine: Engine, text: str, flags: RetrieveFlags) -> Retrieval:
    """Return the answer from an index that is brought up to date first."""
    with scan_policy(engine, no_sync=flags["no_sync"], yes=flags["yes"]) as policy:
        retrieval = engine.retrieve(
            text,
            flags["top_k"],
            source_types=list(flags["source_types"]) or None,
            must_include_paths=list(flags["must_include_paths"]),
            include_run_summaries=not flags["no_runs"],
            min_score=flags["min_score"],
            collection=flags["collection"],
            policy=policy,
            **_hints(flags),
        )
    notes = explain_coverage(engine, (*retrieval.notes, *_retrieval_notes(retrieval)))
    if engine.is_empty():
        notes.append(NOTHING_INDEXED)
    return replace(retrieval, notes=tuple(dict.fromkeys(notes)))


def _hints(flags: RetrieveFlags) -> dict[str, str]:
    """Return the names that the question is about, without those that are not given."""
    hints = {
        "route_name": flags["route_name"],
        "controller_class": flags["controller_class"],
        "table_name": flags["table_name"],
    }
    return {option: name for option, name in hints.items() if name is not None}


def _print_retrieval(retrieval: Retrieval, *, full_text: bool) -> None:
    if retrieval.answer is not None:
        _print_answer(retrieval.answer)
    if retrieval.answer is not None and retrieval.chunks:
        print_line()
    if retrieval.chunks:
        print_hits(retrieval.chunks, retrieval.query, full_text=full_text)
    elif retrieval.answer is None:
        print_line(f"No answer for {quote_query(retrieval.query)}.")


def _print_answer(answer: GraphAnswer) -> None:
    print_line((printable(answer.said), "bold"))
    for uri, line in answer.evidence[:_MAX_EVIDENCE]:
        print_line("  ", (printable(f"{uri}:{line}"), "cyan"))
    hidden = len(answer.evidence) - _MAX_EVIDENCE
    if hidden > 0:
        print_line((f"  and {plural(hidden, 'more place')}", "dim"))
    if not answer.negative:
        print_confidences([answer.confidence])


def _retrieval_notes(retrieval: Retrieval) -> list[str]:
    notes = retrieval.debug.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []
