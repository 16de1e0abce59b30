"""`ragstone doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.indexing.components import store_notes
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import format_bytes, print_json, print_line, printable
from ragstone.surfaces.present.failures import OK, UNSOUND
from ragstone.surfaces.present.index_notes import describe_vectors
from ragstone.surfaces.present.reports import finding_json, finding_level
from ragstone.text.counts import plural
from ragstone.types import Finding

_MIN_FREE_BYTES: Final = 200_000_000
_EXTRAS: Final = {
    "chroma": "chromadb",
    "milvus": "pymilvus",
    "ocr": "rapidocr",
    "fastembed": "fastembed",
    "sentence-transformers": "sentence_transformers",
}
"""The packages of indexes, readers and models that can be added with `pip install 'ragstone[…]'`."""
_SERVED: Final = ("chroma", "milvus")
"""The indexes that another program keeps."""
_MARKS: Final = {
    "ok": ("ok    ", "green"),
    "warning": ("care  ", "yellow"),
    "wrong": ("WRONG ", "bold red"),
}


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone doctor",
        "ragstone doctor --json",
    ),
)
@common_options
def doctor(folder: Path | None, as_json: bool) -> int:
    """Check Python, the disk, optional packages, the model and the index."""
    with open_engine(folder) as engine:
        findings = [
            *_check_environment(engine),
            _check_extras(),
            _check_model(engine),
            *_check_index(engine),
            *_check_vector_index(engine),
            *_check_remote(engine),
        ]
    is_sound = all(finding.ok for finding in findings)
    if as_json:
        print_json(
            {"success": is_sound, "findings": [finding_json(finding) for finding in findings]}
        )
    else:
        for finding in findings:
            _print_finding(finding)
        verdict = (
            ("All is well.", "bold green") if is_sound else ("Something is wrong.", "bold red")
        )
        print_line(verdict)
    return OK if is_sound else UNSOUND


def _print_finding(finding: Finding) -> None:
    hint = f" ({printable(finding.hint)})" if finding.hint else ""
    print_line(
        _MARKS[finding_level(finding)],
        f"{printable(finding.name)}: {printable(finding.detail)}",
        (hint, "yellow"),
    )


def _check_environment(engine: Engine) -> Iterator[Finding]:
    """Yield findings about Python and the disk."""
    yield Finding(
        "Python",
        sys.version_info >= (3, 11),
        f"{platform.python_version()} on {platform.system()}",
    )
    place = engine.home if engine.home.exists() else engine.folder
    is_writable = os.access(place, os.W_OK)
    hint = (
        ""
        if is_writable
        else "make it writable, or set RAGSTONE_RAG_STORE_PATH to a writable folder"
    )
    yield Finding("writable", is_writable, str(place), hint)
    free = shutil.disk_usage(place).free
    # A warning, not a fault: how much space is enough depends on the documents to come.
    warning = "" if free >= _MIN_FREE_BYTES else "that is little: a full disk stops every sync"
    yield Finding("disk", True, f"{format_bytes(free)} free", warning)


def _check_extras() -> Finding:
    installed = [name for name, package in _EXTRAS.items() if find_spec(package) is not None]
    missing = [name for name in _EXTRAS if name not in installed]
    detail = f"{', '.join(installed) or 'none'} installed"
    if missing:
        detail += f"; pip install 'ragstone[NAME]' adds {', '.join(missing)}"
    return Finding("extras", True, detail)


def _check_vector_index(engine: Engine) -> Iterator[Finding]:
    """Yield findings about a vector index that was chosen; the built-in one was checked with the store."""
    components = engine.workspace.components
    provider = engine.settings.rag.vector_store.provider
    for note in store_notes(components):
        yield Finding("vector index", True, provider, note)
        return
    if provider not in _SERVED or not engine.exists:
        return
    label = f"vector index {provider}"
    try:
        for info in engine.status().spaces:
            index = components.space_index(engine.project, info)
            index.flush()
            detail = index.problem or f"it has the vectors of {info.space.model}"
            yield Finding(label, not index.problem, detail)
    except RagstoneError as error:
        yield Finding(label, False, error.message, error.hint)


def _check_remote(engine: Engine) -> Iterator[Finding]:
    """Yield a finding about the collection on another server, if there is one."""
    remote = engine.workspace.components.remote
    if remote.name is None:
        return
    label = f"remote collection {remote.name}"
    try:
        count = len(remote.collection().search("does it answer?", 1))
    except RagstoneError as error:
        yield Finding(label, False, error.message, error.hint)
        return
    yield Finding(label, True, f"it answers with {plural(count, 'passage')}")


def _check_model(engine: Engine) -> Finding:
    name = engine.settings.embed.provider
    try:
        embedder = engine.workspace.components.embedder()
        dimension = len(embedder.embed(["does it answer?"], "query")[0])
    except RagstoneError as error:
        return Finding(
            "model", False, f"{name}: {error.message}", error.hint or "reinstall Ragstone"
        )
    return Finding(
        "model",
        dimension == embedder.space.dimension,
        f"{embedder.space.model}, {dimension} dimensions",
    )


def _check_index(engine: Engine) -> Iterator[Finding]:
    """Yield findings about the index; a folder without an index is sound."""
    if not engine.exists:
        yield Finding("index", True, "none yet (`ragstone sync` makes one)")
        return
    try:
        yield from engine.admin.check()
        if engine.admin.lacks_vectors():  # a warning, not a fault: words find these texts
            missing = "not every text has a vector"
            yield Finding("meaning", True, missing, describe_vectors(engine))
    except RagstoneError as error:
        yield Finding("index", False, error.message, error.hint)
