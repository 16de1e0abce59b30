"""`ragstone search`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.cli.options import (
    check_output_format,
    common_options,
    json_lines_option,
)
from ragstone.surfaces.cli.output import (
    print_json,
    print_json_lines,
    print_line,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.paths import path_from_here
from ragstone.surfaces.cli.query import (
    QueryAnswer,
    SearchFlags,
    answer_query,
    query_argument,
    quote_query,
    search_options,
)
from ragstone.surfaces.present.hits import answer_json, hit_json


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone search "how is a retry delayed"',
        'ragstone "how is a retry delayed"                     # the same',
        'ragstone search "how is a retry delayed" src/ docs/   # only there',
        "ragstone search upload_with_backoff -k 3 --full-text",
        'ragstone search "retry" --kind code -l | xargs wc -l',
        "ragstone search \"retry\" --jsonl | jq -r '.citation'",
    ),
)
@query_argument("query")
@search_options
@click.option(
    "--full-text", is_flag=True, help="Show whole passages, not only the lines that match."
)
@click.option(
    "-l",
    "--files",
    "files_only",
    is_flag=True,
    help="Print only the paths of the files, as seen from the current folder.",
)
@click.option("--trace", is_flag=True, help="With --json: show how each score was computed.")
@json_lines_option
@common_options
def search(
    query: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    as_json_lines: bool,
    full_text: bool,
    files_only: bool,
    trace: bool,
    flags: SearchFlags,
) -> None:
    """Find the passages that answer QUERY (`-` reads it from stdin), in all files or below PATH.

    A folder without an index is indexed first. After a QUERY in quotation marks every argument is a PATH; without
    them, the last arguments are paths if they exist.
    """
    check_output_format(as_json=as_json, as_json_lines=as_json_lines)
    if files_only and (full_text or trace):
        raise InputError("-l prints no passages", hint="leave out --full-text and --trace")
    with answer_query(query, folder, flags) as answer:
        if files_only:
            _print_files(answer, as_json=as_json, as_json_lines=as_json_lines)
        elif as_json_lines:
            hits = answer.explanation.hits
            print_json_lines(hit_json(hit, trace=trace) for hit in hits)
        elif as_json:
            print_json(answer.add_notes(answer_json(answer.explanation, trace=trace)))
        else:
            _print_answer(answer, full_text=full_text)
        answer.print_notes()


def _print_answer(answer: QueryAnswer, *, full_text: bool) -> None:
    explanation = answer.explanation
    if explanation.hits:
        print_hits(explanation.hits, explanation.query, full_text=full_text)
    else:
        print_line(f"No hits for {quote_query(explanation.query)}.")


def _print_files(answer: QueryAnswer, *, as_json: bool, as_json_lines: bool) -> None:
    """Print each file once, the best first."""
    explanation = answer.explanation
    uris = dict.fromkeys(hit.path for hit in explanation.hits)
    paths = [path_from_here(uri, answer.base) for uri in uris]
    if as_json_lines:
        print_json_lines({"path": path} for path in paths)
    elif as_json:
        data = {"success": True, "query": explanation.query, "files": paths}
        print_json(answer.add_notes(data))
    elif paths:
        for path in paths:
            print_line(printable(path))
    else:
        print_notes([f"no hits for {quote_query(explanation.query)}"])
