"""Jobs that pages start: syncs and uploads."""

from __future__ import annotations

from typing import Final

from ragstone.errors import Conflict
from ragstone.protocols import Progress
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.surfaces.rest.jobs import Job
from ragstone.surfaces.web.page import PageCall

SYNC: Final = "sync"


def start_sync(page: PageCall, *, full: bool, collection: str | None = None) -> Job:
    """Start a sync of the folder as a job; `Conflict` if the project has none."""
    if not page.has_folder:
        raise Conflict(
            f"the project {page.project!r} has no folder on this server",
            hint="upload files to a collection instead",
        )
    engine = page.engine

    def work(progress: Progress) -> Json:
        report = engine.sync(full=full, collection=collection, progress=progress)
        return sync_report_json(report)

    return page.server.jobs.start(page.project, SYNC, work)


def running_sync(page: PageCall) -> Job | None:
    """Return the newest sync that is not over, or None."""
    jobs = page.server.jobs.list(page.project, 50)
    return next((job for job in jobs if job.kind == SYNC and not job.is_over), None)
