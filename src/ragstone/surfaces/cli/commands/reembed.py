"""`ragstone reembed`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import RESUMABLE, open_indexed_engine
from ragstone.surfaces.cli.failures import Interrupted
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import collection_option, common_options
from ragstone.surfaces.cli.output import print_result
from ragstone.surfaces.cli.progress import ProgressDisplay
from ragstone.text.counts import plural


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone reembed",
        "RAGSTONE_RAG_EMBEDDING_PROVIDER=minilm ragstone reembed",
    ),
)
@collection_option("The collection whose vectors to make.")
@common_options
def reembed(folder: Path | None, as_json: bool, collection: str | None) -> None:
    """Make all vectors again with the configured model; searches use the old ones until all are made."""
    try:
        with open_indexed_engine(folder) as engine, ProgressDisplay() as progress:
            count = engine.admin.reembed(collection=collection, progress=progress)
    except KeyboardInterrupt:
        raise Interrupted(f"the old vectors stay in use; {RESUMABLE}") from None
    sentence = f"{plural(count, 'vector')} made, and now in use."
    print_result({"success": True, "embedded": count}, sentence, as_json=as_json)
