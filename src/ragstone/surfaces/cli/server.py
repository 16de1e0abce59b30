"""Runs the server for the commands `serve` and `ui`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ragstone.surfaces.cli.output import print_note


def run_server(
    folder: Path,
    project: str,
    settings: Mapping[str, object],
    *,
    sync: bool = True,
    any_port: bool = False,
    on_ready: Callable[[str], object],
) -> None:
    """Serve a folder until Ctrl-C; `on_ready` gets the address."""
    from ragstone.surfaces.server.serve import serve  # loads FastAPI

    serve(
        folder,
        project=project,
        config=settings,
        background_sync=sync,
        any_port=any_port,
        on_ready=on_ready,
    )
    print_note("stopped")
