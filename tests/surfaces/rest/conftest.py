"""Fixtures: a running server over a small project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running_server import RunningServer, running_server


@pytest.fixture
def server(project: Path) -> Iterator[RunningServer]:
    """Return a server of the project for the user of this machine; nothing is indexed yet."""
    with running_server(project) as running:
        yield running


@pytest.fixture
def indexed(server: RunningServer) -> RunningServer:
    """Return a server whose folder is indexed."""
    server.state.engines.own.sync()
    return server
