"""`ragstone serve` starts, answers and stops."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragstone.surfaces.present.hits import hit_json
from tests.support.running_server import RunningServer


def test_the_command_serves_until_it_is_stopped(
    project: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "ragstone", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert httpx2.get(f"{url}/health").json()["status"] == "ok"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_another_address_than_loopback_needs_a_key(quick: Callable[..., Any]) -> None:
    refused = quick("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 10
    assert "there is no key" in refused.err


def test_a_port_in_use_is_one_sentence(
    server: RunningServer, quick: Callable[..., Any]
) -> None:
    refused = quick("serve", "--port", server.url.rpartition(":")[2])
    assert refused.code == 2
    assert "cannot be used" in refused.err


def test_a_search_gives_the_hits_of_the_engine(indexed: RunningServer) -> None:
    answer = indexed.post("/api/rag/search", {"query": "waiting longer after a failure"}).json()
    hits = indexed.state.engines.own.search("waiting longer after a failure")
    assert answer["success"] is True
    assert answer["results"] == [hit_json(hit) for hit in hits]


@pytest.mark.parametrize(
    ("path", "code"),
    [("/nowhere", "not_found"), ("/api/rag/collections/none", "not_found")],
)
def test_every_failure_has_one_shape(server: RunningServer, path: str, code: str) -> None:
    answer = server.get(path)
    assert answer.status_code == 404
    assert answer.json()["success"] is False
    assert answer.json()["error"]["code"] == code
    assert set(answer.json()["error"]) == {"code", "message", "hint", "retryable"}


def test_a_misspelt_option_is_refused(indexed: RunningServer) -> None:
    answer = indexed.post("/api/rag/search", {"query": "upload", "topk": 3})
    assert answer.status_code == 400
    assert "topk" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "content_type", "sentence"),
    [
        (b"{bad", "application/json", "not valid JSON at character 1"),
        (b"[]", "application/json", "the body is not a JSON object"),
        (b"", "application/json", "the body is not a JSON object"),
        (b"query=x", "application/x-www-form-urlencoded", "the body is not a JSON object"),
        (b'{"query": "x", "top_k": "many"}', "application/json", "top_k"),
    ],
)
def test_a_body_that_is_not_the_expected_json_is_named(
    server: RunningServer, body: bytes, content_type: str, sentence: str
) -> None:
    headers = {"content-type": content_type}
    answer = server.request("POST", "/api/rag/search", content=body, headers=headers)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]["message"]


def test_a_wrong_method_names_the_right_one(server: RunningServer) -> None:
    answer = server.get("/api/rag/search")
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method"
    assert answer.json()["error"]["message"] == "the address does not take GET"
    assert answer.json()["error"]["hint"] == "use POST"


def test_the_metrics_count_requests_by_route(indexed: RunningServer) -> None:
    indexed.post("/api/rag/search", {"query": "upload"})
    text = indexed.get("/metrics").text
    line = 'ragstone_requests_total{project="default",method="POST",route="/api/rag/search",status="200"} 1'
    assert line in text.splitlines()
