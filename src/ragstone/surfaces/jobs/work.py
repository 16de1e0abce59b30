"""The work of each kind of job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import InputError, Overloaded, RagstoneError
from ragstone.protocols import JobFile, Progress
from ragstone.store.home_folder import machine_path
from ragstone.surfaces.jobs.uploads import add_files
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import failure_json, system_failure
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.types import JobRequest

SYNC: Final = "sync"
UPLOAD: Final = "upload"


def place_of(engine: Engine) -> str:
    """Return the place of a project's folder: a sync of it can only run here, and for this project."""
    return f"{engine.project}@{machine_path(str(engine.folder))}"


def sync_request(
    engine: Engine,
    *,
    paths: Sequence[str] | None = None,
    full: bool = False,
    collection: str | None = None,
    embed: bool | float = True,
) -> JobRequest:
    """Return the request for a sync of an engine's folder."""
    options = {"paths": paths, "full": full, "embed": embed}
    return JobRequest(SYNC, collection or "", options, place_of(engine))


def upload_request(collection: str, metadata: Mapping[str, object] | None = None) -> JobRequest:
    """Return the request to store files in a collection."""
    return JobRequest(UPLOAD, collection, {"metadata": dict(metadata or {})})


def run_work(
    engine: Engine, request: JobRequest, files: Sequence[JobFile], progress: Progress
) -> Json:
    """Do the work of a job and return its result. A second run changes nothing that the first has stored."""
    options = dict(request.options)
    if request.kind == UPLOAD:
        metadata = options.get("metadata") or {}
        return add_files(engine, files, request.collection, progress, metadata=metadata)  # type: ignore[arg-type]
    if request.kind == SYNC:
        report = engine.sync(
            collection=request.collection or None,
            progress=progress,
            **options,  # type: ignore[arg-type]  # the arguments of `sync_request`
        )
        return sync_report_json(report)
    raise InputError(f"there is no work {request.kind!r}", hint="update Ragstone here")


def describe_failure(error: Exception) -> Json:
    """Return why a job failed, as JSON."""
    if isinstance(error, RagstoneError):
        return failure_json(error)
    bug = RagstoneError("a bug in Ragstone", hint="see the log of the server or worker")
    return failure_json(system_failure(error) or bug)


def describe_stop() -> Json:
    """Return the failure of a job whose server was stopped."""
    return failure_json(Overloaded("the server was stopped", hint="start it again"))
