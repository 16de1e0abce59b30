"""`ragstone help`."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ragstone.surfaces.cli.app import nearest_command
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_note, print_result, print_table
from ragstone.surfaces.cli.topics import find_topic, list_topics

_TOPICS = ("topics",)


def _complete_command(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the commands and topics that begin like this; a second word names a subcommand."""
    root = context.find_root()
    topics = [CompletionItem(name) for name in list_topics() if name.startswith(incomplete)]
    return [*root.command.shell_complete(root, incomplete), *topics]


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone help",
        "ragstone help search",
        "ragstone help sessions export",
        "ragstone help topics",
        "ragstone help memory",
        "ragstone help guides/context          # the guide; `ragstone help context` is the command",
    ),
)
@click.argument("command", nargs=-1, shell_complete=_complete_command)
@common_options
@click.pass_context
def help(
    context: click.Context, command: tuple[str, ...], folder: Path | None, as_json: bool
) -> None:
    """Show the help of COMMAND, or a guide; without COMMAND, the list of all commands.

    If a command and a guide have the same name, the command is shown: `guides/mcp` names the guide.

    `ragstone help topics` lists the guides. They are in the package, so they need no network.
    """
    if command == _TOPICS:
        _print_topics(context.find_root(), as_json=as_json)
        return
    page = find_topic(command)
    described = _command_context(context.find_root(), command)
    if described is not None:
        _print_help(described, as_json=as_json)
        if page is not None:
            print_note(f"(`ragstone help guides/{' '.join(command)}` prints the guide)")
        return
    if page is None:
        meant = nearest_command(command[0])
        advice = "`ragstone help` and `ragstone help topics` list them"
        if meant:
            advice = f"did you mean `ragstone {meant}`? {advice}"
        raise click.UsageError(
            f"there is no command and no topic {' '.join(command)!r} ({advice})",
            context.find_root(),
        )
    text = page.text.rstrip("\n")
    print_result({"success": True, "help": text}, text, as_json=as_json)


def _print_help(described: click.Context, *, as_json: bool) -> None:
    text = described.get_help()
    print_result({"success": True, "help": text}, text, as_json=as_json)


def _print_topics(root: click.Context, *, as_json: bool) -> None:
    """Print the words that show each guide: `guides/mcp`, because `mcp` alone shows the command."""
    titles: dict[str, str] = {}
    for name, page in list_topics().items():
        is_command = _command_context(root, (name,)) is not None
        titles[f"guides/{name}" if is_command else name] = page.title
    if as_json:
        print_json({"success": True, "topics": titles})
        return
    print_table(list(titles.items()), ("bold cyan", ""))


def _command_context(root: click.Context, words: tuple[str, ...]) -> click.Context | None:
    """Return the context of the command that words name; None if there is none."""
    parent = root
    for word in words:
        group = parent.command
        command = group.get_command(parent, word) if isinstance(group, click.Group) else None
        if command is None:
            return None
        parent = click.Context(command, info_name=word, parent=parent)
    return parent
