"""`ragstone model`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from ragstone import config, registry
from ragstone.indexing.embedders import EmbedderPool
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table
from ragstone.surfaces.cli.paths import project_folder


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=(
        "ragstone model",
        "ragstone model info minilm",
    ),
)
@common_options
@click.pass_context
def model(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List the embedding models, or describe one."""
    if context.invoked_subcommand is None:
        context.invoke(list_models, folder=folder, as_json=as_json)


@model.command("list", examples=("ragstone model list",))
@common_options
def list_models(folder: Path | None, as_json: bool) -> None:
    """List the embedding models."""
    used = _configured_model(folder)
    parts = registry.describe("embedder")
    if as_json:
        models = [
            {
                "name": part.name,
                "aliases": list(part.aliases),
                "about": part.doc,
                "used": part.name == used,
            }
            for part in parts
        ]
        print_json({"success": True, "models": models})
        return
    rows = [("*" if part.name == used else " ", part.name, part.doc) for part in parts]
    print_table(rows, ("green", "cyan"))


@model.command("info", examples=("ragstone model info minilm",))
@click.argument("name", required=False)
@common_options
def describe_model(name: str | None, folder: Path | None, as_json: bool) -> None:
    """Describe the model NAME; default: the model in use."""
    settings = config.load(project_folder(folder))
    embedder = EmbedderPool(settings).get(name)
    space = embedder.space
    facts = {
        "name": name or settings.embed.provider,
        **dataclasses.asdict(space),
        "max_tokens": embedder.max_tokens,
        "fingerprint": space.fingerprint,
    }
    if as_json:
        print_json({"success": True, **facts})
        return
    for key, value in facts.items():
        print_line((f"{key.replace('_', ' '):>16}  ", "dim"), str(value) or "none")


def _configured_model(folder: Path | None) -> str:
    settings = config.load(project_folder(folder))
    provider = settings.embed.provider.partition(":")[0]
    return registry.find("embedder", provider).name
