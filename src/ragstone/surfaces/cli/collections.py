"""`ragstone collections`: list them, make one, drop one."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, open_existing
from ragstone.surfaces.cli.shell import emit, number, safe, say, shared, table
from ragstone.types import Collection


@click.group(invoke_without_command=True)
@shared
@click.pass_context
def collections(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List, make or drop collections."""
    if context.invoked_subcommand is None:
        context.invoke(list_collections, folder=folder, as_json=as_json)


@collections.command("list")
@shared
def list_collections(folder: Path | None, as_json: bool) -> None:
    """List the collections of a project."""
    with open_engine(folder) as engine:
        found = engine.collections() if engine.exists else []
    if as_json:
        emit({"success": True, "collections": [present.collection(one) for one in found]})
    elif found:
        table([_row(one) for one in found], ("cyan", "", "", "dim"))
    else:
        say("No collections yet (`ragstone sync` and `ragstone collections create` make them).")


@collections.command("create")
@click.argument("name")
@click.option("--description", default="", help="What is in it, in a few words.")
@click.option("--chunker", help="Cut its documents with this chunker; default: rag.chunker.")
@click.option("--chunk-size", type=click.IntRange(min=1), help="Its largest chunk; default: rag.chunk_size.")
@click.option("--chunk-overlap", type=click.IntRange(min=0), help="What its neighbouring chunks share.")
@shared
def create(
    name: str,
    folder: Path | None,
    as_json: bool,
    description: str,
    chunker: str | None,
    chunk_size: int | None,
    chunk_overlap: int | None,
) -> None:
    """Make the collection NAME, cut in a way of its own where one is given."""
    with open_engine(folder) as engine:
        made = engine.create_collection(
            name, description, chunker=chunker, chunk_size=chunk_size, chunk_overlap=chunk_overlap
        )
    if as_json:
        emit({"success": True, "collection": present.collection(made)})
    else:
        say(f"Collection {safe(made.name)} made. Fill it: `ragstone sync --collection {safe(made.name)}`.")


@collections.command("drop")
@click.argument("name")
@shared
def drop(name: str, folder: Path | None, as_json: bool) -> None:
    """Remove the collection NAME with everything in it."""
    with open_existing(folder) as engine:
        gone = engine.drop_collection(name)
    if as_json:
        emit({"success": True, "collection": name, "documents": gone})
    else:
        say(f"Collection {safe(name)} dropped, and {number(gone, 'document')} with it.")


def _row(one: Collection) -> tuple[str, ...]:
    cut = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in one.settings.items())
    about = "; ".join(text for text in (one.description, cut) if text)
    return safe(one.name), number(one.documents, "document"), number(one.chunks, "chunk"), safe(about)
