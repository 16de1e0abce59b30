"""`ragstone export`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.json_lines import PIPE, check_target, write_export
from ragstone.surfaces.cli.options import collection_option, common_options


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone export knowledge.jsonl",
        "ragstone export --no-vectors | gzip > knowledge.jsonl.gz",
    ),
)
@click.argument("file", default=PIPE)
@click.option(
    "--no-vectors", is_flag=True, help="Leave the vectors out; they can be made again."
)
@collection_option("The collection to write.")
@click.option("--force", is_flag=True, help="Write over an existing file.")
@common_options
def export(
    file: str,
    folder: Path | None,
    as_json: bool,
    no_vectors: bool,
    collection: str | None,
    force: bool,
) -> None:
    """Write a collection to FILE (default: stdout) as lines of JSON."""
    check_target(file, as_json=as_json, force=force)
    with open_indexed_engine(folder) as engine:
        lines = engine.admin.export(collection=collection, vectors=not no_vectors)
        write_export(engine, file, lines, as_json=as_json)
