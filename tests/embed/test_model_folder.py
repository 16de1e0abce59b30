"""A model in a folder: the facts that its files state, and which folders are refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ragstone import config
from ragstone.embed.model_folder import ModelFolder
from ragstone.errors import ConfigError
from ragstone.indexing.embedders import EmbedderPool
from ragstone.types import Space


class SentenceTransformer:
    """Stands in for the class of the package, which is not loaded here."""

    def __init__(self, model: str, **options: object) -> None:
        self.model = model

    def encode(self, texts: Sequence[str], show_progress_bar: bool) -> Any:  # noqa: ANN401 - never called
        raise NotImplementedError


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (
        ("sentence_transformers", {"SentenceTransformer": SentenceTransformer}),
        ("transformers.utils.logging", {"disable_progress_bar": None}),
        ("huggingface_hub", {"HfApi": None}),
    ):
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "ragstone.embed.sentence_transformers", raising=False)


def write_model(folder: Path, **numbers: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(numbers))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def space_of(root: Path, model: str) -> Space:
    variables = {
        "RAGSTONE_EMBED_PROVIDER": "sentence-transformers",
        "RAGSTONE_EMBED_MODEL": model,
    }
    return EmbedderPool(config.load(root, environ=variables)).get().space


def test_a_relative_folder_is_in_the_project_and_states_its_dimension(tmp_path: Path) -> None:
    write_model(tmp_path / "models" / "own", hidden_size=48)
    space = space_of(tmp_path, "./models/own")
    assert (space.model, space.dimension) == ("./models/own", 48)


def test_a_folder_of_a_known_family_has_its_prefixes(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "e5-small-v2", hidden_size=384)
    space = space_of(tmp_path, str(folder))
    assert (space.query_prefix, space.document_prefix) == ("query: ", "passage: ")


def test_other_weights_in_the_same_folder_are_another_space(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "own", hidden_size=48)
    before = space_of(tmp_path, "./own")
    (folder / "README.md").write_text("Only a description.")
    assert space_of(tmp_path, "./own") == before
    (folder / "model.safetensors").write_bytes(b"Weights")
    assert space_of(tmp_path, "./own").fingerprint != before.fingerprint


def test_a_change_in_the_middle_of_large_weights_changes_the_version(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "own")
    weights = bytearray(40 * 65_536)
    versions = set()
    for number in range(2):
        weights[len(weights) // 2 : len(weights) // 2 + 400_000] = bytes([number]) * 400_000
        (folder / "model.safetensors").write_bytes(weights)
        versions.add(ModelFolder(folder).version())
    assert len(versions) == 2


def test_a_folder_without_a_model_is_a_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("./empty", "./missing", str(tmp_path / "missing"), "~/missing-model"):
        with pytest.raises(ConfigError, match="no folder with a model") as caught:
            space_of(tmp_path, name)
        assert "check embed.model" in caught.value.hint


def test_a_folder_with_the_name_of_a_model_is_not_taken_for_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path / "all-MiniLM-L6-v2", hidden_size=384)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="and of a file or folder here") as caught:
        space_of(tmp_path, "all-MiniLM-L6-v2")
    assert "'./all-MiniLM-L6-v2'" in caught.value.hint
    assert space_of(tmp_path, "./all-MiniLM-L6-v2").dimension == 384
