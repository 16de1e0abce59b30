"""`ragstone doctor`: is the index sound, and is what it runs on."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from ragstone import registry
from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.protocols import Embedder
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine
from ragstone.surfaces.cli.shell import emit, safe, say, shared, size
from ragstone.types import Finding

_LEAST_FREE: Final = 200_000_000
_MARKS: Final = {"ok": ("ok    ", "green"), "warning": ("care  ", "yellow"), "wrong": ("WRONG ", "bold red")}


@click.command()
@shared
def doctor(folder: Path | None, as_json: bool) -> int:
    """Check the index and what it runs on."""
    with open_engine(folder) as engine:
        findings = [*_around(engine), *_inside(engine)]
    sound = all(one.ok for one in findings)
    if as_json:
        emit({"success": sound, "findings": [present.finding(one) for one in findings]})
    else:
        for one in findings:
            say(
                _MARKS[present.level(one)],
                f"{safe(one.name)}: {safe(one.detail)}",
                (f" ({safe(one.hint)})" if one.hint else "", "yellow"),
            )
        say(("All is well.", "bold green") if sound else ("Something is wrong.", "bold red"))
    return present.OK if sound else present.FOUND_WRONG


def _around(engine: Engine) -> Iterator[Finding]:
    """Yield what the index runs on: Python, the disk, the model."""
    yield Finding("Python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.system()}")
    place = engine.home if engine.home.exists() else engine.folder
    writable = os.access(place, os.W_OK)
    hint = "" if writable else "make it writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is"
    yield Finding("writable", writable, str(place), hint)
    free = shutil.disk_usage(place).free
    # How much is enough depends on what is to come: a warning, and nothing that is wrong now.
    room = "" if free >= _LEAST_FREE else "that is little: a full disk stops every sync"
    yield Finding("disk", True, f"{size(free)} free", room)
    yield _model(engine)


def _model(engine: Engine) -> Finding:
    name = engine.settings.rag.embedding_provider
    try:
        embedder: Embedder = registry.load("embedder", name)(engine.settings)
        dimension = len(embedder.embed(["does it answer?"], "query")[0])
    except RagstoneError as error:
        return Finding("model", False, f"{name}: {error.message}", error.hint or "reinstall Ragstone")
    return Finding("model", dimension == embedder.space.dimension, f"{embedder.space.model}, {dimension} dimensions")


def _inside(engine: Engine) -> Iterator[Finding]:
    """Yield what a look at the index found; a folder without one is well."""
    if not engine.exists:
        yield Finding("index", True, "none yet (`ragstone sync` makes one)")
        return
    try:
        yield from engine.check()
    except RagstoneError as error:
        yield Finding("index", False, error.message, error.hint)
