"""Embeddings of a local Ollama."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.config import Settings
from ragstone.embed.http_client import Json
from ragstone.embed.remote import (
    ProviderDefaults,
    RemoteEmbedder,
    RowsByPosition,
    remote_embedder,
)
from ragstone.embed.request_failures import BadReply
from ragstone.types import RequestSize, Role

DEFAULTS: Final = ProviderDefaults(
    name="ollama",
    title="Ollama",
    url="http://127.0.0.1:11434",
    model="nomic-embed-text",
    request_size=RequestSize(texts=64, tokens=20_000),
    start_hint="start it with `ollama serve`, or set embed.url",
)


@dataclass(frozen=True, slots=True)
class OllamaWire:
    """`POST /api/embed`."""

    model: str
    dimension: int | None
    """Sent only if it differs from the dimension of the model."""

    def request(self, texts: Sequence[str], role: Role) -> tuple[str, Json]:
        """Return the path and the body of a request."""
        # Without `truncate` the end of a long text would be left out silently.
        body: dict[str, object] = {"model": self.model, "input": list(texts), "truncate": False}
        if self.dimension is not None:
            body["dimensions"] = self.dimension
        return "/api/embed", body

    def rows(self, reply: Json, count: int) -> RowsByPosition:
        """Return the rows in the order of the request; a short reply does not say which one is missing."""
        embeddings = reply["embeddings"]
        if len(embeddings) != count:
            raise BadReply(f"{len(embeddings)} vectors for {count} texts")
        return dict(enumerate(embeddings))

    def tokens(self, reply: Json) -> int | None:
        """Return the tokens that the service counted."""
        return int(reply["prompt_eval_count"])


def configured(settings: Settings) -> RemoteEmbedder:
    """Return the embedder with the model, dimension and address in the settings."""
    return remote_embedder(settings, DEFAULTS, _make_wire, _headers)


def _make_wire(model: str, dimension: int, full_dimension: int) -> OllamaWire:
    is_shortened = 0 < full_dimension != dimension
    return OllamaWire(model, dimension if is_shortened else None)


def _headers(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}
