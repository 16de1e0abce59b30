"""`ragstone search`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line
from ragstone.surfaces.cli.query import SearchFlags, answer_query, quote_query, search_options
from ragstone.surfaces.present.hits import answer_json


@click.command()
@click.argument("query", nargs=-1, required=True)
@search_options
@click.option(
    "--full-text", is_flag=True, help="Show whole passages, not only the lines that match."
)
@click.option("--trace", is_flag=True, help="With --json: show how each score was computed.")
@common_options
def search(
    query: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    full_text: bool,
    trace: bool,
    **flags: Any,
) -> None:
    """Find the passages that answer QUERY (`-` reads it from stdin).

    A folder without an index is indexed first.
    """
    with answer_query(query, folder, SearchFlags(**flags)) as answer:
        explanation = answer.explanation
        if as_json:
            print_json(answer.add_notes(answer_json(explanation, trace=trace)))
        elif explanation.hits:
            print_hits(explanation.hits, explanation.query, full_text=full_text)
        else:
            print_line(f"No hits for {quote_query(explanation.query)}.")
        answer.print_notes()
