from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.mixed_tree import write_tree
from tests.support.model_services import KEY, ModelService, answer_openai, serving


@pytest.fixture
def mixed_tree(tmp_path: Path, seed: int) -> Path:
    """Return a folder with files of every kind."""
    write_tree(tmp_path, seed)
    return tmp_path


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelService]:
    """Give a running embedding service whose key is set."""
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    with serving(ModelService(answer_openai, 16), "/v1") as running:
        yield running
