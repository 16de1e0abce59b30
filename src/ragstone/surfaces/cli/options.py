"""Options that every command has, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Final, TypeVar

import click

from ragstone.config.validation import NumberRange, check_number
from ragstone.errors import InputError
from ragstone.surfaces.cli.values import complete_collection, complete_session

CommandT = TypeVar("CommandT", bound=Callable[..., object])
MetadataValue = str | int | float | bool

_META_PREFIX: Final = "ragstone."
_PROJECT: Final = "project"


def number_type(flag: str, allowed: NumberRange) -> Callable[[object], object]:
    """Return the type of a number option; a wrong or unreadable number is refused with the range and an example."""

    def convert(text: object) -> object:
        number = text
        with suppress(ValueError):
            number = allowed.values.kind(text)
        check_number(flag, number, allowed)
        return number

    convert.__name__ = {int: "integer", float: "float"}[
        allowed.values.kind
    ]  # as --help names it
    return convert


def common_options(command: CommandT) -> CommandT:
    """Add the options that every command has."""
    options = (
        click.option(
            "--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug."
        ),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            callback=_inherit,
            help="Print one JSON object and nothing else.",
        ),
        click.option(
            "--project",
            metavar="NAME",
            expose_value=False,
            callback=_inherit,
            help="The project, if several share an index; default: `default`.",
        ),
        click.option(
            "-C",
            "--folder",
            type=click.Path(path_type=Path),
            callback=_inherit,
            help="The folder; default: the project around the current folder.",
        ),
    )
    for option in options:
        command = option(command)
    return command


def add_options(
    command: CommandT, options: Sequence[Callable[[CommandT], CommandT]]
) -> CommandT:
    """Add options to a command; `--help` shows them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def collect_flags(
    command: Callable[..., None], flags_type: Callable[..., object]
) -> Callable[..., None]:
    """Return the command without the options of a class; it gets an object of the class as `flags`."""
    names = tuple(signature(flags_type).parameters)

    @wraps(command)
    def run(**values: object) -> None:
        flags = flags_type(**{name: values.pop(name) for name in names})
        command(flags=flags, **values)

    return run


yes_option = click.option(
    "-y", "--yes", is_flag=True, help="Index the folder without asking first."
)
no_sync_option = click.option(
    "--no-sync", is_flag=True, help="Answer from the index; do not look for changed files."
)
DEFAULT_SESSION: Final = "default"
session_option = click.option(
    "--session",
    default=DEFAULT_SESSION,
    show_default=True,
    shell_complete=complete_session,
    help="The conversation.",
)
json_lines_option = click.option(
    "--jsonl",
    "as_json_lines",
    is_flag=True,
    help="Print one JSON object per result and line; notes go to stderr.",
)


def collection_option(
    help_text: str = "Search only this collection; default: all.",
) -> Callable[[CommandT], CommandT]:
    """Return the option that names a collection."""
    return click.option("--collection", shell_complete=complete_collection, help=help_text)


def check_output_format(*, as_json: bool, as_json_lines: bool) -> None:
    """Raise `InputError` if two forms of output are wanted."""
    if as_json and as_json_lines:
        raise InputError("--json and --jsonl exclude each other", hint="give one of them")


def project_name() -> str | None:
    """Return the value of --project in the running command, or None."""
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    name: str | None = context.meta.get(_META_PREFIX + _PROJECT)
    return name


def parse_pairs(texts: Sequence[str], flag: str) -> dict[str, MetadataValue]:
    """Return KEY=VALUE texts as a dict; numbers, `true` and `false` become values of their type."""
    pairs: dict[str, MetadataValue] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise InputError(
                f"{flag} {text!r} is not KEY=VALUE", hint=f"for example {flag} team=search"
            )
        pairs[key] = _parse_value(value)
    return pairs


def parse_time(text: str | None, flag: str) -> float | None:
    """Return ISO 8601 text as seconds since 1970, or None."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        hint = "for example 2026-05-08 or 2026-05-08T14:00"
        raise InputError(f"{flag} {text!r} is not a valid time", hint=hint) from error


def _parse_value(text: str) -> MetadataValue:
    if text in ("true", "false"):
        return text == "true"
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text


def _inherit(context: click.Context, option: click.Parameter, value: object) -> object:
    """Return the option's value; if it is not set, the value before the command name (`ragstone --json search`)."""
    if option.name == _PROJECT and isinstance(value, str) and not value.strip():
        raise InputError("--project is empty", hint="for example --project website")
    key = f"{_META_PREFIX}{option.name}"
    if value:
        context.meta[key] = value
    return context.meta.get(key, value)
