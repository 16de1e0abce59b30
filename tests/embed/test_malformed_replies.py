"""Replies and texts that no service should send: each gives a sound vector or one clear error, never a traceback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.embed.http_client import ServiceClient, ServiceNames
from ragstone.embed.rerank.hosted import COHERE, ServiceReranker
from ragstone.embed.retries import CircuitBreaker, Patience, requested_pause
from ragstone.errors import ProviderError
from ragstone.indexing.backfill import BatchEmbedder
from ragstone.retrieval.ask.chat import Chat
from tests.support.model_services import (
    ModelService,
    Reply,
    answer_openai,
    make_embedder,
    openai_at,
    serving,
    vector_of,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99000000\r\n\r\n"
DEEP = "[" * 100_000


@pytest.fixture
def openai() -> Iterator[ModelService]:
    with serving(ModelService(answer_openai), "/v1") as service:
        yield service


@contextmanager
def raw_service(send: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a service that answers one request with the bytes that `send` writes, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(100_000)
                send(connection)

        threading.Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def test_half_of_a_surrogate_pair_is_sent_as_a_replacement_character(
    tmp_path: Path, openai: ModelService
) -> None:
    rows = openai_at(tmp_path, openai).embed(["a \ud800 b", "\ud83d\ude00"])
    assert len(rows) == 2
    assert openai.requests[0][2]["input"] == ["a \ufffd b", "\U0001f600"]


def test_half_of_a_surrogate_pair_in_a_question_reaches_the_language_model(
    openai: ModelService,
) -> None:
    openai.answer = lambda *_: (400, {}, {"error": "stop here"})
    with pytest.raises(ProviderError, match="stop here"):
        list(Chat(openai.url, "small").stream([{"role": "user", "content": "a \ud800"}]))
    assert openai.requests[0][2]["messages"][0]["content"] == "a \ufffd"


@pytest.mark.parametrize(
    "vector",
    ["AACAPwAAAEA=", [[1.0], [1.0, 2.0]], {"x": 1.0}, [10**400] * 8, None],
    ids=["base64", "ragged", "object", "huge", "null"],
)
def test_a_vector_that_is_no_list_of_numbers_is_one_clear_error(
    tmp_path: Path, openai: ModelService, vector: object
) -> None:
    openai.answer = lambda *_: (200, {}, {"data": [{"index": 0, "embedding": vector}]})
    with pytest.raises(ProviderError, match="OpenAI sent"):
        openai_at(tmp_path, openai).embed(["a"])


def test_sound_vectors_beside_a_malformed_one_are_not_requested_again(
    tmp_path: Path, openai: ModelService
) -> None:
    def answer_badly_once(*arguments: Any) -> Reply:
        status, headers, reply = answer_openai(*arguments)
        reply["data"][1]["embedding"] = "AACAPwAAAEA="
        openai.answer = answer_openai
        return status, headers, reply

    openai.answer = answer_badly_once
    rows = openai_at(tmp_path, openai).embed(["one", "two", "three"])
    assert np.allclose(rows[1], vector_of("two", 8), atol=1e-6)
    assert [len(body["input"]) for _, _, body in openai.requests] == [3, 1]


@pytest.mark.parametrize("count", ["x", float("nan"), float("inf"), -7, 10**400])
def test_a_token_count_that_cannot_be_true_is_replaced_by_an_estimate(
    tmp_path: Path, openai: ModelService, count: object
) -> None:
    def answer(*arguments: Any) -> Reply:
        status, headers, reply = answer_openai(*arguments)
        return status, headers, {**reply, "usage": {"prompt_tokens": count}}

    openai.answer = answer
    embedder = openai_at(tmp_path, openai, price="2.0")
    embedder.embed(["one two three"])
    assert 0 < embedder.usage.tokens < 20 and 0 < embedder.usage.cost < 1


def test_finished_requests_are_kept_if_another_reply_is_malformed(
    tmp_path: Path, openai: ModelService
) -> None:
    def answer(*arguments: Any) -> Reply:
        status, headers, reply = answer_openai(*arguments)
        if "bad" in arguments[3]["input"]:
            reply["data"] = [{"index": 0, "embedding": {"x": 1}}]
        return status, headers, reply

    openai.answer = answer
    embedder = openai_at(tmp_path, openai, concurrency="1")
    texts = ["good"] * embedder.request_size.texts + ["bad"]
    kept: list[int] = []
    with pytest.raises(ProviderError, match="no list of numbers"):
        for part in BatchEmbedder(embedder).embed(texts):
            kept += part.positions
    assert kept == list(range(len(texts) - 1))


def test_a_score_that_is_no_number_is_one_clear_error(openai: ModelService) -> None:
    row = {"index": 0, "relevance_score": 10**400}
    openai.answer = lambda *_: (200, {}, {"results": [row]})
    client = ServiceClient(openai.url, ServiceNames("Cohere", "m", "rerank", "COHERE_API_KEY"))
    with pytest.raises(ProviderError, match="did not score all 1 texts"):
        ServiceReranker(COHERE, client, "m", 5.0).rerank("q", ["a"])


@pytest.mark.parametrize("delay", ["-5s", "nans", "soon", 5, None])
def test_a_pause_that_makes_no_sense_is_replaced_by_the_usual_one(
    tmp_path: Path, openai: ModelService, delay: object
) -> None:
    pauses: list[float] = []
    embedder = openai_at(tmp_path, openai)
    openai.answer = lambda *_: (503, {}, {"error": {"details": [{"retryDelay": delay}]}})

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        openai.answer = answer_openai

    embedder.client.sleep = sleep
    embedder.embed(["a"])
    assert len(pauses) == 1 and 0 < pauses[0] <= 1


def test_a_date_before_all_clocks_is_no_pause() -> None:
    assert requested_pause({"retry-after": "Mon, 01 Jan 0001 00:00:00 +2300"}) in (None, 0.0)
    assert requested_pause({"retry-after": "Mon, 01 Jan 0001 00:00:00 -0000"}) in (None, 0.0)
    assert requested_pause({"retry-after": "nan"}) is None


def test_a_page_instead_of_json_names_the_address_and_the_setting() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n"
    names = ServiceNames("OpenAI", "small", "embed", "OPENAI_API_KEY")
    with raw_service(lambda connection: connection.sendall(head + b"<html></html")) as url:
        with pytest.raises(
            ProviderError, match=f"at {url} sent a reply that is no JSON"
        ) as caught:
            ServiceClient(url, names).post("/embeddings", {}, Patience(5, 5, 1))
    assert "check embed.url" in caught.value.hint


def test_an_error_that_is_nested_too_deeply_is_retried_like_any_other(tmp_path: Path) -> None:
    body = DEEP.encode()
    head = f"HTTP/1.1 503 Busy\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with raw_service(lambda connection: connection.sendall(head.encode() + body)) as url:
        embedder = make_embedder(
            tmp_path, provider="openai", dimension="8", model="small", url=url
        )
        embedder.client.sleep = _stop
        with pytest.raises(_NextAttempt):
            embedder.embed(["a"])


def test_a_reply_that_never_ends_is_given_up_after_the_time_of_the_settings(
    tmp_path: Path,
) -> None:
    stopped = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        while not stopped.wait(0.1):
            connection.sendall(b" ")

    with raw_service(drip) as url:
        embedder = make_embedder(
            tmp_path,
            provider="openai",
            dimension="8",
            model="small",
            url=url,
            query_seconds="1",
        )
        watchdog = threading.Timer(10, stopped.set)
        watchdog.start()
        try:
            with pytest.raises(ProviderError, match="did not answer within 1 s"):
                embedder.embed(["a"], "query")
        finally:
            watchdog.cancel()
            stopped.set()


def test_a_reply_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    def flood(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        part = b" " * 1_000_000
        for _ in range(99):
            connection.sendall(part)

    with raw_service(flood) as url:
        embedder = make_embedder(
            tmp_path, provider="openai", dimension="8", model="small", url=url
        )
        with pytest.raises(ProviderError, match="a reply that is too long"):
            embedder.embed(["a"])


@pytest.mark.parametrize("status", [400, 429])
def test_a_service_that_refuses_one_request_is_not_left_alone(
    tmp_path: Path, openai: ModelService, status: int
) -> None:
    clock = [0.0]
    embedder = openai_at(tmp_path, openai)
    embedder.client.breaker = CircuitBreaker(failures=1, seconds=30, now=lambda: clock[0])
    openai.is_down = True
    with pytest.raises(ProviderError, match="broke off"):
        embedder.embed(["a"], "query")
    clock[0] = 31
    openai.is_down = False
    openai.answer = lambda *_: (status, {"retry-after": "999"}, {"error": "not this one"})
    with pytest.raises(ProviderError, match="not this one"):
        embedder.embed(["a"], "query")
    openai.answer = answer_openai
    assert len(embedder.embed(["b"], "query")) == 1


class _NextAttempt(Exception):
    """Ends a test before the next attempt."""


def _stop(seconds: float) -> None:
    raise _NextAttempt
