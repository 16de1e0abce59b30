"""Requests that schemathesis makes from the description of the interface: no 5xx, every status documented.

`make torture-api` runs ten thousand of them; `TORTURE_CASES` is the number for each operation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from tests.support.running_server import RunningServer, running_server

CASES = int(os.environ.get("TORTURE_CASES", "2"))
ENDLESS = "/api/rag/events/stream"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server with some documents and an admin key."""
    folder: Path = tmp_path_factory.mktemp("quarry")
    (folder / "README.md").write_text("# Quarry\n\nA stone is heavy.\n")
    with running_server(folder) as running:
        running.state.engines.own.sync()
        keys = running.state.engines.own.admin.keys
        running.key = keys.create(scopes=["admin"]).token
        yield running


def operations(server: RunningServer) -> list[Any]:
    schema = schemathesis.openapi.from_dict(server.rest_app.openapi())
    results: list[Any] = list(schema.get_all_operations())
    found = [result.ok() for result in results]
    assert len(found) > 35
    return [operation for operation in found if operation.path != ENDLESS]


def send_all(server: RunningServer, key: str, cases: int, mode: GenerationMode) -> list[str]:
    """Send generated requests to every operation and return the answers that must not be."""
    wrong: list[str] = []
    for operation in operations(server):
        try:
            wrong += send_to(server, operation, key, cases, mode)
        except Unsatisfiable:
            continue  # an operation without arguments has no wrong request
    return wrong


def send_to(
    server: RunningServer,
    operation: Any,  # noqa: ANN401 - no public type
    key: str,
    cases: int,
    mode: GenerationMode,
) -> list[str]:
    """Send generated requests to one operation and return the answers that must not be."""
    wrong: list[str] = []
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    documented = {int(status) for status in operation.definition.raw["responses"]}

    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:  # noqa: ANN401 - no public type
        response = case.call(base_url=server.url, headers=headers, timeout=30)
        shown = f"{case.method} {case.path} {case.body!r:.200}: {response.status_code}"
        if response.status_code >= 500 or response.status_code not in documented:
            wrong.append(f"{shown} {response.text[:200]}")
        elif not key and response.status_code == 200 and case.path != "/health":
            wrong.append(f"{shown} without a key")

    send()
    return wrong


@pytest.mark.torture
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_no_generated_request_breaks_the_server(
    keyed: RunningServer, mode: GenerationMode
) -> None:
    assert send_all(keyed, keyed.key, CASES, mode) == []
    assert keyed.get("/api/rag/collections").status_code == 200


@pytest.mark.torture
def test_no_generated_request_gets_through_without_a_key(keyed: RunningServer) -> None:
    assert send_all(keyed, "", max(1, CASES // 10), GenerationMode.POSITIVE) == []
