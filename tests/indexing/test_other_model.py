"""Vectors of two models are never mixed, also if they have the same number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.errors import StaleSpace
from ragstone.types import SpaceInfo
from tests.support.model_services import KEY, ModelService, answer_openai, serving
from tests.support.stores import STORES, OpenStore

WORDS = "granite slate marble basalt chalk".split()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelService]:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        yield service


def spaces(engine: Engine) -> list[tuple[str, str, int, int]]:
    def describe(info: SpaceInfo) -> tuple[str, str, int, int]:
        return info.space.model, info.state, info.embedded, info.texts

    return sorted(map(describe, engine.status().spaces))


@pytest.mark.parametrize("open_store", STORES.values(), ids=STORES)
@pytest.mark.parametrize(
    "change",
    [
        {"embed.model": "other"},
        {"embed.document_prefix": "passage: "},
        {"embed.query_prefix": "query: "},
        {"embed.dimension": 8},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_model_is_refused_and_the_old_vectors_answer_alone_until_a_reembed(
    tmp_path: Path,
    service: ModelService,
    open_store: OpenStore,
    change: dict[str, object],
) -> None:
    with open_store(tmp_path) as store:
        config: dict[str, object] = {
            "embed.provider": "openai",
            "embed.model": "small",
            "embed.dimension": 16,
            "embed.url": service.url,
            "embed.background": "off",
            **store,
        }
        with Engine.open(tmp_path, config=config) as engine:
            engine.add([Document(word, f"{word} is a stone") for word in WORDS])
        model = str(change.get("embed.model", "small"))
        with Engine.open(tmp_path, config={**config, **change}) as engine:
            report = engine.add(Document("flint", "flint is a stone"))
            assert "reembed" in report.notes[0]
            with pytest.raises(StaleSpace, match="reembed"):
                engine.admin.embed()
            assert spaces(engine) == [("small", "active", 5, 6)]
            hits = engine.search("marble", mode="vectors")
            assert hits[0].source_doc_id == "marble"
            assert engine.search("flint", mode="words")
            service.dimension = int(str(change.get("embed.dimension", 16)))
            assert engine.admin.reembed() == 6
            active = [space for space in spaces(engine) if space[1] == "active"]
            assert active == [(model, "active", 6, 6)]
            assert engine.search("flint is a stone", mode="vectors")[0].source_doc_id == "flint"
