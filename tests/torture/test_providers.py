"""I1: an embedding service with faults, outages and kills of the client. No vector is lost or doubled.

`TORTURE_TEXTS` in the environment of `make torture-providers` sets the number of texts, `TORTURE_OUTAGE` the seconds of
the outage; by default the run takes a few seconds.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.embed.remote import RemoteEmbedder
from ragstone.errors import ProviderError
from ragstone.types import RequestSize
from tests.support.model_services import (
    KEY,
    Faults,
    ModelService,
    answer_gemini,
    answer_ollama,
    answer_openai,
    serving,
)

pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX"),
]

TEXTS = int(os.environ.get("TORTURE_TEXTS", "300"))
OUTAGE_SECONDS = float(os.environ.get("TORTURE_OUTAGE", "0.5"))
KILLS = 3
REQUEST = RequestSize(texts=8, tokens=1000, at_once=4)
LOST_BY_KILLS = KILLS * REQUEST.texts * REQUEST.at_once
"""A kill loses the requests that are under way."""


ANSWERS = {
    "openai:small@16": (answer_openai, "/v1"),
    "gemini:gemini-embedding-001@16": (answer_gemini, "/v1beta"),
    "ollama:own@16": (answer_ollama, ""),
}
"""A model of each provider, its service and the path of its address."""


def settings(model: str, url: str) -> dict[str, object]:
    return {
        "embed.provider": model,
        "embed.url": url,
        "embed.seconds": 1,
        "embed.query_seconds": 1,
        "embed.background": "off",
        "events.log": False,
    }


def embed_until_done(folder: Path, config: dict[str, object]) -> None:
    """Embed until all texts have a vector; an outage only makes it wait."""
    with Engine.open(folder, config=config) as engine:
        embedder = engine.workspace.components.embedder()
        assert isinstance(embedder, RemoteEmbedder)
        embedder.request_size = REQUEST
        embedder.client.sleep = lambda seconds: time.sleep(min(seconds, 0.05))
        while engine.admin.lacks_vectors():
            try:
                engine.admin.embed()
            except ProviderError:
                time.sleep(0.05)
                embedder.client.breaker.record_success()


def in_child(work: Callable[[], None]) -> int:
    """Run a function in a forked process and return its id."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


@pytest.mark.parametrize("model", ANSWERS)
def test_faults_outages_and_kills_lose_and_double_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    chance = random.Random(int(os.environ.get("TORTURE_SEED", "11")))
    with Engine.open(tmp_path, config={"embed.background": "off"}) as engine:
        texts = [Document(f"d{number}", f"note number {number}") for number in range(TEXTS)]
        engine.add(texts, embed=False)
    answer, path = ANSWERS[model]
    with serving(ModelService(answer, 16), path) as service:
        config = settings(model, service.url)
        service.faults = Faults(
            rate_limited=0.3,
            broken=0.05,
            hang=0.002,
            reset=0.005,
            short=0.002,
            not_finite=0.002,
            wrong_dimension=0.002,
            reordered=0.2,
            hang_seconds=1.5,
        )
        for kill in range(KILLS):
            pid = in_child(lambda: embed_until_done(tmp_path, config))
            until = TEXTS * (kill + 1) * chance.uniform(0.8, 1.0) / (KILLS + 1)
            while len(service.embedded) < until:
                time.sleep(0.001)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        worker = threading.Thread(target=embed_until_done, args=(tmp_path, config))
        worker.start()
        service.is_down = True
        with Engine.open(tmp_path, config=config) as engine:
            end = time.monotonic() + OUTAGE_SECONDS
            answers = 0
            while time.monotonic() < end or answers < 3:
                number = chance.randrange(TEXTS)
                explanation = engine.explain(f"note number {number}")
                assert f"d{number}" in [hit.source_doc_id for hit in explanation.hits]
                answers += 1
                time.sleep(0.05)
        service.is_down = False
        worker.join()
        with Engine.open(tmp_path, config=config) as engine:
            (info,) = engine.status().spaces
            assert info.embedded == info.texts == TEXTS
            assert all(finding.ok for finding in engine.admin.check())
        assert len(service.embedded) == TEXTS
        again = service.paid_twice / TEXTS
        print(
            f"{model}: {TEXTS} texts, {len(service.requests)} requests, none lost, "
            f"{again:.2%} sent again, {answers} searches answered during the outage"
        )
        assert service.paid_twice <= LOST_BY_KILLS + TEXTS * 0.01
        assert TEXTS < 20_000 or again <= 0.01
