"""The command `ragstone` with its subcommands.

To add a command, write `commands/<name>.py` with a click command of the same name and add a row to `COMMAND_GROUPS`.
A command's module is imported only if that command runs, so `ragstone --help` stays fast.
"""

from __future__ import annotations

import keyword
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from ragstone import __version__
from ragstone.config.environment import completion_request
from ragstone.surfaces.cli.completion import answer_completion
from ragstone.surfaces.cli.failures import report_failure
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.present.failures import OK

COMMAND_GROUPS: Final = {
    "Search and ask": {
        "search": "Find the passages that answer a question.",
        "context": "Print the context of a task for a prompt, inside a token budget.",
        "ask": "Answer in words, from the documents alone, with checked quotations.",
        "explain": "Show how the answer to a query was ranked.",
    },
    "Index": {
        "sync": "Make the index match the folder.",
        "watch": "Keep the index up to date until Ctrl-C.",
        "add": "Add files, web pages, or text from a pipe.",
        "capture": "Index the --help output of a program.",
        "sources": "List the indexed documents.",
        "remove": "Remove documents from the index.",
        "collections": "List, create or drop collections.",
        "status": "Show the state of the index.",
        "stats": "Show how the index was used, and the tokens it saved.",
    },
    "Memory": {
        "remember": "Store a message of a conversation.",
        "recall": "Search the messages of a conversation.",
        "forget": "Delete a conversation, or a part of it.",
        "sessions": "List, export and import conversations.",
    },
    "Code": {
        "retrieve": "Answer a question about code, with file and line.",
        "related": "Show what a route, class, table or file is connected to.",
        "impact": "Show what depends on a file or a symbol.",
        "history": "Show what changed a file, a symbol or a table.",
        "graph": "List routes, tables and models.",
        "record-run": "Store a summary of an agent's run.",
    },
    "Serve": {
        "mcp": "Serve an agent's tools over stdio (Model Context Protocol).",
        "install": "Connect agents: add the MCP server to their settings.",
        "uninstall": "Undo `install`.",
        "ui": "Open the dashboard in a browser.",
        "serve": "Serve the index over HTTP: dashboard, REST, MCP, health, metrics.",
        "worker": "Do the jobs of a database that several machines share.",
        "keys": "Make, list and revoke the keys of a server.",
        "bus": "Serve the tool search_documents on a ZeroMQ bus.",
        "agents": "List agents, index their documents, print their prompts.",
    },
    "Maintain": {
        "init": "Create the index folder and a settings file to edit.",
        "config": "Show every setting and its origin.",
        "trust": "Accept the index and the settings that came with a folder.",
        "doctor": "Check the index and its environment.",
        "events": "Show recent events, or follow new ones.",
        "eval": "Measure how well search finds answers in your folder.",
        "bench": "Measure speed, size and memory on your folder.",
        "model": "List the embedding models, or describe one.",
        "reembed": "Make all vectors again, for another model or storage.",
        "export": "Write a collection as lines of JSON.",
        "import": "Load a collection that `export` wrote.",
        "backup": "Write a verified copy of the database.",
        "migrate": "Copy the index to a PostgreSQL database.",
        "compact": "Free the disk space of removed documents.",
        "completion": "Print a script that completes commands on Tab.",
        "demo": "Search a small sample folder, to see how it works.",
        "help": "Show the help of a command, or a guide.",
    },
}
"""Title → command name → its line in `ragstone --help`, most used first."""

COMMANDS: Final = {
    name: line for lines in COMMAND_GROUPS.values() for name, line in lines.items()
}

_OTHER_NAMES: Final = {
    "delete": "remove",
    "find": "search",
    "index": "sync",
    "ingest": "add",
    "list": "sources",
    "ls": "sources",
    "query": "search",
    "rm": "remove",
    "update": "sync",
    "version": "--version",
}
"""Commands of similar tools → the command here."""
_BUILT_IN: Final = frozenset({"eval"})
"""Commands with the name of a function of Python; their modules end with an underscore."""
_NEAR: Final = 0.75
"""`serch` and `stauts` are near a command, `what` is not near `watch`."""


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
        if keyword.iskeyword(module_name) or module_name in _BUILT_IN:
            module_name += "_"
        module = import_module(f"ragstone.surfaces.cli.commands.{module_name}")
        command: click.Command = getattr(module, module_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; a question without a command is a search.

        A first word that is near the name of a command is a mistake, not a question.
        """
        word = args[0]
        if _is_singular_command(args):
            args = [f"{word}s", *args[1:]]
            return super().resolve_command(ctx, args)
        if word in COMMANDS or word.startswith("-"):
            return super().resolve_command(ctx, args)
        meant = nearest_command(word)
        if meant and not ctx.resilient_parsing:
            project_folder(ctx.params.get("folder"))
            raise click.UsageError(
                f"there is no command {word!r} (did you mean `ragstone {meant}`? "
                f"`ragstone search {shlex.join(args)}` searches for it)",
                ctx,
            )
        return "search", self.get_command(ctx, "search"), args

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        width = max(map(len, COMMANDS))
        for title, lines in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", line) for name, line in lines.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands or options that begin like this, without importing the commands."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=line)
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ]


def _is_singular_command(args: Sequence[str]) -> bool:
    """Return whether the arguments are a command in the singular, alone or with options: `session` is `sessions`."""
    is_alone = all(argument.startswith("-") for argument in args[1:2])
    return is_alone and args[0] not in COMMANDS and f"{args[0]}s" in COMMANDS


def nearest_command(word: str) -> str:
    """Return the command, or two, that a mistyped word means, first one with the same letters; empty if there is none."""
    if word in _OTHER_NAMES:
        return _OTHER_NAMES[word]
    matches = get_close_matches(word, COMMANDS, n=2, cutoff=_NEAR)
    return "` or `ragstone ".join(
        sorted(matches, key=lambda name: sorted(name) != sorted(word))
    )


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="`ragstone COMMAND --help` shows options and examples, `ragstone help topics` lists the guides.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="ragstone", help="Show the version and exit."
)
@common_options
def commands(folder: Path | None, as_json: bool) -> None:
    """Knowledge for AI agents: index a folder, search it by words and by meaning, get cited passages.

    Start in any folder: `ragstone "your question"` is short for `ragstone search "your question"`.
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; every failure is reported here."""
    _escape_unencodable_output()
    request = completion_request()
    if request:
        return answer_completion(commands, request)
    try:
        # click's own `main` would report some failures itself, with words and codes that differ between versions.
        with commands.make_context("ragstone", list(arguments) or ["--help"]) as context:
            result = commands.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as request_to_exit:
        return request_to_exit.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an unknown exception is reported as a bug
        return report_failure(error, arguments)
    return result if isinstance(result, int) else OK


def _escape_unencodable_output() -> None:
    """Escape characters that the output cannot encode: a strange file name must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
