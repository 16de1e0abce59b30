"""Embeddings of OpenAI, and of any service that speaks OpenAI's wire format."""

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
from ragstone.types import RequestSize, Role

DEFAULTS: Final = ProviderDefaults(
    name="openai",
    title="OpenAI",
    url="https://api.openai.com/v1",
    model="text-embedding-3-small",
    # The service takes 2,048 texts and 300,000 tokens. Smaller requests lose less if one fails.
    request_size=RequestSize(texts=128, tokens=50_000),
    key_variables=("OPENAI_API_KEY",),
    start_hint="check embed.url and the network",
)


@dataclass(frozen=True, slots=True)
class OpenAIWire:
    """`POST /embeddings`."""

    model: str
    dimension: int | None
    """Sent only if it differs from the dimension of the model: older models refuse it."""

    def request(self, texts: Sequence[str], role: Role) -> tuple[str, Json]:
        """Return the path and the body of a request."""
        body: dict[str, object] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self.dimension is not None:
            body["dimensions"] = self.dimension
        return "/embeddings", body

    def rows(self, reply: Json, count: int) -> RowsByPosition:
        """Return the rows by their index: the order of the reply is not promised."""
        return {int(entry["index"]): entry["embedding"] for entry in reply["data"]}

    def tokens(self, reply: Json) -> int | None:
        """Return the tokens that the service counted."""
        return int(reply["usage"]["prompt_tokens"])


def configured(settings: Settings) -> RemoteEmbedder:
    """Return the embedder with the model, dimension and address in the settings."""
    return remote_embedder(settings, DEFAULTS, _make_wire, _headers)


def _make_wire(model: str, dimension: int, full_dimension: int) -> OpenAIWire:
    is_shortened = 0 < full_dimension != dimension
    return OpenAIWire(model, dimension if is_shortened else None)


def _headers(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}
