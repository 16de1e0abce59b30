"""A cross-encoder by the package `fastembed`."""

from __future__ import annotations

from typing import Any, Final

from fastembed.common.model_description import ModelSource
from fastembed.rerank.cross_encoder import TextCrossEncoder
from loguru import logger

from ragstone.config import Settings
from ragstone.embed.downloads import loading
from ragstone.embed.hub import load_or_download
from ragstone.embed.model_folder import ModelFolder
from ragstone.embed.rerank.cross_encoder import Scorer

_MODEL: Final = "Xenova/ms-marco-MiniLM-L-6-v2"


def load_scorer(settings: Settings, folder: ModelFolder | None) -> Scorer:
    """Return the scores of a loaded model; raise `ProviderError` if it cannot be loaded."""
    name = settings.rerank.model or _MODEL
    logger.disable("fastembed")  # it prints failures, which are reported as errors anyway

    def from_hub(is_local: bool) -> TextCrossEncoder:
        return TextCrossEncoder(model_name=name, local_files_only=is_local)

    with loading(name):
        if folder is None:
            repository = _known_models().get(name, {}).get("sources", {}).get("hf")
            encoder = load_or_download(from_hub, repository)
        else:
            encoder = TextCrossEncoder(
                model_name=_register(folder), specific_model_path=str(folder.path)
            )
    return lambda query, texts: list(encoder.rerank(query, list(texts)))


def _known_models() -> dict[str, dict[str, Any]]:
    """Return the description of each model that fastembed knows, by name."""
    return {entry["model"]: entry for entry in TextCrossEncoder.list_supported_models()}


def _register(folder: ModelFolder) -> str:
    """Tell fastembed about the model of a folder and return its name there."""
    name = f"{folder.path} {folder.version()}"
    if name not in _known_models():
        source = ModelSource(url=folder.path.as_uri())
        TextCrossEncoder.add_custom_model(name, sources=source, model_file=folder.onnx_file())
    return name
