"""`ragstone capture`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import click

from ragstone.errors import InputError
from ragstone.sources.command_help.help import (
    HELP,
    TOO_DEEP,
    CapturedHelp,
    HelpLimits,
    HelpPage,
    to_markdown,
)
from ragstone.sources.command_help.help import capture as capture_help
from ragstone.sources.command_help.program import find_program
from ragstone.surfaces.cli.engine import open_engine, show_progress
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.cli.sync_report import print_skipped
from ragstone.surfaces.present.failures import completion_code
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.text.counts import plural
from ragstone.types import SyncReport

_DEFAULTS: Final = HelpLimits()


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone capture git",
        "ragstone capture kubectl --depth 3 --man",
        "ragstone capture docker --output help/ --yes",
    ),
)
@click.argument("program")
@click.option(
    "--depth",
    type=click.IntRange(0, 5),
    default=_DEFAULTS.depth,
    show_default=True,
    help="Levels of subcommands.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=int(_DEFAULTS.seconds),
    show_default=True,
    help="Time limit.",
)
@click.option(
    "--commands",
    type=click.IntRange(1, 5000),
    default=_DEFAULTS.commands,
    show_default=True,
    help="Commands at most.",
)
@click.option(
    "--man", is_flag=True, help="Also read the manual pages of commands that have help."
)
@click.option("--collection", default=HELP, show_default=True, help="The collection to fill.")
@click.option(
    "--no-embed", is_flag=True, help="Index words only; a later sync makes the vectors."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write Markdown files instead.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before the program is run.")
@click.option(
    "-v", "--verbose", is_flag=True, help="List the commands without help, with the reasons."
)
@common_options
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
    """Run PROGRAM and its subcommands with --help and index the output; PROGRAM is a name or a path."""
    limits = HelpLimits(depth, float(seconds), commands, man)
    project = project_folder(folder)
    _confirm_run(find_program(program, project=project), depth, yes=yes)
    if output is not None:
        return _write_files(
            capture_help(program, limits=limits, project=project), output, as_json=as_json
        )
    print_note(f"asking {printable(program)} for its help, for {seconds} s at most")
    with open_engine(folder) as engine, show_progress() as progress:
        report = engine.external.capture(
            program, collection=collection, limits=limits, embed=not no_embed, progress=progress
        )
    if as_json:
        print_json(sync_report_json(report))
    else:
        _print_report(program, report, verbose=verbose)
    print_notes(report.notes)
    return completion_code(is_complete=report.ok or not engine.enabled)


def _confirm_run(path: Path, depth: int, *, yes: bool) -> None:
    """Ask before a program is run; without a terminal raise `InputError`."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"{path} is not run without your consent", hint="--yes runs it")
    subcommands = ", and each command it lists," if depth else ""
    click.confirm(f"Run {printable(str(path))}{subcommands} with --help?", abort=True, err=True)


def _print_report(program: str, report: SyncReport, *, verbose: bool) -> None:
    removed = f", {report.removed:,} removed" if report.removed else ""
    counts = f"{plural(report.indexed, 'page')} stored, {report.unchanged:,} unchanged{removed}"
    print_line((printable(program), "bold"), f": {counts}, {report.seconds:.1f} s")
    without_help = [skip for skip in report.skipped if skip.reason != TOO_DEEP]
    if verbose:
        print_skipped(report.skipped)
    elif without_help:
        print_note(
            f"({plural(len(without_help), 'command')} without a page: --verbose lists the reasons)"
        )


def _write_files(captured: CapturedHelp, folder: Path, *, as_json: bool) -> int:
    """Write a file for every command, print the result and return the exit code."""
    paths = [_write_page(folder, page) for page in captured.pages]
    if as_json:
        data = {
            "success": not captured.notes,
            "files": [str(path) for path in paths],
            "skipped": [
                {"uri": " ".join(skip.words), "reason": skip.reason}
                for skip in captured.skipped
            ],
            "notes": list(captured.notes),
        }
        print_json(data)
    else:
        print_line(f"{plural(len(paths), 'file')} written below {printable(str(folder))}.")
    print_notes(captured.notes)
    return completion_code(is_complete=not captured.notes)


def _write_page(folder: Path, page: HelpPage) -> Path:
    """Write a page to a temporary file and rename it: a symbolic link at the target is replaced, not followed."""
    *parents, name = [word.replace(":", "-") for word in page.words]
    path = folder.joinpath(*parents, f"{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.write_text(to_markdown(page), encoding="utf-8", newline="\n")
    os.replace(temporary, path)
    return path
