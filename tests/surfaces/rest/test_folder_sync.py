"""The server makes vectors in the background, also after an outage of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.embed.remote import RemoteEmbedder
from ragstone.surfaces.rest import folder_sync
from tests.support.model_services import KEY, ModelService, answer_openai, serving
from tests.support.running_server import running_server
from tests.support.waiting import wait_until


def test_vectors_are_made_after_an_outage_of_the_service(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    monkeypatch.setattr(folder_sync, "_RETRY_SECONDS", 0.05)
    service = ModelService(answer_openai, 16)
    service.is_down = True
    with serving(service, "/v1"):
        settings: dict[str, object] = {
            "rag.embedding_provider": "openai:small@16",
            "embed.url": service.url,
            "embed.seconds": 5,
        }
        with running_server(project, config=settings) as server:
            engine = server.state.engines.own
            embedder = engine.workspace.components.embedder()
            assert isinstance(embedder, RemoteEmbedder)
            embedder.client.sleep = lambda seconds: None
            server.state.sync.start()
            assert wait_until(lambda: "could not" in server.state.sync.note, 60), (
                server.state.sync.note
            )
            body = {"query": "failed upload", "mode": "words"}
            assert server.post("/api/rag/search", body).json()["results"]
            assert engine.admin.lacks_vectors()
            service.is_down = False
            embedder.client.breaker.record_success()  # ends the pause after many failures
            assert wait_until(lambda: not engine.admin.lacks_vectors(), 60)
            assert wait_until(lambda: server.state.sync.note == "")
