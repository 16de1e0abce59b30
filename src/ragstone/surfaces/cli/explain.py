"""`ragstone explain`: how an answer came about, list by list, and what was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.errors import NotFound
from ragstone.surfaces import present
from ragstone.surfaces.cli.search import asked, options, shown
from ragstone.surfaces.cli.shell import emit, number, safe, say, shared
from ragstone.types import Explanation, Hit

_MOST_DROPPED = 10


@click.command()
@click.argument("query", nargs=-1, required=True)
@options
@click.option("--hit", "only", type=click.IntRange(min=1), help="Only the hit of this number.")
@shared
def explain(query: tuple[str, ...], folder: Path | None, as_json: bool, only: int | None, **given: Any) -> None:
    """Show how the answer to QUERY came about."""
    with asked(query, folder, given) as found:
        told = found.told
        if only is not None and only > len(told.hits):
            raise NotFound(f"there is no hit {only}", hint=f"this query has {number(len(told.hits), 'hit')}")
        if as_json:
            data = found.as_json(present.explanation(told))
            if only is not None:
                data["results"] = [data["results"][only - 1]]
            emit(data)
        else:
            _show(told, only)
        found.tell()


def _show(told: Explanation, only: int | None) -> None:
    say(("query      ", "dim"), shown(told.query))
    say(("read as    ", "dim"), told.query_type.replace("_", " "))
    say(("terms      ", "dim"), safe(" ".join(told.terms)) or "none")
    say(("weights    ", "dim"), ", ".join(f"{name} {weight:.2f}" for name, weight in told.weights.items()) or "none")
    say(
        ("coverage   ", "dim"),
        ", ".join(f"{name} {share:.0%}" for name, share in told.coverage.items()) or "no vectors",
    )
    say(("candidates ", "dim"), f"{told.candidates:,} in {told.milliseconds:.1f} ms")
    for position, hit in enumerate(told.hits, start=1):
        if only in (None, position):
            _show_hit(position, hit)
    if only is None and told.dropped:
        say()
        say((f"left out: {len(told.dropped):,}", "bold"))
        for one in told.dropped[:_MOST_DROPPED]:
            say(f"  {one.score:.3f}  {safe(one.doc_id)}", (f"  {safe(one.reason)}", "dim"))
        if len(told.dropped) > _MOST_DROPPED:
            say((f"  and {len(told.dropped) - _MOST_DROPPED:,} more", "dim"))


def _show_hit(position: int, hit: Hit) -> None:
    say()
    say((f"{position}. ", "bold"), (safe(hit.place), "bold cyan"), (f"  {hit.score:.3f}", "green"),
        (f"  {safe(hit.symbol)}", "magenta"))  # fmt: skip
    for one in hit.trace.lists:
        gives = one.normalised * one.weight
        say(f"   {one.name:<8} rank {one.rank:<4} score {one.score:<8.3f}",
            (f" {one.normalised:.3f} × {one.weight:.2f} = {gives:.3f}", "dim"))  # fmt: skip
    for name, factor in hit.trace.boosts:
        say(f"   {safe(name):<21} × {factor:.2f}")
    if hit.trace.merged:
        say(f"   joined with its neighbours: chunk {', '.join(str(order) for order in hit.trace.merged)}")
    say(f"   fused {hit.trace.fused:.3f}, confidence of the answer {hit.trace.confidence:.2f}")
    for place in hit.also_at[:5]:
        say((f"   same text at {safe(place)}", "dim"))
