"""Embeddings by the package `fastembed`: ONNX models, downloaded on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from fastembed import TextEmbedding

from ragstone.config import Settings
from ragstone.embed.downloads import loading
from ragstone.embed.local_model import LocalModel, Vectors

DEFAULT_MODEL: Final = "BAAI/bge-small-en-v1.5"


def configured(settings: Settings) -> LocalModel:
    """Return the embedder with the model in the settings; the model is loaded on first use."""
    model = settings.embed.model or DEFAULT_MODEL
    dimensions = {
        entry["model"]: int(entry["dim"]) for entry in TextEmbedding.list_supported_models()
    }

    def load() -> FastembedModel:
        with loading(model):
            return FastembedModel(
                TextEmbedding(model_name=model, threads=settings.embed.threads or None)
            )

    return LocalModel.configured("fastembed", model, dimensions.get(model), settings, load)


class FastembedModel:
    """A loaded model."""

    def __init__(self, model: TextEmbedding) -> None:
        """Take the loaded model."""
        self._model = model

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        return np.asarray(list(self._model.embed(list(texts))), dtype=np.float32)
