"""A cross-encoder on this machine, by fastembed or sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Final, TypeAlias

from ragstone.config import Settings
from ragstone.embed.model_folder import find_model_folder
from ragstone.errors import MissingExtra

Scorer: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]

_FASTEMBED: Final = ("fastembed", "fastembed_scorer")
_TRANSFORMERS: Final = ("sentence-transformers", "transformers_scorer")
"""An extra, and the module here that needs it."""


@dataclass(slots=True)
class CrossEncoderReranker:
    """Scores texts with a local cross-encoder, loaded on first use. The scores are logits, negative for most texts."""

    load: Callable[[], Scorer]
    name: str = "cross-encoder"
    _score: Scorer | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better; raise `ProviderError` if the model cannot be loaded."""
        with self._lock:
            if self._score is None:
                self._score = self.load()
        return [float(score) for score in self._score(query, texts)]


def configured(settings: Settings) -> CrossEncoderReranker:
    """Return the reranker with the first installed package; `MissingExtra` if none is installed.

    A folder is read by fastembed if it has an ONNX graph, else by sentence-transformers.
    """
    model = settings.rerank.model
    folder = find_model_folder(model, settings, "rerank.model") if model else None
    packages = [_FASTEMBED, _TRANSFORMERS]
    if folder is not None:
        packages.remove(_TRANSFORMERS if folder.onnx_file() else _FASTEMBED)
    for _, scorer in packages:
        try:
            module = import_module(f"ragstone.embed.rerank.{scorer}")
        except ModuleNotFoundError:
            continue
        return CrossEncoderReranker(partial(module.load_scorer, settings, folder))
    names = " or ".join(repr(extra) for extra, _ in packages)
    raise MissingExtra(
        f"The reranker 'cross-encoder' needs the package {names}.",
        hint=f"pip install 'ragstone[{packages[0][0]}]'",
    )
