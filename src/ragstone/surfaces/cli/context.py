"""`ragstone context`: what a prompt should know about a task, cited, inside a token budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.search import options, query_text, shape
from ragstone.surfaces.cli.shell import emit, note, number, remark, safe, say, shared
from ragstone.types import Context


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option("-b", "--budget", type=int, default=1500, show_default=True, help="Tokens at most.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["block", "markdown", "tool", "documents", "json"]),
    default="block",
    show_default=True,
    help="How it is written.",
)
@click.option("--window", type=int, help="The model's window in tokens: at most two fifths of it are used.")
@click.option("--session", help="Name what this session was given before instead of repeating it.")
@options
@shared
def context(task: tuple[str, ...], folder: Path | None, as_json: bool, form: str, **given: Any) -> None:
    """Print what a prompt should know about TASK (`-` reads it from stdin), ready to be pasted."""
    text = query_text(task)
    chosen = shape(given)
    with open_engine(folder) as engine:
        _, amiss = (None, []) if given["no_sync"] else bring_up_to_date(engine, yes=given["yes"])
        made = engine.context(
            text,
            given["budget"],
            format=form,  # type: ignore[arg-type]  # click lets no other through
            window=given["window"],
            session=given["session"],
            top_k=given["top_k"],
            **chosen,
        )
    if as_json:
        emit({**present.context(made), "notes": [*amiss, *made.notes]})
        return
    if made.text:
        click.echo(made.text)
    remark((*amiss, *made.notes))
    _tell(made)


def _tell(made: Context) -> None:
    """Print what a person should know about a context, where it does not get into a pipe."""
    if made.cited:
        note(f"({number(len(made.cited), 'piece')}, {made.tokens:,} of {made.budget:,} tokens)")
    for one in made.left_out:
        note(f"(left out: {safe(one.place)}: {one.reason})")
    if made.needs_clarification and made.question:
        note(f"(ask: {safe(made.question)})")
    elif not made.cited and not made.sent_before and not made.left_out:
        say("Nothing was found.")
