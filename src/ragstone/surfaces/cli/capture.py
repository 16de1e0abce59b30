"""`ragstone capture`: the help of a program and its commands, into the index or into files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.indexing.command_help import COLLECTION
from ragstone.sources.command_help.help import DEPTH, Captured, Limits, Page, markdown
from ragstone.sources.command_help.help import capture as captured
from ragstone.sources.command_help.program import find
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, watched
from ragstone.surfaces.cli.place import root_of
from ragstone.surfaces.cli.shell import emit, note, number, remark, safe, say, shared
from ragstone.types import SyncReport

_DEFAULTS = Limits()


@click.command()
@click.argument("program")
@click.option(
    "--depth", type=click.IntRange(0, 5), default=_DEFAULTS.depth, show_default=True, help="Levels of commands."
)
@click.option(
    "--seconds", type=click.IntRange(1, 3600), default=int(_DEFAULTS.seconds), show_default=True, help="Time for all."
)
@click.option(
    "--commands", type=click.IntRange(1, 5000), default=_DEFAULTS.commands, show_default=True, help="How many at most."
)
@click.option("--man", is_flag=True, help="Read the manual's pages too, and not only where there is no help.")
@click.option("--collection", default=COLLECTION, show_default=True, help="The collection to fill.")
@click.option("--no-embed", is_flag=True, help="Words only; vectors can follow later.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Write Markdown files instead.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before the program is run.")
@click.option("-v", "--verbose", is_flag=True, help="List the commands that gave no help, with the reasons.")
@shared
def capture(  # noqa: PLR0913 - one argument per flag
    program: str,
    folder: Path | None,
    as_json: bool,
    depth: int,
    seconds: int,
    commands: int,
    man: bool,
    collection: str,
    no_embed: bool,
    output: Path | None,
    yes: bool,
    verbose: bool,
) -> int:
    """Run PROGRAM with --help, and each of its commands, and store what they say; a path names one that is here."""
    limits = Limits(depth, float(seconds), commands, man)
    root = root_of(folder)
    _ask(find(program, project=root), depth, yes=yes)
    if output is not None:
        return _written(captured(program, limits=limits, project=root), output, as_json=as_json)
    note(f"asking {safe(program)} for its help, for {seconds} s at most")
    with open_engine(folder) as engine, watched() as progress:
        report = engine.capture(program, collection=collection, limits=limits, embed=not no_embed, progress=progress)
    if as_json:
        emit(present.sync_report(report))
    else:
        _tell(program, report, verbose=verbose)
    remark(report.notes)
    return present.OK if report.ok or not engine.enabled else present.PARTIAL


def _ask(path: Path, depth: int, *, yes: bool) -> None:
    """Ask before a program is run; where nobody can answer, refuse."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"{path} is not run without being asked to", hint="--yes runs it")
    each = ", and each command it lists," if depth else ""
    click.confirm(f"Run {safe(str(path))}{each} with --help?", abort=True, err=True)


def _tell(program: str, report: SyncReport, *, verbose: bool) -> None:
    gone = f", {report.removed:,} removed" if report.removed else ""
    what = f"{number(report.indexed, 'page')} stored, {report.unchanged:,} unchanged{gone}"
    say((safe(program), "bold"), f": {what}, {report.seconds:.1f} s")
    if verbose:
        for one in report.skipped:
            say(("skipped ", "dim"), safe(one.uri), (f": {safe(one.reason)}", "dim"))
    elif missing := sum(one.reason != DEPTH for one in report.skipped):
        note(f"({number(missing, 'command')} without a page: --verbose says why)")


def _written(found: Captured, folder: Path, *, as_json: bool) -> int:
    """Write a file for every command and tell which."""
    paths = [_write(folder, page) for page in found.pages]
    if as_json:
        left = [{"uri": " ".join(one.words), "reason": one.reason} for one in found.left]
        whole = {"success": not found.notes, "files": [str(path) for path in paths], "skipped": left}
        emit({**whole, "notes": list(found.notes)})
    else:
        say(f"{number(len(paths), 'file')} written below {safe(str(folder))}.")
    remark(found.notes)
    return present.PARTIAL if found.notes else present.OK


def _write(folder: Path, page: Page) -> Path:
    """Write one page, beside its place first, so that no link that waits there is followed."""
    *above, last = (word.replace(":", "-") for word in page.words)
    path = folder.joinpath(*above, f"{last}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(markdown(page), encoding="utf-8", newline="\n")
    os.replace(part, path)
    return path
