"""`ragstone sync`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.surfaces.cli.cost_estimate import show_plan
from ragstone.surfaces.cli.engine import (
    complete_vectors,
    confirm_first_sync,
    open_engine,
    run_sync,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import collection_option, common_options, yes_option
from ragstone.surfaces.cli.output import print_json, print_notes
from ragstone.surfaces.cli.sync_report import print_ledger
from ragstone.surfaces.present.failures import completion_code
from ragstone.surfaces.present.reports import sync_report_json

_DISABLED = "retrieval is switched off (rag.enabled), nothing was done"


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone sync",
        "ragstone sync docs/ README.md",
        "ragstone sync --full --verbose",
        "ragstone sync --web",
        "ragstone sync --plan",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--full", is_flag=True, help="Read every file, even if its size and time have not changed."
)
@click.option(
    "--no-embed", is_flag=True, help="Index words only; a later sync makes the vectors."
)
@collection_option("The collection to fill.")
@click.option(
    "--web",
    is_flag=True,
    help="Fetch the stored web pages again instead of reading the folder.",
)
@click.option(
    "--plan",
    is_flag=True,
    help="Say what would be indexed and embedded, how long it takes and what it costs; do nothing.",
)
@yes_option
@click.option("-v", "--verbose", is_flag=True, help="List the skipped files with the reasons.")
@common_options
def sync(  # noqa: PLR0913 - one argument per flag
    paths: tuple[Path, ...],
    folder: Path | None,
    as_json: bool,
    full: bool,
    no_embed: bool,
    collection: str | None,
    web: bool,
    plan: bool,
    yes: bool,
    verbose: bool,
) -> int:
    """Make the index match the folder, or only some PATHS in it."""
    if web and (paths or full):
        raise InputError(
            "--web goes without paths and without --full", hint="ragstone sync --web"
        )
    chosen = [path.absolute() for path in paths] or None
    if plan:
        return show_plan(folder, chosen, full=full, collection=collection, as_json=as_json)
    with open_engine(folder) as engine:
        if web:
            report = engine.external.recheck_pages(collection=collection, embed=not no_embed)
        else:
            confirm_first_sync(engine, yes=yes)
            report = run_sync(
                engine, chosen, embed=not no_embed, full=full, collection=collection
            )
            if engine.enabled and not (no_embed or chosen or collection):
                report = complete_vectors(engine, report)
    notes = list(report.notes)
    if not engine.enabled and not web:
        notes.append(_DISABLED)
    if as_json:
        print_json({**sync_report_json(report), "notes": notes})
    else:
        print_ledger(report, verbose=verbose, embed=not no_embed)
    print_notes(notes)
    return completion_code(is_complete=report.ok)
