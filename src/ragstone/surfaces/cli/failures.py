"""Failures of a command: one sentence on stderr, an exit code, and a JSON object if `--json` is set."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Sequence

import click

from ragstone.errors import RagstoneError
from ragstone.surfaces.cli.output import (
    discard_output,
    print_error,
    print_json,
    print_json_lines,
)
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import (
    BUG,
    DISK,
    INTERRUPTED,
    PIPE_CLOSED,
    USAGE,
    failure_codes,
    failure_json,
    system_failure,
)


class Interrupted(Exception):
    """A person stopped the work; the message explains the consequence."""


def report_failure(error: BaseException, arguments: Sequence[str]) -> int:
    """Print a failure and return the exit code."""
    if isinstance(error, BrokenPipeError):
        discard_output(sys.stdout)
        return PIPE_CLOSED
    is_output_lost = isinstance(error, OSError) and not _flush_output()
    error = system_failure(error) or error
    exit_code, details = _describe(error)
    sentence = details["message"]
    if isinstance(error, RagstoneError):
        sentence = str(error)
    elif exit_code in (BUG, DISK) and _has_flag("--debug", arguments):
        traceback.print_exception(error)
    print_error(sentence, label="interrupted" if exit_code == INTERRUPTED else "error")
    if is_output_lost:
        return exit_code
    _print_failure({"success": False, "error": details}, arguments)
    return exit_code


def _print_failure(failure: Json, arguments: Sequence[str]) -> None:
    """Print a failure as JSON if the caller reads JSON. An output without a buffer fails here again."""
    try:
        if _has_flag("--json", arguments):
            print_json(failure)
        elif _has_flag("--jsonl", arguments):
            print_json_lines([failure])
    except OSError:
        discard_output(sys.stdout)
    _flush_output()


def _describe(error: BaseException) -> tuple[int, Json]:
    """Return the exit code and the JSON form of a failure."""
    if isinstance(error, RagstoneError):
        return failure_codes(error).exit, failure_json(error)
    if isinstance(error, Interrupted):
        return INTERRUPTED, _details("interrupted", str(error))
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return INTERRUPTED, _details("interrupted", "stopped, nothing more was done")
    if isinstance(error, click.ClickException):
        return USAGE, _details("usage", _describe_usage_error(error))
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return DISK, _details("system", "the output is closed, so the answer is lost")
    if isinstance(error, OSError):
        file = f": {error.filename}" if error.filename else ""
        advice = "check the path, its permissions and the free space of the disk"
        return DISK, _details("system", f"{error.strerror or error}{file} ({advice})")
    first_line = str(error).partition("\n")[0][:200]
    advice = "run it again with --debug for the traceback, and please report it"
    return BUG, _details(
        "bug", f"this is a bug in Ragstone: {type(error).__name__}: {first_line} ({advice})"
    )


def _details(code: str, message: str) -> Json:
    return {"code": code, "message": message, "hint": "", "retryable": code == "interrupted"}


def _describe_usage_error(error: click.ClickException) -> str:
    """Return what is wrong with the command line, and the help command."""
    sentence = error.format_message().rstrip(".")
    if sentence.startswith("Got unexpected extra argument"):
        sentence += "; put an argument of several words in quotation marks"
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or sentence.endswith(")"):
        return sentence
    return f"{sentence} ({context.command_path} --help)"


def _flush_output() -> bool:
    """Flush stdout and return whether that worked; if not, later output is discarded."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output(sys.stdout)
        return False
    return True


def _has_flag(name: str, arguments: Sequence[str]) -> bool:
    """Return whether a flag was given before a `--` argument."""
    flags = list(arguments)
    if "--" in flags:
        flags = flags[: flags.index("--")]
    return name in flags
