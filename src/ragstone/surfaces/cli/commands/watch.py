"""`ragstone watch`."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

import click

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.indexing.watcher import Watcher
from ragstone.surfaces.cli.engine import confirm_first_sync, open_engine, run_sync
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, yes_option
from ragstone.surfaces.cli.output import print_error, print_line, print_note, printable
from ragstone.surfaces.present import Json, format_time
from ragstone.surfaces.present.reports import sync_summary_json, watch_status_json
from ragstone.text.counts import plural
from ragstone.types import SyncReport

_POLL_SECONDS: Final = 0.2
_MAX_LINES: Final = 20


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone watch",
        "ragstone watch --interval 30",
    ),
)
@click.option(
    "--interval",
    type=int,
    metavar="SECONDS",
    help="Scan the whole folder this often instead of using file events.",
)
@yes_option
@common_options
def watch(folder: Path | None, as_json: bool, interval: int | None, yes: bool) -> None:
    """Keep the index up to date until Ctrl-C, and print every change.

    With --json each line is one object: `ready` after the start, then one for each indexed change.
    """
    settings: dict[str, object] = {}
    if interval is not None:
        if interval < 1:
            raise InputError(f"--interval is {interval}", hint="give seconds, 1 or more")
        settings = {"search.watch": "interval", "sources.auto_sync_interval_seconds": interval}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_engine(folder, follow_changes=True, settings=settings) as engine:
        confirm_first_sync(engine, yes=yes)
        printer = ChangePrinter(as_json=as_json)
        printer.print_sync(run_sync(engine))
        watcher = engine.admin.watcher(on_sync=printer.on_sync)
        watcher.start()
        try:
            printer.print_ready(engine, watcher)
            _wait_until_stopped(watcher, printer)
        except KeyboardInterrupt:
            print_note("stopped; the index holds every change printed so far")
        finally:
            watcher.stop()


def _wait_until_stopped(watcher: Watcher, printer: ChangePrinter) -> None:
    """Print problems until the watcher stops; raise `OSError` if the reader of the output is gone."""
    while watcher.status().running:
        printer.print_problem(watcher.status().problem)
        time.sleep(_POLL_SECONDS)
        if printer.output_error is not None:
            raise printer.output_error


class ChangePrinter:
    """Prints changes from two threads: the watcher's and the command's."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()
        self._last_problem = ""
        self.output_error: OSError | None = None
        """Set if the reader of the output has closed it."""

    def on_sync(self, report: SyncReport) -> None:
        """Print a change; runs in the watcher's thread, which an output error must not end."""
        try:
            self.print_sync(report)
        except OSError as error:
            self.output_error = error

    def print_ready(self, engine: Engine, watcher: Watcher) -> None:
        """Print that changes are followed from now on."""
        status = watcher.status()
        while status.running and status.last_sync is None and not status.problem:
            time.sleep(0.01)
            status = watcher.status()
        if self._as_json:
            self._write_json(
                {"event": "ready", **watch_status_json(status), "folder": str(engine.folder)}
            )
            return
        method = "file events" if status.way == "events" else "regular scans"
        print_note(f"watching {printable(str(engine.folder))} by {method}; Ctrl-C ends it")

    def print_sync(self, report: SyncReport) -> None:
        """Print the files that a sync indexed, removed or could not read."""
        if self._as_json:
            data = {
                "event": "sync",
                "time": format_time(time.time()),
                **sync_summary_json(report),
            }
            self._write_json(
                {**data, "changed": list(report.changed), "gone": list(report.gone)}
            )
            return
        now = time.strftime("%H:%M:%S")
        lines = [f"indexed {printable(uri)}" for uri in report.changed]
        lines += [f"removed {printable(uri)}" for uri in report.gone]
        if len(lines) > _MAX_LINES:
            hidden = len(lines) - _MAX_LINES
            lines[_MAX_LINES:] = [f"and {plural(hidden, 'file')} more"]
        with self._lock:
            for line in lines:
                print_line((f"{now} ", "dim"), line)
            for failure in report.failed:
                print_error(f"{failure.uri}: {failure.reason}", label=f"{now} failed")
            sys.stdout.flush()

    def print_problem(self, problem: str) -> None:
        """Print a problem once."""
        with self._lock:
            if problem and problem != self._last_problem:
                print_note(f"({printable(problem)})")
            self._last_problem = problem

    def _write_json(self, data: Json) -> None:
        with self._lock:
            sys.stdout.write(json.dumps(data) + "\n")
            sys.stdout.flush()
