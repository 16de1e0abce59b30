"""Starts a job: in the queue of the database if machines share it, otherwise in this process."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.protocols import Progress
from ragstone.surfaces.jobs.work import run_work
from ragstone.surfaces.present import Json
from ragstone.surfaces.rest.shared_jobs import SharedJobs
from ragstone.surfaces.rest.state import ServerState
from ragstone.types import IncomingFile, Job, JobRequest


def start_job(
    server: ServerState,
    engine: Engine,
    request: JobRequest,
    files: Sequence[IncomingFile] = (),
) -> Job:
    """Return a new job that runs soon; `Overloaded` if too many jobs or bytes wait."""
    if isinstance(server.jobs, SharedJobs):
        return server.jobs.submit(engine.project, request, files)
    spool = server.uploads
    stored = spool.add(files)

    def work(progress: Progress) -> Json:
        try:
            return run_work(engine, request, stored, progress)
        finally:
            spool.remove(stored)

    try:
        return server.jobs.start(engine.project, request.kind, work)
    except RagstoneError:
        spool.remove(stored)  # no job was started
        raise
