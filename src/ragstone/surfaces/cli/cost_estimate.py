"""`ragstone sync --plan`: what a sync would do, before it costs anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone.surfaces.cli.engine import open_engine, show_progress
from ragstone.surfaces.cli.output import print_json, print_line
from ragstone.surfaces.present import pick
from ragstone.surfaces.present.failures import OK
from ragstone.surfaces.present.reports import describe_money
from ragstone.text.counts import plural

_FIELDS = ("embedder", "model", "files", "chunks", "texts", "tokens", "seconds", "cost")


def show_plan(
    folder: Path | None,
    paths: Sequence[str | Path] | None,
    *,
    full: bool,
    collection: str | None,
    as_json: bool,
) -> int:
    """Print the plan and return the exit code. A folder without an index stays without one."""
    settings = {}
    with open_engine(folder) as engine:
        if not engine.exists:
            settings = {"rag.vector_store.provider": "memory"}
    with open_engine(folder, settings=settings) as engine, show_progress() as progress:
        plan = engine.admin.plan(paths, full=full, collection=collection, progress=progress)
    if as_json:
        print_json({"success": True, **pick(plan, *_FIELDS)})
        return OK
    files, chunks = plural(plan.files, "file"), plural(plan.chunks, "chunk")
    texts = plural(plan.texts, "text")
    print_line(f"{files} to index: {chunks}, {texts} to embed, {plural(plan.tokens, 'token')}")
    print_line(
        f"{plan.embedder} {plan.model}: about {plan.seconds:,.0f} s and {describe_money(plan)}"
    )
    return OK
