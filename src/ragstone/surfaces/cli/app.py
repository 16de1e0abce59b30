"""The command `ragstone` with its subcommands.

To add a command, write `commands/<name>.py` with a click command of the same name and add a row to `COMMANDS`.
A command's module is imported only if that command runs, so `ragstone --help` stays fast.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click

from ragstone import __version__
from ragstone.surfaces.cli.failures import report_failure
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.present.failures import OK

COMMANDS: Final = {
    "search": "Find the passages that answer a question.",
    "retrieve": "Answer a question about code, with file and line.",
    "context": "Print the context of a task for a prompt, inside a token budget.",
    "ask": "Answer in words, from the documents alone, with checked quotations.",
    "related": "Show what a route, class, table or file is connected to.",
    "impact": "Show what depends on a file or a symbol.",
    "history": "Show what changed a file, a symbol or a table.",
    "graph": "List routes, tables and models.",
    "record-run": "Store a summary of an agent's run.",
    "mcp": "Serve an agent's tools over stdio (Model Context Protocol).",
    "install": "Connect agents: add the MCP server to their settings.",
    "uninstall": "Undo `install`.",
    "serve": "Serve the index over HTTP: REST, health, metrics.",
    "sync": "Make the index match the folder.",
    "watch": "Keep the index up to date until Ctrl-C.",
    "add": "Add files, web pages, or text from a pipe.",
    "capture": "Index the --help output of a program.",
    "sources": "List the indexed documents.",
    "remove": "Remove documents from the index.",
    "remember": "Store a message of a conversation.",
    "recall": "Search the messages of a conversation.",
    "forget": "Delete a conversation, or a part of it.",
    "sessions": "List, export and import conversations.",
    "agents": "List agents, index their documents, print their prompts.",
    "bus": "Serve the tool search_documents on a ZeroMQ bus.",
    "collections": "List, create or drop collections.",
    "status": "Show the state of the index.",
    "events": "Show recent events, or follow new ones.",
    "explain": "Show how the answer to a query was ranked.",
    "doctor": "Check the index and its environment.",
    "init": "Create the index folder and a settings file to edit.",
    "config": "Show every setting and its origin.",
    "model": "List the embedding models, or describe one.",
    "export": "Write a collection as lines of JSON.",
    "import": "Load a collection that `export` wrote.",
    "reembed": "Make all vectors again, for another model or storage.",
    "compact": "Free the disk space of removed documents.",
    "backup": "Write a verified copy of the database.",
    "demo": "Index a folder and ask it a few questions.",
}
"""Command name → its line in `ragstone --help`, most used first."""


class LazyGroup(click.Group):
    """A group that imports a command's module only if the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names, most used first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if the name is unknown."""
        if cmd_name not in COMMANDS:
            return None
        module_name = cmd_name.replace("-", "_")
        if keyword.iskeyword(module_name):
            module_name += "_"
        module = import_module(f"ragstone.surfaces.cli.commands.{module_name}")
        command: click.Command = getattr(module, module_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; the error for an unknown name suggests the nearest one."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = "`ragstone --help` lists them"
            matches = get_close_matches(args[0], COMMANDS, n=1)
            if matches:
                hint = f"did you mean `ragstone {matches[0]}`?"
            raise click.UsageError(f"there is no command {args[0]!r} ({hint})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Start with `ragstone search "your question"` in any folder.',
)
@click.version_option(__version__, prog_name="ragstone")
@common_options
def commands(folder: Path | None, as_json: bool) -> None:
    """Knowledge for AI agents: index a folder, search it by words and by meaning, get cited passages."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; every failure is reported here."""
    _escape_unencodable_output()
    try:
        # click's own `main` would report some failures itself, with words and codes that differ between versions.
        with commands.make_context("ragstone", list(arguments) or ["--help"]) as context:
            result = commands.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as request:
        return request.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an unknown exception is reported as a bug
        return report_failure(error, arguments)
    return result if isinstance(result, int) else OK


def _escape_unencodable_output() -> None:
    """Escape characters that the output cannot encode: a strange file name must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
