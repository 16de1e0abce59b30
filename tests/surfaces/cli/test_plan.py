"""`ragstone sync --plan`: what a sync would cost, before it costs anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.surfaces.cli.app import run
from tests.support.model_services import KEY, ModelService, answer_openai, serving


def plan(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    assert run(["sync", "--plan", "--json", "-C", str(folder), *flags]) == 0
    return dict(json.loads(capsys.readouterr().out))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"Note {number}: the ferry leaves at {number}.")
    return tmp_path


def test_the_plan_of_a_local_model_costs_nothing_and_makes_no_index(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = plan(folder, capsys)
    assert (figures["files"], figures["chunks"], figures["texts"]) == (4, 4, 4)
    assert figures["embedder"] == "minilm" and figures["cost"] == 0 and figures["tokens"] > 20
    assert not (folder / ".ragstone").exists()
    assert run(["sync", "--plan", "-C", str(folder)]) == 0
    assert "4 files to index: 4 chunks, 4 texts to embed" in capsys.readouterr().out


def test_the_plan_names_the_money_and_nothing_is_sent(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        for name, value in {
            "PROVIDER": "openai:small@16",
            "URL": service.url,
            "API_KEY": KEY,
            "PRICE": "2.5",
        }.items():
            monkeypatch.setenv(f"RAGSTONE_EMBED_{name}", value)
        figures = plan(folder, capsys)
        assert figures["cost"] == pytest.approx(figures["tokens"] * 2.5 / 1_000_000)
        assert not service.requests
        assert run(["sync", "-C", str(folder), "--json"]) == 0
        usage = json.loads(capsys.readouterr().out)["usage"]
        assert usage["texts"] == 4 and usage["cost"] > 0
        # Nothing is left to do; then one file changes.
        assert plan(folder, capsys)["texts"] == 0
        (folder / "0.md").write_text("A changed note.")
        figures = plan(folder, capsys)
        assert (figures["files"], figures["texts"]) == (1, 1)
        assert sum(service.embedded.values()) == 4


def test_stored_texts_without_a_vector_are_part_of_the_plan(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as engine:
        engine.add([Document("a", "one text"), Document("b", "two texts")], embed=False)
        assert engine.admin.plan().texts == 2
        engine.admin.embed()
        assert engine.admin.plan().texts == 0
