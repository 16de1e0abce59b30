"""`ragstone trust`."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.config import load
from ragstone.config.load import SetValue, untrusted_values
from ragstone.config.trust import trust_values, trusted_values
from ragstone.errors import ConfigError, InputError
from ragstone.indexing.ownership import is_own, mark_own, require_trustable
from ragstone.store.home_folder import DATABASE
from ragstone.store.summary import DatabaseSummary, read_summary
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, printable
from ragstone.surfaces.cli.paths import project_folder
from ragstone.text.counts import plural

_SOURCES: Final = {"": "added by hand", "files": "from files", "web": "web pages"}


@click.command(cls=ExampleCommand, examples=("ragstone trust", "ragstone trust --yes"))
@click.option("-y", "--yes", is_flag=True, help="Accept without asking.")
@common_options
def trust(folder: Path | None, as_json: bool, yes: bool) -> None:
    """Show the settings and the index of a folder that are not yours, and accept them.

    A folder that was copied or cloned may bring settings that loosen a protection, and an index that says anything.
    Nothing is accepted before you have seen it here. Settings that change later are asked about again.
    """
    root = project_folder(folder)
    values = untrusted_values(root)
    home = _foreign_home(root)
    summary = None
    if home:
        summary = read_summary(home / DATABASE)
        require_trustable(home, summary)
    if not as_json:
        _print_subjects(root, values, home, summary)
    needs_trust = bool(values or home)
    if needs_trust:
        _confirm(root, yes=yes)
        _accept(root, values, home)
    if as_json:
        print_json({"success": True, **_subjects_json(values, home, summary)})
    elif needs_trust:
        print_line("Trusted.")


def _subjects_json(
    values: list[SetValue], home: Path | None, summary: DatabaseSummary | None
) -> dict[str, object]:
    index = None
    if summary:
        index = {"home": str(home), "documents": dict(summary.documents)}
    return {"settings": {value.key.name: value.value for value in values}, "index": index}


def _foreign_home(root: Path) -> Path | None:
    """Return the home of a folder if it has an index that is not this user's own."""
    settings = load(root, require_trust=False)
    if settings.home_named or not os.path.lexists(settings.home / DATABASE):
        return None
    return None if is_own(settings.home) else settings.home


def _print_subjects(
    root: Path, values: list[SetValue], home: Path | None, summary: DatabaseSummary | None
) -> None:
    if not values and not home:
        print_line(f"Nothing in {printable(str(root))} needs your trust.")
    for value in values:
        print_line((value.key.name, "cyan"), f" = {printable(str(value.value))}")
        print_line(f"    {value.key.rules.doc}")
        print_line((f"    {printable(value.origin)}; default: {value.key.default}", "dim"))
    if home and summary:
        print_line(f"Index {printable(str(home))}: {_describe(summary)}")


def _describe(summary: DatabaseSummary) -> str:
    counts = [
        f"{plural(count, 'document')} {printable(_SOURCES.get(source, source))}"
        for source, count in summary.documents.items()
    ]
    if not counts or summary.last is None:
        return "no documents"
    return f"{', '.join(counts)}; the last one of {datetime.fromtimestamp(summary.last):%Y-%m-%d %H:%M}"


def _confirm(root: Path, *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            "nothing was accepted: there is nobody to ask", hint="--yes accepts it"
        )
    click.confirm(f"Trust this in {printable(str(root))}?", abort=True, err=True)


def _accept(root: Path, values: list[SetValue], home: Path | None) -> None:
    if values:
        added = {value.key.name: value.value for value in values}
        trust_values(root, {**trusted_values(root), **added})
    if home:
        mark_own(home)
        if not is_own(home):
            raise ConfigError(
                f"{home} cannot be marked as yours.",
                hint="set RAGSTONE_RAG_STORE_PATH to that folder instead",
            )
