"""The commands by name, and the one place where every failure is told.

A command's module is imported when that command runs, so `--help` costs next to nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click

from ragstone import __version__
from ragstone.errors import RagstoneError
from ragstone.surfaces import present
from ragstone.surfaces.cli.shell import Interrupted, complain, emit, shared

COMMANDS: Final = {
    "search": ("search:search", "Find the pieces that answer a question."),
    "retrieve": ("retrieve:retrieve", "Answer a question about code, with file and line."),
    "context": ("context:context", "Print what a prompt should know, inside a token budget."),
    "ask": ("ask:ask", "Answer in words, from the documents alone, with checked quotations."),
    "related": ("related:related", "Show what a route, class, table or file hangs together with."),
    "impact": ("related:impact", "Show what depends on a file or a symbol."),
    "history": ("related:history", "Show what changed a file, a symbol or a table."),
    "graph": ("graph:graph", "List routes, tables and models."),
    "record-run": ("runs:record_run", "Store what an agent's run did."),
    "mcp": ("mcp:mcp", "Serve an agent's tools over stdio (Model Context Protocol)."),
    "sync": ("sync:sync", "Make the index match the folder."),
    "watch": ("watch:watch", "Keep the index level with the folder until Ctrl-C."),
    "add": ("add:add", "Store files, web pages, or text from a pipe, by hand."),
    "capture": ("capture:capture", "Store the help that a program gives."),
    "sources": ("sources:sources", "List the documents that are stored."),
    "remove": ("remove:remove", "Remove documents from the index."),
    "remember": ("memory:remember", "Remember what was said in a conversation."),
    "recall": ("memory:recall", "Find what was said in a conversation."),
    "forget": ("memory:forget", "Forget a conversation, or a part of it."),
    "sessions": ("sessions:sessions", "List conversations, carry one elsewhere and back."),
    "agents": ("agents:agents", "List agents, index their documents, print their prompts."),
    "bus": ("bus:bus", "Answer an agent's tool on a ZeroMQ bus."),
    "collections": ("collections:collections", "List, make or drop collections."),
    "status": ("status:status", "Show what is indexed."),
    "events": ("events:events", "Show what happened lately, and what happens."),
    "explain": ("explain:explain", "Show how an answer came about."),
    "doctor": ("doctor:doctor", "Check the index and what it runs on."),
    "init": ("init:init", "Make the index's folder and a settings file to edit."),
    "config": ("settings:config", "Show every setting and where it came from."),
    "model": ("model:model", "List the embedding models, or tell about one."),
    "export": ("portable:export", "Write a collection as lines of JSON."),
    "import": ("portable:load", "Take in what `export` wrote."),
    "reembed": ("upkeep:reembed", "Make all vectors again, for another model or storage."),
    "compact": ("upkeep:compact", "Give back the room of what was removed."),
    "backup": ("upkeep:backup", "Write a verified copy of the database."),
    "demo": ("demo:demo", "Index a folder and ask it a few questions."),
}
"""Name → where the command lives, and the one line that `--help` shows."""
_NAMES: Final = {present.USAGE: "usage", present.BUG: "bug", present.INTERRUPTED: "interrupted"}


class Commands(click.Group):
    """The commands by name, none of them imported before it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, the ones most used first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"ragstone.surfaces.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; an unknown name gets the nearest known one."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # only where somebody made a mistake

            near = get_close_matches(args[0], COMMANDS, n=1)
            meant = f"did you mean `ragstone {near[0]}`?" if near else "`ragstone --help` lists them"
            raise click.UsageError(f"there is no command {args[0]!r} ({meant})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Start with `ragstone search "your question"` in any folder.',
)
@click.version_option(__version__, prog_name="ragstone")
@shared
def commands(folder: Path | None, as_json: bool) -> None:
    """Knowledge for AI agents: index a folder, search it by words and by meaning, get cited pieces back."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; every failure is told here, in one sentence."""
    _take_any_text()
    try:
        # Not click's own main: that would tell some failures itself, in words and codes that differ by its version.
        with commands.make_context("ragstone", list(arguments) or ["--help"]) as context:
            result = commands.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except RagstoneError as error:
        return _told(str(error), present.codes(error).exit, arguments, present.failure(error))
    except Interrupted as stop:
        return _told(str(stop), present.INTERRUPTED, arguments)
    except (click.Abort, KeyboardInterrupt):
        return _told("stopped, nothing more was done", present.INTERRUPTED, arguments)
    except click.ClickException as error:
        return _told(_usage(error), present.USAGE, arguments)
    except BrokenPipeError:
        _give_up_output()
        return present.PIPE_CLOSED
    except OSError as error:
        return _system(error, arguments)
    except Exception as error:  # noqa: BLE001 - the last door: whatever comes here is a bug, told as one
        return _bug(error, arguments)
    return result if isinstance(result, int) else present.OK


def _take_any_text() -> None:
    """Let the output show what it cannot encode in another way: a strange file name must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _told(sentence: str, code: int, arguments: Sequence[str], failure: present.Json | None = None) -> int:
    complain(sentence, label="interrupted" if code == present.INTERRUPTED else "error")
    if _flag("--json", arguments):
        name, again = _NAMES.get(code, "system"), code == present.INTERRUPTED
        about = failure or {"code": name, "message": sentence, "hint": "", "retryable": again}
        emit({"success": False, "error": about})
    return code


def _usage(error: click.ClickException) -> str:
    """Return what is wrong with the command line, and where to read how it is right."""
    sentence = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return sentence if context is None or sentence.endswith(")") else f"{sentence} ({context.command_path} --help)"


def _system(error: OSError, arguments: Sequence[str]) -> int:
    """Tell a failure of the operating system that no room has translated."""
    try:
        sys.stdout.flush()
    except OSError:
        _give_up_output()
    what = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
    if _flag("--debug", arguments):
        _trace(error)
    return _told(f"{what} (check the path, its permissions and the room on the disk)", present.DISK, arguments)


def _trace(error: Exception) -> None:
    import traceback  # only where something went wrong and somebody asks

    traceback.print_exception(error)


def _give_up_output() -> None:
    """Write to nowhere from now on: Python flushes once more at exit and would complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(error: Exception, arguments: Sequence[str]) -> int:
    if _flag("--debug", arguments):
        _trace(error)
    first = str(error).partition("\n")[0][:200]
    hint = "run it again with --debug for the traceback, and please report it"
    return _told(f"this is a bug in Ragstone: {type(error).__name__}: {first} ({hint})", present.BUG, arguments)


def _flag(name: str, arguments: Sequence[str]) -> bool:
    """Return whether a flag was given, before any `--` that ends the flags."""
    given = list(arguments)
    return name in (given[: given.index("--")] if "--" in given else given)
