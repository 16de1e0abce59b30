"""Syncs of the server's folder, and the jobs that do long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from ragstone.errors import Conflict, InputError
from ragstone.indexing.sync import Proof
from ragstone.sources.added_files import ADDED
from ragstone.sources.folder.source import FILES
from ragstone.surfaces.jobs.work import sync_request
from ragstone.surfaces.present.jobs import job_json
from ragstone.surfaces.present.reports import status_json, sync_report_json, watch_status_json
from ragstone.surfaces.rest.authorised_route import (
    AuthorisedCall,
    Call,
    make_validity_check,
    needs,
)
from ragstone.surfaces.rest.bodies import FileEventsBody, SyncBody
from ragstone.surfaces.rest.jobs_reply import FinishedJobReply, job_reply
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.rest.streams import EventQueue, EventStreamReply
from ragstone.types import Job

router = create_router("jobs")
Wait = Annotated[bool, Query(description="Answer when the work is done.")]


@router.post("/api/projects/{project}/index-rag", status_code=202)
@needs("write")
def index_project(call: AuthorisedCall, project: str, wait: Wait = False) -> Response:
    """Read every file of the project's folder again, as a job."""
    return _sync(call, SyncBody(full=True), wait=wait)


@router.post("/api/rag/sync", status_code=202)
@needs("write")
def sync_folder(call: AuthorisedCall, body: SyncBody, wait: Wait = False) -> Response:
    """Make the index match the folder, or some paths in it, as a job."""
    return _sync(call, body, wait=wait)


@router.post("/api/projects/{project}/files")
@needs("write")
def take_file_events(call: AuthorisedCall, project: str, body: FileEventsBody) -> Response:
    """Index files that were created, updated or deleted; the disk decides what is true."""
    _require_folder(call)
    engine = call.engine
    name = engine.settings.rag.vector_store.collection_name
    paths = [_check_path(event.path) for event in body.events]
    outcome = engine.admin.ensure_current(Proof([(name, path) for path in paths]))
    report = None if outcome.report is None else sync_report_json(outcome.report)
    return reply({"report": report, "notes": list(outcome.notes)})


@router.get("/api/rag/status")
@router.get("/api/projects/{project}/status")
@needs("read")
def status(call: AuthorisedCall, count_waiting: bool = False) -> Response:
    """Return the state of the index: documents, files, last sync, and how many files wait."""
    state = call.engine.status()
    data = status_json(state)
    if not call.has_folder or not call.identity.is_local:
        # The size of the file and its path say something about other projects.
        del data["home"], data["bytes_on_disk"], data["background"]
    if call.has_folder:
        data["watch"] = watch_status_json(call.server.sync.status())
        data["note"] = call.server.sync.note
        if count_waiting:
            data["waiting"] = call.engine.admin.count_waiting()
    files_indexed = state.sources.get(FILES, 0) + state.sources.get(ADDED, 0)
    return reply({**data, "files_indexed": files_indexed})


@router.get("/api/rag/jobs")
@needs("read")
def list_jobs(
    call: AuthorisedCall, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Response:
    """List the jobs of the project, newest first."""
    jobs = call.server.jobs.list(call.project, limit)
    return reply({"jobs": [job_json(job) for job in jobs]})


@router.get("/api/rag/jobs/{job_id}")
@needs("read")
def show_job(
    call: AuthorisedCall,
    job_id: str,
    wait_seconds: Annotated[float, Query(ge=0, le=20)] = 0,
) -> Response:
    """Return a job; with `wait_seconds` as soon as it is over."""
    job = call.server.jobs.get(call.project, job_id)
    return FinishedJobReply(call, job, wait_seconds, unfinished=200)


@router.get("/api/rag/jobs/{job_id}/events")
@needs("read", stream=True)
async def follow_job(call: AuthorisedCall, request: Request, job_id: str) -> Response:
    """Stream the progress of a job: events `progress`, then `done`."""
    jobs = call.server.jobs
    job = await run_in_threadpool(jobs.get, call.project, job_id)

    @contextmanager
    def feed(queue: EventQueue) -> Iterator[None]:
        def send(job: Job) -> None:
            queue.put("done" if job.is_over else "progress", job_json(job))

        with jobs.listening(job, send):
            yield

    return EventStreamReply(
        feed,
        may_go_on=make_validity_check(request, "read"),
        limit=call.server.streams,
        last="done",
    )


def _sync(call: Call, body: SyncBody, *, wait: bool) -> Response:
    _require_folder(call)
    paths = None if body.paths is None else [_check_path(path) for path in body.paths]
    request = sync_request(
        call.engine,
        paths=paths,
        full=body.full,
        collection=body.collection,
        embed=body.embed,
    )
    return job_reply(call, request, wait=wait)


def _require_folder(call: Call) -> None:
    if not call.has_folder:
        raise Conflict(
            f"the project {call.project!r} has no folder on this server",
            hint="add documents, or upload files",
        )


def _check_path(path: str) -> str:
    """Return a path inside the folder; `InputError` for any other."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\0" in path or "\\" in path:
        raise InputError(f"{path!r} is not inside the folder", hint="for example docs/a.md")
    return str(pure)
