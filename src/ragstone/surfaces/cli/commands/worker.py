"""`ragstone worker`."""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Final

import click

from ragstone.engine import DEFAULT_PROJECT
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, project_name
from ragstone.surfaces.cli.output import print_line, print_note, printable
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.jobs.engine_queue import queue_of
from ragstone.surfaces.jobs.runner import LEASE_SECONDS, JobRunner
from ragstone.surfaces.jobs.work import place_of
from ragstone.surfaces.present.jobs import job_json
from ragstone.surfaces.rest.engines import Engines
from ragstone.types import Job

_POLL_SECONDS: Final = 0.2
_STOP_SECONDS: Final = 60.0


@click.command(
    cls=ExampleCommand,
    examples=(
        "RAGSTONE_STORE_URL=postgresql://… ragstone worker",
        "ragstone worker --threads 4",
        "ragstone worker --drain --json",
    ),
)
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    default=1,
    help="Jobs that run at once.",
)
@click.option(
    "--lease",
    type=click.FloatRange(1, 3600),
    default=LEASE_SECONDS,
    metavar="SECONDS",
    help="If this worker dies, another one takes its job over after this time.",
)
@click.option("--drain", is_flag=True, help="End as soon as no job can run.")
@common_options
def worker(folder: Path | None, as_json: bool, threads: int, lease: float, drain: bool) -> None:
    """Do the jobs of a shared database until Ctrl-C or SIGTERM: uploads of all projects, and syncs of this folder.

    Servers and `ragstone add --queue` put jobs there; any number of workers on any machine take them. A job is
    tried five times. A worker that is stopped gives its job back.

    With --json each line is one object: `ready`, then one for each job that ended.
    """
    engines = Engines(project_folder(folder), project=project_name() or DEFAULT_PROJECT)
    try:
        components = engines.workspace.components
        queue = queue_of(components)
        runner = JobRunner(
            lambda: queue, engines.engine, place_of(engines.own), threads=threads, lease=lease
        )
        printer = JobPrinter(as_json=as_json)
        runner.on_end = printer.print_end
        runner.on_problem = printer.print_problem
        printer.print_ready(components.store.location, threads)
        _run_until_stopped(runner, drain=drain)
    finally:
        engines.close()


def _run_until_stopped(runner: JobRunner, *, drain: bool) -> None:
    """Run jobs until a signal comes, or until there is none if `drain`."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    runner.start()
    while not stopping.wait(_POLL_SECONDS):
        if drain and runner.is_idle:
            break
    runner.stop(_STOP_SECONDS)
    print_note("stopped; jobs that were not finished are given back")


class JobPrinter:
    """Prints the jobs of a worker, as sentences or as lines of JSON."""

    def __init__(self, *, as_json: bool) -> None:
        """Take the form of the output."""
        self._as_json = as_json

    def print_ready(self, location: str, threads: int) -> None:
        """Print that the worker waits for jobs."""
        if self._as_json:
            self._print_object({"event": "ready", "location": location, "threads": threads})
        else:
            print_line(f"Waiting for jobs of {printable(location)} (stop with Ctrl-C).")
        sys.stdout.flush()

    def print_end(self, job: Job) -> None:
        """Print how a job ended."""
        if self._as_json:
            self._print_object({"event": "job", "project": job.project, **job_json(job)})
        else:
            print_line(_describe(job))
        sys.stdout.flush()

    def print_problem(self, problem: str) -> None:
        """Print why no job can be taken, or that it is possible again."""
        print_note(printable(problem or "the database answers again"))

    def _print_object(self, values: dict[str, object]) -> None:
        sys.stdout.write(json.dumps(values) + "\n")


def _describe(job: Job) -> str:
    """Return a sentence about a job that ended."""
    target = printable(f"{job.kind} of {job.project}, {job.id}")
    if job.state == "done":
        return f"{target}: done"
    reason = printable(str((job.error or {}).get("message", "")))
    if job.state == "waiting":
        return f"{target}: attempt {job.attempts} failed and is repeated later: {reason}"
    return f"{target}: failed: {reason}"
