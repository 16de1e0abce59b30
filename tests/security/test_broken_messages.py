"""A message that a client sent broken, or with half of a surrogate pair, gets an answer, and the server goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gondola.md").write_text(
        "# Gondola\n\nThe gondola crosses the lagoon at nine.\n"
    )
    return tmp_path


def ask(folder: Path, *lines: bytes) -> list[dict[str, Any]]:
    """Return the answers of a server to raw lines, after the handshake."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    program = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "mcp", "-C", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"},
    )
    assert program.stdin is not None
    assert program.stdout is not None
    answers: list[dict[str, Any]] = []
    with program:
        for line in (json.dumps(hello).encode(), json.dumps(ready).encode(), *lines):
            program.stdin.write(line + b"\n")
        program.stdin.flush()
        while len(answers) < len(lines) + 1:
            answer = json.loads(program.stdout.readline())
            if "method" not in answer:
                answers.append(answer)
        program.stdin.close()
    return answers[1:]


def call_line(request: int, query: str) -> bytes:
    params = {"name": "rag_search", "arguments": {"query": query}}
    message = {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def test_broken_messages_are_answered_and_the_server_goes_on(folder: Path) -> None:
    answers = ask(
        folder,
        b'{"jsonrpc": "2.0", "id": 1, "method"',
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "id": 3, "method": 5}',
        b'{"jsonrpc": "2.0", "id": 4}',
        b"[]",
        b"\xff\xfe",
        call_line(7, "gondola \ud83d alone"),
        call_line(8, "gondola"),
    )
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    broken = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert sorted(broken) == [-32700, -32700, -32700, -32600]
    assert by_id[3]["error"]["code"] == by_id[4]["error"]["code"] == -32600
    for number in (7, 8):
        assert "lagoon" in by_id[number]["result"]["content"][0]["text"]
