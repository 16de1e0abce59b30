"""An engine with an embedding service that a test can break and mend."""

from __future__ import annotations

import random

from ragstone import Document, Engine
from ragstone.embed.remote import RemoteEmbedder
from tests.support.model_services import ModelService

WORDS = "harbour lock lease ferry quay tide keeper bell anchor rope".split()


def settings(service: ModelService, **more: object) -> dict[str, object]:
    return {
        "embed.provider": "openai:small@16",
        "embed.url": service.url,
        "embed.seconds": 5,
        "embed.query_seconds": 5,
        "events.log": False,
        **more,
    }


def hurry(engine: Engine) -> None:
    """Let the engine's client wait for nothing."""
    embedder = engine.workspace.components.embedder()
    assert isinstance(embedder, RemoteEmbedder)
    embedder.client.sleep = lambda seconds: None


def recover(engine: Engine, service: ModelService) -> None:
    """End the outage, and the pause of the circuit breaker with it."""
    service.is_down = False
    embedder = engine.workspace.components.embedder()
    assert isinstance(embedder, RemoteEmbedder)
    embedder.client.breaker.record_success()


def documents(count: int) -> list[Document]:
    chooser = random.Random(3)
    return [
        Document(f"d{number}", f"note {number} about the {' '.join(chooser.sample(WORDS, 4))}")
        for number in range(count)
    ]
