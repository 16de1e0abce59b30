"""A server that has just started: what the first requests need is loaded before they come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.surfaces.server.startup import preload
from tests.support.model_services import KEY, ModelService, answer_openai, serving

FIRST_REQUESTS = """
import sys
from ragstone import Engine
from ragstone.surfaces.server.startup import preload
with Engine.open(sys.argv[1]) as engine:
    preload(engine)
    before = set(sys.modules)
    engine.search("failed upload", fresh=False)
    engine.memory.recall(None, "failed upload")
    engine.graph.exists()
    engine.status()
    print(sorted(set(sys.modules) - before))
"""


def test_the_first_requests_import_nothing(project: Path, environment: dict[str, str]) -> None:
    with Engine.open(project) as engine:
        engine.sync()
        engine.remember("one", "user", "A failed upload is tried again.")
    command = [sys.executable, "-c", FIRST_REQUESTS, str(project)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_loading_is_no_search_of_a_user(project: Path) -> None:
    with Engine.open(project, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        preload(engine)
        assert engine.admin.stats().searches == 0


def test_a_folder_that_is_not_indexed_stays_so(project: Path) -> None:
    with Engine.open(project) as engine:
        preload(engine)
        assert not engine.exists
    assert not (project / ".ragstone").exists()


def test_no_service_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    service = ModelService(answer_openai, 16)
    with serving(service, "/v1"):
        settings = {"rag.embedding_provider": "openai:small@16", "embed.url": service.url}
        with Engine.open(project, config=settings) as engine:
            engine.sync()
            asked = len(service.requests)
            assert asked
            preload(engine)
            assert len(service.requests) == asked
