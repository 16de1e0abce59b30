"""A cross-encoder on this machine, by fastembed or sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ragstone.config import Settings
from ragstone.embed.devices import choose_device
from ragstone.embed.downloads import loading
from ragstone.errors import MissingExtra

_FASTEMBED_MODEL: Final = "Xenova/ms-marco-MiniLM-L-6-v2"
_TRANSFORMERS_MODEL: Final = "cross-encoder/ms-marco-MiniLM-L6-v2"

Scorer = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class CrossEncoderReranker:
    """Scores texts with a local cross-encoder. The scores are logits, negative for most texts."""

    score: Scorer
    name: str = "cross-encoder"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better."""
        return [float(score) for score in self.score(query, texts)]


def configured(settings: Settings) -> CrossEncoderReranker:
    """Return the reranker with the first installed package; `MissingExtra` if none is installed."""
    for package, make_scorer in (
        ("fastembed.rerank.cross_encoder", _with_fastembed),
        ("sentence_transformers", _with_sentence_transformers),
    ):
        try:
            module = import_module(package)
        except ModuleNotFoundError:
            continue
        return CrossEncoderReranker(make_scorer(module, settings))
    raise MissingExtra(
        "The reranker 'cross-encoder' needs the package 'fastembed' or 'sentence_transformers'.",
        hint="pip install 'ragstone[fastembed]'",
    )


def _with_fastembed(module: Any, settings: Settings) -> Scorer:  # noqa: ANN401 - an optional package
    name = settings.rerank.model or _FASTEMBED_MODEL
    with loading(name):
        encoder = module.TextCrossEncoder(model_name=name)
    return lambda query, texts: list(encoder.rerank(query, list(texts)))


def _with_sentence_transformers(module: Any, settings: Settings) -> Scorer:  # noqa: ANN401 - as above
    name = settings.rerank.model or _TRANSFORMERS_MODEL
    with loading(name):
        encoder = module.CrossEncoder(name, device=choose_device(settings.embed.device))
    return lambda query, texts: encoder.predict([(query, text) for text in texts]).tolist()
