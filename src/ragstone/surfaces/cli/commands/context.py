"""`ragstone context`."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack, get_args

import click

from ragstone.config.validation import TOKEN_RANGE
from ragstone.surfaces.cli.engine import describe_missing_index, open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, number_type
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.paths import path_globs
from ragstone.surfaces.cli.query import (
    SearchFlags,
    query_argument,
    quote_query,
    read_query,
    search_options,
)
from ragstone.surfaces.cli.values import complete_session
from ragstone.surfaces.present.context import context_json
from ragstone.text.counts import plural
from ragstone.types import Context, ContextFormat


class ContextLimits(TypedDict):
    """The options of `context` that shorten the text."""

    window: int | None
    session: str | None


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone context "fix the retry delay"',
        'ragstone context "fix the retry delay" src/ --budget 4000',
        'ragstone context "fix the retry delay" --format markdown | pbcopy',
        "git diff | ragstone context - --verbose",
    ),
)
@query_argument("task")
@click.option(
    "-b",
    "--budget",
    type=number_type("--budget", TOKEN_RANGE),
    default=1500,
    show_default=True,
    help="Number of tokens at most.",
)
@click.option(
    "--format",
    "context_format",
    type=click.Choice(get_args(ContextFormat)),
    default="block",
    show_default=True,
    help="Layout of the text.",
)
@click.option(
    "--window",
    type=number_type("--window", TOKEN_RANGE),
    help="The model's window in tokens; the context uses at most 40 % of it.",
)
@click.option(
    "--session",
    shell_complete=complete_session,
    help="Do not repeat passages that this session already got; name them instead.",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="List the passages that were left out, with reasons."
)
@search_options
@common_options
def context(
    task: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    budget: int,
    context_format: ContextFormat,
    verbose: bool,
    flags: SearchFlags,
    **limits: Unpack[ContextLimits],
) -> None:
    """Print a cited context for TASK (`-` reads it from stdin), ready for a prompt; a PATH limits it."""
    text, paths = read_query(task, folder)
    with open_engine(folder) as engine:
        options = flags.to_search_options(path_globs(paths, folder, engine.settings.base))
        missing = describe_missing_index(engine, no_sync=flags.no_sync)
        if missing:
            result = Context("", context_format, budget, 0, notes=(missing,))
        else:
            with flags.scan_policy(engine) as policy:
                result = engine.context(
                    text,
                    budget,
                    policy=policy,
                    format=context_format,
                    top_k=flags.top_k,
                    **limits,
                    **options,
                )
    if as_json:
        print_json(context_json(result))
        return
    if result.text:
        click.echo(result.text)
    print_notes(result.notes)
    _print_summary(result, text, verbose=verbose)


def _print_summary(result: Context, query: str, *, verbose: bool) -> None:
    """Print notes about a context to stderr, so that a pipe gets the context alone."""
    if result.cited:
        passages = plural(len(result.cited), "passage")
        print_note(f"({passages}, {result.tokens:,} of {plural(result.budget, 'token')})")
    _print_left_out(result, verbose=verbose)
    if result.needs_clarification and result.question:
        print_note(f"(ask: {printable(result.question)})")
    elif not (result.cited or result.sent_before or result.left_out or result.notes):
        print_line(f"Nothing was found for {quote_query(query)}.")


def _print_left_out(result: Context, *, verbose: bool) -> None:
    """List the passages that were left out, or count them; a question back needs no count."""
    if verbose:
        for passage in result.left_out:
            print_note(f"(left out: {printable(passage.citation)}: {passage.reason})")
    elif result.left_out and result.cited and not result.needs_clarification:
        print_note(f"({len(result.left_out):,} left out: --verbose lists them)")
