"""Requests that schemathesis makes from the description of the interface: no 5xx, every status documented.

More than a thousand are sent in each run of the tests, and ten thousand by `make torture-api`; `TORTURE_CASES` is
the number for each operation. An operation without arguments has only one request.
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

CASES = int(os.environ.get("TORTURE_CASES", "13"))
SENT_AT_LEAST = 1000
"""Requests of one run, with and without a key, with the default number of cases."""
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


class Requests:
    """Sends generated requests, counts them, and collects the answers that must not be."""

    def __init__(self, server: RunningServer, key: str) -> None:
        self.server = server
        self.key = key
        self.sent = 0
        self.wrong: list[str] = []

    def send_all(self, cases: int, mode: GenerationMode) -> None:
        """Send requests to every operation."""
        for operation in operations(self.server):
            try:
                self.send_to(operation, cases, mode)
            except Unsatisfiable:
                continue  # an operation without arguments has no wrong request

    def send_to(self, operation: Any, cases: int, mode: GenerationMode) -> None:  # noqa: ANN401 - no public type
        """Send requests to one operation."""
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
            self.check(case, documented)

        send()

    def check(self, case: Any, documented: set[int]) -> None:  # noqa: ANN401 - no public type
        """Send a request; 5xx, an undocumented status, and an answer without a key are wrong."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        response = case.call(base_url=self.server.url, headers=headers, timeout=30)
        self.sent += 1
        status = response.status_code
        shown = f"{case.method} {case.path} {case.body!r:.200}: {status}"
        if status >= 500 or status not in documented:
            self.wrong.append(f"{shown} {response.text[:200]}")
        elif not self.key and status == 200 and case.path != "/health":
            self.wrong.append(f"{shown} without a key")


@pytest.mark.torture
def test_no_generated_request_breaks_the_server_or_gets_through_without_a_key(
    keyed: RunningServer,
) -> None:
    with_key = Requests(keyed, keyed.key)
    without_key = Requests(keyed, "")
    for mode in GenerationMode:
        with_key.send_all(CASES, mode)
    without_key.send_all(max(1, CASES // 10), GenerationMode.POSITIVE)
    print(f"{with_key.sent} requests with a key, {without_key.sent} without")
    assert with_key.wrong + without_key.wrong == []
    assert with_key.sent + without_key.sent >= SENT_AT_LEAST
    assert keyed.get("/api/rag/collections").status_code == 200
