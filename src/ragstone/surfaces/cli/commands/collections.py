"""`ragstone collections`."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import click

from ragstone.surfaces.cli.engine import open_engine, open_indexed_engine
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_result,
    print_table,
    printable,
)
from ragstone.surfaces.cli.values import complete_collection
from ragstone.surfaces.present.documents import collection_json
from ragstone.text.counts import plural
from ragstone.types import Collection


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=(
        "ragstone collections",
        "ragstone collections create reports",
    ),
)
@common_options
@click.pass_context
def collections(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List, create or drop collections."""
    if context.invoked_subcommand is None:
        context.invoke(list_collections, folder=folder, as_json=as_json)


@collections.command("list", examples=("ragstone collections list --json",))
@common_options
def list_collections(folder: Path | None, as_json: bool) -> None:
    """List the collections of a project."""
    with open_engine(folder) as engine:
        listed = engine.admin.collections() if engine.exists else []
    if as_json:
        print_json(
            {
                "success": True,
                "collections": [collection_json(collection) for collection in listed],
            }
        )
    elif listed:
        print_table([_row(collection) for collection in listed], ("cyan", "", "", "dim"))
    else:
        print_line(
            "No collections yet (`ragstone sync` and `ragstone collections create` make them)."
        )


class _Chunking(TypedDict):
    """The options of `create` that change the chunks."""

    chunker: str | None
    max_tokens: int | None
    overlap_tokens: int | None
    chunk_size: int | None
    chunk_overlap: int | None


@collections.command(
    "create",
    examples=(
        'ragstone collections create reports --description "Yearly reports"',
        "ragstone collections create logs --chunker lines --max-tokens 400",
    ),
)
@click.argument("name")
@click.option("--description", default="", show_default=False, help="A short description.")
@click.option("--chunker", help="The chunker for its documents; default: rag.chunker.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    help="The largest chunk in tokens; default: chunk.max_tokens.",
)
@click.option(
    "--overlap-tokens",
    type=click.IntRange(min=0),
    help="The overlap of neighbouring chunks in tokens.",
)
@click.option(
    "--chunk-size",
    type=click.IntRange(min=1),
    help="The largest chunk in characters; default: rag.chunk_size.",
)
@click.option(
    "--chunk-overlap",
    type=click.IntRange(min=0),
    help="The overlap of neighbouring chunks in characters.",
)
@common_options
def create_collection(
    name: str,
    folder: Path | None,
    as_json: bool,
    description: str,
    **chunking: Unpack[_Chunking],
) -> None:
    """Create the collection NAME, if wanted with its own chunking."""
    with open_engine(folder) as engine:
        collection = engine.admin.create_collection(
            name,
            description,
            **chunking,
        )
    title = printable(collection.name)
    sentence = f"Collection {title} created. Fill it: `ragstone sync --collection {title}`."
    print_result(
        {"success": True, "collection": collection_json(collection)}, sentence, as_json=as_json
    )


@collections.command("drop", examples=("ragstone collections drop reports",))
@click.argument("name", shell_complete=complete_collection)
@common_options
def drop_collection(name: str, folder: Path | None, as_json: bool) -> None:
    """Remove the collection NAME with all its documents."""
    with open_indexed_engine(folder) as engine:
        count = engine.admin.drop_collection(name)
    sentence = f"Collection {printable(name)} dropped, and {plural(count, 'document')} with it."
    print_result(
        {"success": True, "collection": name, "documents": count}, sentence, as_json=as_json
    )


def _row(collection: Collection) -> tuple[str, ...]:
    settings = ", ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in collection.settings.items()
    )
    about = "; ".join(filter(None, [collection.description, settings]))
    return (
        printable(collection.name),
        plural(collection.documents, "document"),
        plural(collection.chunks, "chunk"),
        printable(about),
    )
