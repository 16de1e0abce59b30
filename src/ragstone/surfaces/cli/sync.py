"""`ragstone sync`: make the index match the folder, and account for every file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import ask_first, open_engine, run_sync
from ragstone.surfaces.cli.shell import complain, emit, note, number, remark, safe, say, shared
from ragstone.types import Skip, SyncReport

_REMARKS = 10
_OFF = "retrieval is switched off (rag.enabled), nothing was done"


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Look into every file, whatever its size and time say.")
@click.option("--no-embed", is_flag=True, help="Words only; vectors can follow later.")
@click.option("--collection", help="The collection to fill.")
@click.option("--web", is_flag=True, help="Look at the stored web pages again, and not at the folder.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever the folder is.")
@click.option("-v", "--verbose", is_flag=True, help="List what was skipped, with the reasons.")
@shared
def sync(  # noqa: PLR0913 - one argument per flag
    paths: tuple[Path, ...],
    folder: Path | None,
    as_json: bool,
    full: bool,
    no_embed: bool,
    collection: str | None,
    web: bool,
    yes: bool,
    verbose: bool,
) -> int:
    """Make the index match the folder, or only some PATHS in it."""
    only = [path.absolute() for path in paths] or None
    if web and (only or full):
        raise InputError("--web goes without paths and without --full", hint="ragstone sync --web")
    with open_engine(folder) as engine:
        if web:
            report = engine.recheck_pages(collection=collection, embed=not no_embed)
        else:
            ask_first(engine, yes=yes)
            report = run_sync(engine, only, embed=not no_embed, full=full, collection=collection)
    off = () if engine.enabled or web else (_OFF,)
    if as_json:
        data = present.sync_report(report)
        emit({**data, "notes": [*data["notes"], *off]})
    else:
        ledger(report, verbose=verbose, vectors=not no_embed)
    remark((*report.notes, *off))
    return present.OK if report.ok else present.PARTIAL


def ledger(report: SyncReport, *, verbose: bool = False, vectors: bool = True) -> None:
    """Print the account of a sync; what failed is always listed."""
    skipped, failed = len(report.skipped), len(report.failed)
    say((f"{report.found:,} found", "bold"), " = " + " + ".join(
        f"{count:,} {name}"
        for count, name in (
            (report.indexed, "indexed"), (report.unchanged, "unchanged"), (skipped, "skipped"), (failed, "failed")
        )
    ))  # fmt: skip
    gone = f"{report.removed:,} removed, " if report.removed else ""
    say(f"{gone}{number(report.chunks_added, 'chunk')} new, {report.chunks_kept:,} kept, {report.seconds:.1f} s")
    say(_vectors(report) if vectors else "vectors: not asked for (`ragstone sync` makes them)")
    for one in report.failed:
        complain(f"{one.uri}: {one.reason}", label="failed")
    if failed and not report.indexed:
        note("(a file that gave no text is read again when it changes, or with --full)")
    remarks(report.remarks, verbose=verbose)
    if verbose:
        _list(report.skipped)
    elif skipped:
        note(f"({number(skipped, 'file')} skipped: --verbose says why)")


def remarks(told: Sequence[Skip], *, verbose: bool = False) -> None:
    """Print what there is to say about documents, or the first of it."""
    shown = told if verbose else told[:_REMARKS]
    for one in shown:
        if one.uri == ".":  # of no document, but of all
            complain(one.reason, label="warning")
        else:
            note(f"{safe(one.uri)}: {safe(one.reason)}")
    if len(shown) < len(told):
        note(f"({number(len(told) - len(shown), 'remark')} more: --verbose shows all)")


def _vectors(report: SyncReport) -> str:
    if report.pending:
        how = "" if report.notes else " (`ragstone sync` makes them)"
        return f"vectors: {report.embedded:,} new, {report.pending:,} still to come{how}"
    return f"vectors: {report.embedded:,} new, all texts have one"


def _list(skipped: Sequence[Skip]) -> None:
    for one in skipped:
        say(("skipped ", "dim"), safe(one.uri), (f": {safe(one.reason)}", "dim"))
