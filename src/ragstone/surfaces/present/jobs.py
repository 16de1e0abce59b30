"""Jobs as JSON."""

from __future__ import annotations

from ragstone.surfaces.present import Json, format_time
from ragstone.types import Job


def job_json(job: Job) -> Json:
    """Return a job."""
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.state,
        "progress": {"stage": job.stage, "done": job.done, "total": job.total},
        "result": job.result,
        "error": job.error,
        "attempts": job.attempts,
        "worker": job.worker,
        "created_at": format_time(job.created),
        "finished_at": format_time(job.finished),
    }
