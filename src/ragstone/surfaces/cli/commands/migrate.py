"""`ragstone migrate`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ragstone.engine.move import move_home
from ragstone.surfaces.cli.engine import show_progress
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_result, printable
from ragstone.text.counts import plural


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone migrate --to postgresql://team@db.example:5432/ragstone",
        "RAGSTONE_STORE_URL=postgresql://… ragstone migrate --json",
    ),
)
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="Address of the database; by default the setting store.url. Other users of the machine can read a password "
    "that is given here, so rather set RAGSTONE_STORE_URL.",
)
@common_options
def migrate(url: str | None, folder: Path | None, as_json: bool) -> None:
    """Copy the index to a PostgreSQL database that several machines share.

    Nothing is embedded again. The copy is compared with the index, which stays as it is. If the command was
    interrupted, run it again: it continues.
    """
    with show_progress() as progress:
        report = move_home(folder or Path(), url, progress=progress)
    sentence = (
        f"{plural(report.documents, 'document')}, {plural(report.chunks, 'chunk')} and"
        f" {plural(report.vectors, 'vector')} of {plural(report.collections, 'collection')}"
        f" are in {printable(report.location)} and verified.\n"
        "From now on set store.url in your user file, or RAGSTONE_STORE_URL, to that address with its password."
    )
    values = {"success": True, **asdict(report), "setting": "store.url"}
    print_result(values, sentence, as_json=as_json)
