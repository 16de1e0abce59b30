"""`ragstone model`: which embedders there are, and what one is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from ragstone import config, registry
from ragstone.protocols import Embedder
from ragstone.surfaces.cli.place import root_of
from ragstone.surfaces.cli.shell import emit, say, shared, table


@click.group(invoke_without_command=True)
@shared
@click.pass_context
def model(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List the embedding models, or tell about one."""
    if context.invoked_subcommand is None:
        context.invoke(list_models, folder=folder, as_json=as_json)


@model.command("list")
@shared
def list_models(folder: Path | None, as_json: bool) -> None:
    """List the embedding models that can be used."""
    used = _configured(folder)
    parts = registry.describe("embedder")
    if as_json:
        rows = [
            {"name": part.name, "aliases": list(part.aliases), "about": part.doc, "used": part.name == used}
            for part in parts
        ]
        emit({"success": True, "models": rows})
        return
    table([("*" if part.name == used else " ", part.name, part.doc) for part in parts], ("green", "cyan"))


@model.command("info")
@click.argument("name", required=False)
@shared
def info(name: str | None, folder: Path | None, as_json: bool) -> None:
    """Tell about the model NAME, or about the one in use."""
    found = name or _configured(folder)
    made: Embedder = registry.load("embedder", found)(config.load(root_of(folder)))
    facts = {"name": found, **dataclasses.asdict(made.space), "max_tokens": made.max_tokens,
             "fingerprint": made.space.fingerprint}  # fmt: skip
    if as_json:
        emit({"success": True, **facts})
        return
    for key, value in facts.items():
        say((f"{key.replace('_', ' '):>16}  ", "dim"), str(value) or "none")


def _configured(folder: Path | None) -> str:
    return registry.find("embedder", config.load(root_of(folder)).rag.embedding_provider).name
