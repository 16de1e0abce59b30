"""An embedder with a model of another package on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.config import Settings
from ragstone.embed.argument_checks import check_texts
from ragstone.embed.downloads import embedding
from ragstone.embed.model_folder import ModelFolder
from ragstone.embed.models import facts_about, known_dimension
from ragstone.errors import ProviderError
from ragstone.protocols import Progress
from ragstone.text.tokens import estimate
from ragstone.types import Role, Space

Vectors: TypeAlias = NDArray[np.float32]
ModelFunction: TypeAlias = Callable[[Sequence[str]], Vectors]

_BATCH: Final = 64


@dataclass(slots=True)
class LocalModel:
    """Embeds with a local model, which is loaded on first use. Prefixes follow the role."""

    space: Space
    max_tokens: int
    load: Callable[[], ModelFunction]
    _model: ModelFunction | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @classmethod
    def configured(
        cls,
        name: str,
        model: str,
        dimension: int | None,
        settings: Settings,
        load: Callable[[], ModelFunction],
        folder: ModelFolder | None = None,
    ) -> LocalModel:
        """Return an embedder; the prefixes are those in the settings, else those that the model was trained with.

        If the model is in a folder, its files state the dimension, and other files are another space.
        """
        embed = settings.embed
        facts = folder.facts() if folder else facts_about(model)
        query_prefix, document_prefix = facts.query_prefix, facts.document_prefix
        if embed.query_prefix is not None:
            query_prefix = embed.query_prefix
        if embed.document_prefix is not None:
            document_prefix = embed.document_prefix
        space = Space(
            embedder=name,
            model=model,
            dimension=known_dimension(model, dimension or embed.dimension or facts.dimension),
            query_prefix=query_prefix,
            document_prefix=document_prefix,
            normalised=True,
            version=folder.version() if folder else "1",
        )
        return cls(space, facts.max_tokens, load)

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Vectors:
        """Return one unit row per text, in order."""
        check_texts(texts, role)
        prefix = self.space.query_prefix if role == "query" else self.space.document_prefix
        rows = np.zeros((len(texts), self.space.dimension), np.float32)
        for start in range(0, len(texts), _BATCH):
            part = [prefix + text for text in texts[start : start + _BATCH]]
            rows[start : start + len(part)] = self._embed_part(part)
            if progress is not None:
                progress("embed", start + len(part), len(texts))
        return rows

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens the model sees in a text."""
        return estimate(text)

    def _embed_part(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            if self._model is None:
                self._model = self.load()
            with embedding(self.space.model):
                rows = self._model(texts)
        if rows.shape != (len(texts), self.space.dimension) or not np.isfinite(rows).all():
            raise ProviderError(
                f"{self.space.model} gave vectors of the shape {rows.shape}, not "
                f"{len(texts)} × {self.space.dimension}",
                hint="set embed.dimension to the dimension of the model",
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        return np.asarray(rows / lengths, dtype=np.float32)
