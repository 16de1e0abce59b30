"""The answer to a request that starts a job."""

from __future__ import annotations

from fastapi import Response

from ragstone.surfaces.rest.jobs import Work
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.route import Call


def job_reply(call: Call, kind: str, work: Work, *, wait: bool) -> Response:
    """Start a job and return it; with `wait` after it is over, or shortly before the request's time limit."""
    job = call.server.jobs.start(call.project, kind, work)
    if not wait:
        return reply({"job": job.as_json()}, 202)
    seconds = call.server.engines.settings.server.seconds - 1
    job = call.server.jobs.wait(call.project, job.id, seconds)
    return reply({"job": job.as_json()}, 200 if job.is_over else 202)
