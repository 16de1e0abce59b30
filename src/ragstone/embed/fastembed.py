"""Embeddings by the package `fastembed`: ONNX models from a folder, or downloaded on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from loguru import logger

from ragstone.config import Settings
from ragstone.embed.downloads import loading
from ragstone.embed.hub import load_or_download
from ragstone.embed.local_model import LocalModel, Vectors
from ragstone.embed.model_folder import ModelFolder, find_model_folder
from ragstone.errors import ConfigError

DEFAULT_MODEL: Final = "BAAI/bge-small-en-v1.5"


def configured(settings: Settings) -> LocalModel:
    """Return the embedder with the model in the settings; the model is loaded on first use."""
    model = settings.embed.model or DEFAULT_MODEL
    folder = find_model_folder(model, settings, "embed.model")
    entry = _known_models().get(model, {})

    def load() -> FastembedModel:
        threads = settings.embed.threads or None
        logger.disable("fastembed")  # it prints failures, which are reported as errors anyway

        def from_hub(is_local: bool) -> TextEmbedding:
            return TextEmbedding(model_name=model, threads=threads, local_files_only=is_local)

        with loading(model):
            if folder is None:
                repository = entry.get("sources", {}).get("hf")
                return FastembedModel(load_or_download(from_hub, repository))
            name = _register(folder, embedder.space.dimension)
            local = TextEmbedding(
                model_name=name, threads=threads, specific_model_path=str(folder.path)
            )
            return FastembedModel(local)

    embedder = LocalModel.configured(
        "fastembed", model, entry.get("dim"), settings, load, folder
    )
    return embedder


class FastembedModel:
    """A loaded model."""

    def __init__(self, model: TextEmbedding) -> None:
        """Take the loaded model."""
        self._model = model

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        return np.asarray(list(self._model.embed(list(texts))), dtype=np.float32)


def _known_models() -> dict[str, dict[str, Any]]:
    """Return the description of each model that fastembed knows, by name."""
    return {entry["model"]: entry for entry in TextEmbedding.list_supported_models()}


def _register(folder: ModelFolder, dimension: int) -> str:
    """Tell fastembed about the model of a folder and return its name there."""
    name = f"{folder.path} {folder.version()} {dimension}"
    if name in _known_models():
        return name
    file = folder.onnx_file()
    if file is None:
        raise ConfigError(
            f"The folder {str(folder.path)!r} has no file model.onnx, which fastembed needs.",
            hint="set embed.provider to sentence-transformers, or export the model to ONNX",
        )
    TextEmbedding.add_custom_model(
        name,
        PoolingType.CLS if folder.uses_first_token() else PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url=folder.path.as_uri()),
        dim=dimension,
        model_file=file,
    )
    return name
