"""Model services on this machine that speak the wire formats of the real ones, and fail on request."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone import config
from ragstone.embed.remote import RemoteEmbedder
from ragstone.indexing.embedders import EmbedderPool

Json = Any
Reply = tuple[int, dict[str, str], Json]
KEY = "sk-test"


@lru_cache(maxsize=50_000)
def _word_vector(word: str, dimension: int) -> NDArray[np.float32]:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


def vector_of(text: str, dimension: int) -> list[float]:
    """Return the vector of a text: texts that share words are near."""
    sums = np.zeros(dimension, np.float32)
    for word in text.lower().split():
        sums += _word_vector(word, dimension)
    if not sums.any():
        sums[0] = 1
    sums /= np.linalg.norm(sums)
    return [float(number) for number in sums]


@dataclass
class Faults:
    """How often each fault happens, as a share of the requests."""

    rate_limited: float = 0.0
    broken: float = 0.0
    hang: float = 0.0
    reset: float = 0.0
    short: float = 0.0
    not_finite: float = 0.0
    wrong_dimension: float = 0.0
    reordered: float = 0.0
    retry_after: str = "0.01"
    hang_seconds: float = 1.0


@dataclass
class ModelService:
    """A service in a thread. `embedded` counts how often each text was embedded: a text that was paid for twice has 2."""

    answer: Callable[[ModelService, str, dict[str, str], Json], Reply]
    dimension: int = 8
    url: str = ""
    faults: Faults = field(default_factory=Faults)
    is_down: bool = False
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    embedded: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, dict[str, str], Json]] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: int = 0
    most_at_once: int = 0
    seconds_per_request: float = 0.0
    context_length: int = 100_000
    """The characters that Ollama's model reads; dense text has a token for each."""

    @property
    def paid_twice(self) -> int:
        """Return how many texts were embedded again after they had been embedded."""
        return sum(count - 1 for count in self.embedded.values())

    def happens(self, share: float) -> bool:
        with self.lock:
            return self.rng.random() < share

    def vectors(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts, count them, and spoil some as the faults say."""
        with self.lock:
            self.embedded.update(texts)
        rows = [vector_of(text, self.dimension) for text in texts]
        if self.happens(self.faults.not_finite):
            rows[0] = [float("nan")] * self.dimension
        if self.happens(self.faults.wrong_dimension):
            rows[-1] = rows[-1][:-1]
        return rows


def check_bearer(headers: dict[str, str]) -> bool:
    return headers.get("authorization") == f"Bearer {KEY}"


def answer_openai(
    service: ModelService, path: str, headers: dict[str, str], body: Json
) -> Reply:
    """`POST /v1/embeddings`."""
    if not check_bearer(headers):
        error = {
            "message": "Incorrect API key provided: sk-wrong.",
            "type": "invalid_request_error",
        }
        return 401, {}, {"error": {**error, "param": None, "code": "invalid_api_key"}}
    if path != "/v1/embeddings":
        return 404, {}, {"error": {"message": f"Invalid URL (POST {path})"}}
    texts = body["input"]
    assert body["encoding_format"] == "float"
    if len(texts) > 2048 or any(not text for text in texts):
        return 400, {}, {"error": {"message": "'$.input' is invalid."}}
    if any("poison" in text for text in texts):
        return 400, {}, {"error": {"message": "maximum context length is 8192 tokens"}}
    if service.happens(service.faults.rate_limited):
        message = {
            "message": "Rate limit reached",
            "type": "tokens",
            "code": "rate_limit_exceeded",
        }
        return 429, {"Retry-After": service.faults.retry_after}, {"error": message}
    if service.happens(service.faults.broken):
        return (
            500,
            {},
            {"error": {"message": "The server had an error", "type": "server_error"}},
        )
    rows = service.vectors(texts)
    if "dimensions" in body:
        rows = [row[: body["dimensions"]] for row in rows]
    data = [
        {"object": "embedding", "index": number, "embedding": row}
        for number, row in enumerate(rows)
    ]
    if service.happens(service.faults.reordered):
        data.reverse()
    if service.happens(service.faults.short):
        data.pop()
    tokens = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return 200, {}, {"object": "list", "data": data, "model": body["model"], "usage": usage}


def answer_gemini(
    service: ModelService, path: str, headers: dict[str, str], body: Json
) -> Reply:
    """`POST /v1beta/models/MODEL:batchEmbedContents`."""
    if headers.get("x-goog-api-key") != KEY:
        details = [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        ]
        error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
        return 400, {}, {"error": {**error, "details": details}}
    requests = body["requests"]
    model = requests[0]["model"]
    if path != f"/v1beta/{model}:batchEmbedContents":
        return 404, {}, {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}}
    if len(requests) > 100:
        message = "at most 100 requests can be in one batch"
        return (
            400,
            {},
            {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}},
        )
    if service.happens(service.faults.rate_limited):
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
        details = [{**info, "retryDelay": f"{service.faults.retry_after}s"}]
        error = {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}
        return 429, {}, {"error": {**error, "details": details}}
    if service.happens(service.faults.broken):
        return 500, {}, {"error": {"code": 500, "message": "Internal", "status": "INTERNAL"}}
    if "gemini-embedding-2" in model and any("taskType" in request for request in requests):
        message = "task_type is not supported by this model"
        return (
            400,
            {},
            {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}},
        )
    texts = [request["content"]["parts"][0]["text"] for request in requests]
    rows = service.vectors(texts)
    # A shortened vector is not scaled to length one again.
    embeddings = [
        {"values": row[: request["outputDimensionality"]]}
        for row, request in zip(rows, requests, strict=True)
    ]
    if service.happens(service.faults.short):
        embeddings.pop()
    tokens = sum(len(text.split()) for text in texts)
    return 200, {}, {"embeddings": embeddings, "usageMetadata": {"promptTokenCount": tokens}}


def answer_ollama(
    service: ModelService, path: str, headers: dict[str, str], body: Json
) -> Reply:
    """`POST /api/embed`."""
    if path != "/api/embed":
        return 404, {}, {"error": "404 page not found"}
    if body["model"] == "missing":
        return 404, {}, {"error": 'model "missing" not found, try pulling it first'}
    if service.happens(service.faults.rate_limited):
        return (
            503,
            {},
            {"error": "server busy, please try again.  maximum pending requests exceeded"},
        )
    if service.happens(service.faults.broken):
        return 500, {}, {"error": "llama runner process has terminated"}
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if any(len(text) > service.context_length for text in texts) and not body["truncate"]:
        return 400, {}, {"error": "the input length exceeds the context length"}
    rows = [
        row[: body.get("dimensions")]
        for row in service.vectors([text[: service.context_length] for text in texts])
    ]
    if service.happens(service.faults.short):
        rows.pop()
    return (
        200,
        {},
        {
            "model": body["model"],
            "embeddings": rows,
            "total_duration": 14_143_917,
            "load_duration": 1_019_500,
            "prompt_eval_count": sum(len(text.split()) for text in texts),
        },
    )


def relevance(query: str, text: str) -> float:
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def rerank_answer(
    path: str, top_field: str, results_field: str, message_field: str, extra: Json
) -> Callable[[ModelService, str, dict[str, str], Json], Reply]:
    """Return the answers of a rerank service: the best first, by index."""

    def answer(
        service: ModelService, called: str, headers: dict[str, str], body: Json
    ) -> Reply:
        if not check_bearer(headers):
            return 401, {}, {message_field: "invalid api token"}
        if called != path:
            return 404, {}, {message_field: "not found"}
        if service.happens(service.faults.rate_limited):
            pause = {"Retry-After": service.faults.retry_after}
            return 429, pause, {message_field: "too many requests"}
        if service.happens(service.faults.broken):
            return 500, {}, {message_field: "internal server error"}
        scores = [relevance(body["query"], text) for text in body["documents"]]
        places = sorted(range(len(scores)), key=lambda place: -scores[place])
        results = [
            {"index": place, "relevance_score": scores[place]}
            for place in places[: body[top_field]]
        ]
        return 200, {}, {results_field: results, **extra}

    return answer


answer_cohere = rerank_answer(
    "/v2/rerank",
    "top_n",
    "results",
    "message",
    {"id": "x", "meta": {"billed_units": {"search_units": 1}}},
)
answer_voyage = rerank_answer(
    "/v1/rerank", "top_k", "data", "detail", {"object": "list", "usage": {"total_tokens": 26}}
)
answer_jina = rerank_answer(
    "/v1/rerank", "top_n", "results", "detail", {"usage": {"total_tokens": 815}}
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    service: ModelService

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_POST(self) -> None:
        service = self.service
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with service.lock:
            service.requests.append((self.path, headers, body))
            service.running += 1
            service.most_at_once = max(service.most_at_once, service.running)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._answer(service, headers, body)
        finally:
            with service.lock:
                service.running -= 1

    def _answer(self, service: ModelService, headers: dict[str, str], body: Json) -> None:
        if service.is_down or service.happens(service.faults.reset):
            # An abort, as a crashed service or a router does it.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            self.close_connection = True
            return
        if service.happens(service.faults.hang):
            time.sleep(service.faults.hang_seconds)
            self.close_connection = True
            return
        time.sleep(service.seconds_per_request)
        status, extra, reply = service.answer(service, self.path, headers, body)
        with service.lock:
            service.statuses[status] += 1
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that went away is part of the test."""


@contextlib.contextmanager
def serving(service: ModelService, path: str = "") -> Iterator[ModelService]:
    """Run a service for as long as it is entered; its url ends with the path."""
    handler = type("Handler", (_Handler,), {"service": service})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def settings_for(folder: Path, key: str | None = KEY, **values: str) -> config.Settings:
    variables = {f"RAGSTONE_EMBED_{name.upper()}": value for name, value in values.items()}
    if key:
        variables["RAGSTONE_EMBED_API_KEY"] = key
    return config.load(folder, environ=variables)


def make_embedder(folder: Path, key: str | None = KEY, **values: str) -> RemoteEmbedder:
    embedder = EmbedderPool(settings_for(folder, key, **values)).get()
    assert isinstance(embedder, RemoteEmbedder)
    embedder.client.sleep = lambda seconds: None
    return embedder


def openai_at(folder: Path, service: ModelService, **values: str) -> RemoteEmbedder:
    values = {
        "provider": "openai",
        "model": "small",
        "dimension": "8",
        "seconds": "1",
        **values,
    }
    return make_embedder(folder, url=service.url, **values)
