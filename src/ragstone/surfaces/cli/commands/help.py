"""`ragstone help`."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_result


def _complete_command(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the commands that begin like this; a second word names a subcommand."""
    root = context.find_root()
    return root.command.shell_complete(root, incomplete)


@click.command(
    cls=ExampleCommand,
    examples=("ragstone help", "ragstone help search", "ragstone help sessions export"),
)
@click.argument("command", nargs=-1, shell_complete=_complete_command)
@common_options
@click.pass_context
def help(
    context: click.Context, command: tuple[str, ...], folder: Path | None, as_json: bool
) -> None:
    """Show the help of COMMAND; without COMMAND, the list of all commands."""
    described = context.find_root()
    for word in command:
        described = _subcommand_context(described, word)
    text = described.get_help()
    print_result({"success": True, "help": text}, text, as_json=as_json)


def _subcommand_context(parent: click.Context, word: str) -> click.Context:
    """Return the context of a subcommand; raise `UsageError` if there is none of this name."""
    group = parent.command
    subcommand = None
    if isinstance(group, click.Group):
        subcommand = group.get_command(parent, word)
    if subcommand is None:
        raise click.UsageError(f"there is no command {parent.command_path} {word!r}", parent)
    return click.Context(subcommand, info_name=word, parent=parent)
