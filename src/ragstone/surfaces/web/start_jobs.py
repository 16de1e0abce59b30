"""Jobs that pages start: syncs and uploads."""

from __future__ import annotations

from ragstone.errors import Conflict
from ragstone.surfaces.jobs.work import SYNC, sync_request
from ragstone.surfaces.rest.start_job import start_job
from ragstone.surfaces.web.page import PageCall
from ragstone.types import Job


def start_sync(page: PageCall, *, full: bool, collection: str | None = None) -> Job:
    """Start a sync of the folder as a job; `Conflict` if the project has none."""
    if not page.has_folder:
        raise Conflict(
            f"the project {page.project!r} has no folder on this server",
            hint="upload files to a collection instead",
        )
    request = sync_request(page.engine, full=full, collection=collection)
    return start_job(page.server, page.engine, request)


def running_sync(page: PageCall) -> Job | None:
    """Return the newest sync that is not over, or None."""
    jobs = page.server.jobs.list(page.project, 50)
    return next((job for job in jobs if job.kind == SYNC and not job.is_over), None)
