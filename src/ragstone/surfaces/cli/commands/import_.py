"""`ragstone import`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.json_lines import decode_lines, open_input
from ragstone.surfaces.cli.options import collection_option, common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_notes
from ragstone.surfaces.cli.sync_report import print_remarks
from ragstone.surfaces.present.index_notes import describe_vectors
from ragstone.surfaces.present.reports import add_report_json
from ragstone.text.counts import plural


@click.command(
    "import",
    cls=ExampleCommand,
    examples=(
        "ragstone import knowledge.jsonl",
        "zcat knowledge.jsonl.gz | ragstone import - --collection copy",
    ),
)
@click.argument("file")
@collection_option("The collection to fill.")
@common_options
def import_(file: str, folder: Path | None, as_json: bool, collection: str | None) -> None:
    """Load FILE (`-` is stdin) that `ragstone export` wrote."""
    with open_engine(folder) as engine, open_input(engine, file) as data:
        report = engine.admin.load(decode_lines(data), collection=collection)
        notes = list(report.notes)
        if report.pending and not notes:
            engine.admin.embed_in_background()
            notes.append(describe_vectors(engine))
    if as_json:
        print_json({"success": True, **add_report_json(report), "notes": notes})
        print_notes(notes)
        return
    counts = (
        plural(report.documents, "document"),
        plural(report.chunks_added, "new chunk"),
        plural(report.embedded, "vector"),
    )
    print_line(f"{', '.join(counts)} imported")
    print_remarks(report.remarks, verbose=True)
    print_notes(notes)
