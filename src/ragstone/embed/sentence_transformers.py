"""Embeddings by the package `sentence-transformers`, on CUDA, MPS or CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from ragstone.config import Settings
from ragstone.embed.devices import choose_device
from ragstone.embed.downloads import loading
from ragstone.embed.hub import load_or_download
from ragstone.embed.local_model import LocalModel, Vectors
from ragstone.embed.model_folder import find_model_folder

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"


def configured(settings: Settings) -> LocalModel:
    """Return the embedder with the model and device in the settings; the model is loaded on first use."""
    model = settings.embed.model or DEFAULT_MODEL
    folder = find_model_folder(model, settings, "embed.model")

    def load() -> TransformerModel:
        device = choose_device(settings.embed.device)
        disable_progress_bar()

        def from_hub(is_local: bool) -> SentenceTransformer:
            return SentenceTransformer(model, device=device, local_files_only=is_local)

        with loading(model):
            if folder is not None:
                local = SentenceTransformer(
                    str(folder.path), device=device, local_files_only=True
                )
                return TransformerModel(local)
            return TransformerModel(load_or_download(from_hub, hub_name(model)))

    return LocalModel.configured("sentence-transformers", model, None, settings, load, folder)


def hub_name(model: str) -> str:
    """Return the full name of a model: names without an organisation are of sentence-transformers."""
    return model if "/" in model else f"sentence-transformers/{model}"


class TransformerModel:
    """A loaded model."""

    def __init__(self, model: SentenceTransformer) -> None:
        """Take the loaded model."""
        self._model = model

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        rows = self._model.encode(list(texts), show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32)
