"""`ragstone ask`: an answer in words from a language model the user named, each quotation checked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.search import options, query_text, shape
from ragstone.surfaces.cli.shell import emit, remark, safe, say, shared
from ragstone.types import Spoken


@click.command()
@click.argument("question", nargs=-1, required=True)
@options
@shared
def ask(question: tuple[str, ...], folder: Path | None, as_json: bool, **given: Any) -> None:
    """Answer QUESTION in words, from the indexed documents alone, with checked quotations.

    The language model is the one that ask.url and ask.model name: any OpenAI-shaped service, such as Ollama.
    """
    text = query_text(question)
    chosen = shape(given)
    with open_engine(folder) as engine:
        _, amiss = (None, []) if given["no_sync"] else bring_up_to_date(engine, yes=given["yes"])
        spoken = engine.ask(
            text,
            given["top_k"],
            tell=None if as_json else _show,
            **chosen,
        )
    if as_json:
        emit({**present.spoken(spoken), "notes": [*amiss, *spoken.notes]})
        return
    _sources(spoken)
    remark((*amiss, *spoken.notes))


def _show(part: str) -> None:
    """Print what the model says as it comes; nothing in it that a terminal would obey."""
    sys.stdout.write("\n".join(safe(line) for line in part.split("\n")))
    sys.stdout.flush()


def _sources(spoken: Spoken) -> None:
    say("")
    if not spoken.found:
        say(spoken.text)
    for quote in spoken.quotes:
        mark = ("✓", "green") if quote.found else ("✗", "red")
        say(mark, f" [{quote.number}] {safe(quote.place) or 'no such source'}: “{safe(quote.words)}”")
