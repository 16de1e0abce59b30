"""`ragstone ask`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_engine, require_index
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_notes, printable
from ragstone.surfaces.cli.paths import path_globs
from ragstone.surfaces.cli.query import (
    SearchFlags,
    query_argument,
    read_query,
    search_options,
)
from ragstone.surfaces.present.context import spoken_json
from ragstone.types import Spoken


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone ask "how often is a failed upload tried again"',
        'ragstone ask "who may delete an invoice" docs/ -k 8',
        'RAGSTONE_ASK_URL=http://localhost:11434/v1 RAGSTONE_ASK_MODEL=llama3 ragstone ask "…"',
    ),
)
@query_argument("question")
@search_options
@common_options
def ask(
    question: tuple[str, ...], folder: Path | None, as_json: bool, flags: SearchFlags
) -> None:
    """Answer QUESTION in words, from the indexed documents alone, with checked quotations; a PATH limits them.

    The settings ask.url and ask.model name the language model: any OpenAI-shaped service, such as Ollama.
    """
    text, paths = read_query(question, folder)
    with open_engine(folder) as engine, ExitStack() as progress_display:
        options = flags.to_search_options(path_globs(paths, folder, engine.settings.base))
        if engine.settings.ask.url is not None:  # else the engine says that there is no model
            require_index(engine, no_sync=flags.no_sync)
        policy = progress_display.enter_context(flags.scan_policy(engine))

        def print_part(part: str) -> None:
            progress_display.close()
            _print_part(part)

        spoken = engine.ask(
            text,
            flags.top_k,
            tell=None if as_json else print_part,
            policy=policy,
            **options,
        )
    if as_json:
        print_json(spoken_json(spoken))
        return
    _print_quotes(spoken)
    print_notes(spoken.notes)


def _print_part(part: str) -> None:
    """Print a part of the model's answer as it arrives."""
    sys.stdout.write("\n".join(printable(line) for line in part.split("\n")))
    sys.stdout.flush()


def _print_quotes(spoken: Spoken) -> None:
    print_line("")
    if not spoken.found:
        print_line(spoken.text)
    for quote in spoken.quotes:
        mark = ("✓", "green") if quote.found else ("✗", "red")
        place = printable(quote.citation) or "no such source"
        print_line(mark, f" [{quote.number}] {place}: “{printable(quote.words)}”")
