"""`ragstone watch`: keep the index level with the folder until somebody presses Ctrl-C."""

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
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import ask_first, open_engine, run_sync
from ragstone.surfaces.cli.shell import complain, note, number, safe, say, shared
from ragstone.types import SyncReport

_LOOK_SECONDS: Final = 0.2
_LINES: Final = 20


@click.command()
@click.option(
    "--interval", type=int, metavar="SECONDS", help="Look at the whole folder this often instead of being told."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever the folder is.")
@shared
def watch(folder: Path | None, as_json: bool, interval: int | None, yes: bool) -> int:
    """Keep the index level with the folder until Ctrl-C, and tell what is brought in.

    With --json one object a line: `ready` when it has begun, then one for each change that was brought in.
    """
    if interval is not None and interval < 1:
        raise InputError(f"--interval is {interval}", hint="give seconds, from 1 up")
    every = {"search.watch": "interval", "sources.auto_sync_interval_seconds": interval}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_engine(folder, following=True, config=every if interval else None) as engine:
        ask_first(engine, yes=yes)
        told = _Teller(as_json=as_json)
        told.sync(run_sync(engine))
        watcher = engine.watcher(on_sync=told.heard)
        watcher.start()
        try:
            told.ready(engine, watcher)
            _until_stopped(watcher, told)
        except KeyboardInterrupt:
            note("stopped; the index is as it was last told")
        finally:
            watcher.stop()
    return present.OK


def _until_stopped(watcher: Watcher, told: _Teller) -> None:
    while watcher.status().running:
        told.problem(watcher.status().problem)
        time.sleep(_LOOK_SECONDS)
        if told.broken is not None:
            raise told.broken


class _Teller:
    """Says what happens, a line each; from two threads."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()
        self._problem = ""
        self.broken: OSError | None = None
        """Why nothing more can be said: the reader has gone away."""

    def heard(self, report: SyncReport) -> None:
        """Tell what was brought in; called by the watcher, which must not end in the middle of its work."""
        try:
            self.sync(report)
        except OSError as error:
            self.broken = error

    def ready(self, engine: Engine, watcher: Watcher) -> None:
        """Tell that changes are brought in from now on."""
        while watcher.status().running and watcher.status().last_sync is None and not watcher.status().problem:
            time.sleep(0.01)
        state = watcher.status()
        if self._as_json:
            self._emit({"event": "ready", **present.watch_status(state), "folder": str(engine.folder)})
        else:
            how = "file events" if state.way == "events" else "a look now and then"
            note(f"watching {safe(str(engine.folder))} by {how}; Ctrl-C ends it")

    def sync(self, report: SyncReport) -> None:
        """Tell what was brought in."""
        if self._as_json:
            changes = {"changed": list(report.changed), "gone": list(report.gone)}
            head = {"event": "sync", "time": present.moment(time.time())}
            self._emit({**head, **present.sync_summary(report), **changes})
            return
        at = time.strftime("%H:%M:%S")
        lines = [("indexed", uri) for uri in report.changed] + [("removed", uri) for uri in report.gone]
        with self._lock:
            for what, uri in lines[:_LINES]:
                say((f"{at} {what} ", "dim"), safe(uri))
            if len(lines) > _LINES:
                say((f"{at} ", "dim"), f"and {number(len(lines) - _LINES, 'file')} more")
            for one in report.failed:
                complain(f"{one.uri}: {one.reason}", label=f"{at} failed")
            sys.stdout.flush()

    def problem(self, what: str) -> None:
        """Tell what is in the way, once."""
        with self._lock:
            if what and what != self._problem:
                note(f"({safe(what)})")
            self._problem = what

    def _emit(self, data: present.Json) -> None:
        with self._lock:
            sys.stdout.write(json.dumps(data) + "\n")
            sys.stdout.flush()
