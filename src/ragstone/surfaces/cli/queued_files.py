"""Puts files into the queue of a shared database, for `ragstone add --queue`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.sources.added_files import file_uri, require_file
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.json_lines import open_input
from ragstone.surfaces.cli.output import print_result
from ragstone.surfaces.cli.urls import is_url
from ragstone.surfaces.jobs.engine_queue import queue_of
from ragstone.surfaces.jobs.work import upload_request
from ragstone.surfaces.present.jobs import job_json
from ragstone.text.counts import plural
from ragstone.types import IncomingFile, Metadata

_STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class AddTarget:
    """How files are stored: a name, if the user gave one, metadata, and a collection."""

    name: str | None
    metadata: Metadata
    collection: str | None


def queue_files(
    folder: Path | None, files: Sequence[str], target: AddTarget, *, as_json: bool
) -> None:
    """Store files as one job that a worker does, and print the job."""
    if any(is_url(file) for file in files):
        raise InputError("web pages cannot be queued", hint="leave --queue out")
    with open_engine(folder) as engine, ExitStack() as stack:
        queue = queue_of(engine.workspace.components)
        name = target.collection or engine.settings.rag.vector_store.collection_name
        incoming = [_open(file, target.name, engine, stack) for file in files]
        job = queue.add(engine.project, upload_request(name, target.metadata), incoming)
    sentence = (
        f"{plural(len(files), 'file')} queued as job {job.id}; `ragstone status` shows it,"
        " `ragstone worker` does it."
    )
    print_result({"success": True, "job": job_json(job)}, sentence, as_json=as_json)


def _open(path: str, name: str | None, engine: Engine, stack: ExitStack) -> IncomingFile:
    """Return a file to read, which the stack closes."""
    if path == _STDIN:
        text = sys.stdin.buffer.read()
        return IncomingFile(name or "", len(text), io.BytesIO(text))
    require_file(path)
    stream = stack.enter_context(open_input(engine, path))
    size = os.fstat(stream.fileno()).st_size
    return IncomingFile(name or file_uri(path, engine.settings.base), size, stream)
