"""A cross-encoder by the package `sentence-transformers`."""

from __future__ import annotations

from typing import Final

from sentence_transformers import CrossEncoder
from transformers.utils.logging import disable_progress_bar

from ragstone.config import Settings
from ragstone.embed.devices import choose_device
from ragstone.embed.downloads import loading
from ragstone.embed.hub import load_or_download
from ragstone.embed.model_folder import ModelFolder
from ragstone.embed.rerank.cross_encoder import Scorer

_MODEL: Final = "cross-encoder/ms-marco-MiniLM-L6-v2"


def load_scorer(settings: Settings, folder: ModelFolder | None) -> Scorer:
    """Return the scores of a loaded model; raise `ProviderError` if it cannot be loaded."""
    name = settings.rerank.model or _MODEL
    device = choose_device(settings.embed.device)
    disable_progress_bar()

    def from_hub(is_local: bool) -> CrossEncoder:
        return CrossEncoder(name, device=device, local_files_only=is_local)

    with loading(name):
        if folder is None:
            encoder = load_or_download(from_hub, name)
        else:
            encoder = CrossEncoder(str(folder.path), device=device, local_files_only=True)
    return lambda query, texts: encoder.predict([(query, text) for text in texts]).tolist()
