"""`ragstone explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone.errors import NotFound
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, printable
from ragstone.surfaces.cli.query import (
    SearchFlags,
    answer_query,
    query_argument,
    quote_query,
    search_options,
)
from ragstone.surfaces.present.hits import explanation_json
from ragstone.text.counts import plural
from ragstone.types import Explanation, Hit

_LEGEND: Final = (
    (
        "rank, score",
        "the place in one list, and what that list gives: words count by BM25, a model by cosine",
    ),
    ("a × b = c", "that score on a common scale, times the weight of its list"),
    (
        "a",
        "words: at most 1, for the best match; a model: 0 for an unrelated text, and no upper limit",
    ),
    ("× 1.20", "a factor for the kind or the place of the passage"),
    ("fused", "the sum after all factors: it decides the order only"),
    (
        "confidence",
        "how well the best hit fits, 0 to 1: its score; the others have less in proportion",
    ),
)
"""The figures of a hit in words."""
_MAX_DROPPED: Final = 10
_MAX_DUPLICATES: Final = 5


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone explain "how is a retry delayed"',
        'ragstone explain "retry" src/ --hit 1',
        'ragstone explain "retry" --mode words --json',
    ),
)
@query_argument("query")
@search_options
@click.option(
    "--hit",
    "hit_number",
    type=click.IntRange(min=1),
    help="Explain only the hit with this number.",
)
@common_options
def explain(
    query: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    hit_number: int | None,
    flags: SearchFlags,
) -> None:
    """Show how the answer to QUERY was ranked: terms, weights, each hit's score, dropped candidates."""
    with answer_query(query, folder, flags) as answer:
        explanation = answer.explanation
        if hit_number is not None and hit_number > len(explanation.hits):
            hint = f"this query has {plural(len(explanation.hits), 'hit')}"
            raise NotFound(f"there is no hit {hit_number}", hint=hint)
        if as_json:
            data = answer.add_notes(explanation_json(explanation))
            if hit_number is not None:
                data["results"] = [data["results"][hit_number - 1]]
            print_json(data)
        else:
            _print_explanation(explanation, hit_number)
        answer.print_notes()


def _print_explanation(explanation: Explanation, hit_number: int | None) -> None:
    weights = [f"{name} {weight:.2f}" for name, weight in explanation.weights.items()]
    coverage = [f"{name} {share:.0%}" for name, share in explanation.coverage.items()]
    _print_fact("query", quote_query(explanation.query))
    _print_fact("read as", explanation.query_type.replace("_", " "))
    _print_fact("terms", printable(" ".join(explanation.terms)) or "none")
    _print_fact("weights", ", ".join(weights) or "none")
    _print_fact("coverage", ", ".join(coverage) or "no vectors")
    _print_fact(
        "candidates", f"{explanation.candidates:,} in {explanation.milliseconds:.1f} ms"
    )
    for position, hit in enumerate(explanation.hits, start=1):
        if hit_number in (None, position):
            _print_hit(position, hit)
    if hit_number is None:
        _print_dropped(explanation)
    if explanation.hits:
        _print_legend()


def _print_legend() -> None:
    print_line()
    print_line(("how to read it", "bold"))
    for name, meaning in _LEGEND:
        print_line(f"  {name:<13}", (meaning, "dim"))


def _print_fact(name: str, value: str) -> None:
    print_line((f"{name:<11}", "dim"), value)


def _print_hit(position: int, hit: Hit) -> None:
    trace = hit.trace
    print_line()
    print_line(
        (f"{position}. ", "bold"),
        (printable(hit.citation), "bold cyan"),
        (f"  {hit.score:.3f}", "green"),
        (f"  {printable(hit.symbol)}", "magenta"),
    )
    for entry in trace.lists:
        contribution = entry.normalised * entry.weight
        product = f" {entry.normalised:.3f} × {entry.weight:.2f} = {contribution:.3f}"
        print_line(
            f"   {entry.name:<8} rank {entry.rank:<4} score {entry.score:<8.3f}",
            (product, "dim"),
        )
    for name, factor in trace.boosts:
        print_line(f"   {printable(name):<21} × {factor:.2f}")
    if trace.merged:
        numbers = ", ".join(map(str, trace.merged))
        print_line(f"   joined with its neighbours: chunk {numbers}")
    print_line(f"   fused {trace.fused:.3f}, confidence of the answer {trace.confidence:.2f}")
    for place in hit.duplicates[:_MAX_DUPLICATES]:
        print_line((f"   same text at {printable(place)}", "dim"))


def _print_dropped(explanation: Explanation) -> None:
    dropped = explanation.dropped
    if not dropped:
        return
    print_line()
    print_line((f"left out: {len(dropped):,}", "bold"))
    for candidate in dropped[:_MAX_DROPPED]:
        print_line(
            f"  {candidate.score:.3f}  {printable(candidate.citation or candidate.doc_id)}",
            (f"  {printable(candidate.reason)}", "dim"),
        )
    hidden = len(dropped) - _MAX_DROPPED
    if hidden > 0:
        print_line((f"  and {hidden:,} more", "dim"))
