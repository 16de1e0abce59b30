"""The answer to a request that starts a job or asks for one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from fastapi import Response
from fastapi.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from ragstone.surfaces.present.jobs import job_json
from ragstone.surfaces.rest.authorised_route import Call
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.start_job import start_job
from ragstone.types import IncomingFile, Job, JobRequest

_POLL_SECONDS: Final = 0.05


class FinishedJobReply(Response):
    """A job, sent as soon as it is over. It waits while it is sent: the request holds no turn by then."""

    def __init__(self, call: Call, job: Job, seconds: float, *, unfinished: int) -> None:
        """Wait at most some seconds; `unfinished` is the status if the job is not over by then."""
        super().__init__(status_code=200)
        self._server = call.server
        self._job = job
        self._seconds = seconds
        self._unfinished = unfinished

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the job, then send it."""
        job = self._job
        deadline = time.monotonic() + self._seconds
        while not job.is_over and time.monotonic() < deadline:
            if self._server.stopping.is_set():
                break
            await asyncio.sleep(_POLL_SECONDS)
            job = await run_in_threadpool(self._server.jobs.get, job.project, job.id)
        status = 200 if job.is_over else self._unfinished
        await reply({"job": job_json(job)}, status)(scope, receive, send)


def job_reply(
    call: Call, request: JobRequest, files: Sequence[IncomingFile] = (), *, wait: bool
) -> Response:
    """Start a job and return it; with `wait` after it is over, or shortly before the request's time limit."""
    job = start_job(call.server, call.engine, request, files)
    if not wait:
        return reply({"job": job_json(job)}, 202)
    seconds = call.server.engines.settings.server.seconds - 1
    return FinishedJobReply(call, job, seconds, unfinished=202)
