"""Embeddings by the package `sentence-transformers`, on CUDA, MPS or CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from sentence_transformers import SentenceTransformer

from ragstone.config import Settings
from ragstone.embed.devices import choose_device
from ragstone.embed.downloads import loading
from ragstone.embed.local_model import LocalModel, Vectors

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"


def configured(settings: Settings) -> LocalModel:
    """Return the embedder with the model and device in the settings; the model is loaded on first use."""
    model = settings.embed.model or DEFAULT_MODEL

    def load() -> TransformerModel:
        device = choose_device(settings.embed.device)
        with loading(model):
            return TransformerModel(SentenceTransformer(model, device=device))

    return LocalModel.configured("sentence-transformers", model, None, settings, load)


class TransformerModel:
    """A loaded model."""

    def __init__(self, model: SentenceTransformer) -> None:
        """Take the loaded model."""
        self._model = model

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        rows = self._model.encode(list(texts), show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32)
