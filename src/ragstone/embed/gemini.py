"""Embeddings of Google's Gemini API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.config import Settings
from ragstone.embed.http_client import Json
from ragstone.embed.models import facts_about
from ragstone.embed.remote import (
    ProviderDefaults,
    RemoteEmbedder,
    RowsByPosition,
    remote_embedder,
)
from ragstone.embed.request_failures import BadReply
from ragstone.types import RequestSize, Role

DEFAULTS: Final = ProviderDefaults(
    name="gemini",
    title="Gemini",
    url="https://generativelanguage.googleapis.com/v1beta",
    model="gemini-embedding-001",
    request_size=RequestSize(texts=100, tokens=20_000),
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    start_hint="check the network",
)
_TASKS: Final[Mapping[Role, str]] = {
    "document": "RETRIEVAL_DOCUMENT",
    "query": "RETRIEVAL_QUERY",
}


@dataclass(frozen=True, slots=True)
class GeminiWire:
    """`POST /models/MODEL:batchEmbedContents`."""

    model: str
    dimension: int
    has_task_types: bool
    """Whether the role is sent as the task type; newer models get a prefix instead."""

    def request(self, texts: Sequence[str], role: Role) -> tuple[str, Json]:
        """Return the path and the body of a request."""
        options: dict[str, object] = {"outputDimensionality": self.dimension}
        if self.has_task_types:
            options["taskType"] = _TASKS[role]
        requests = [
            {
                "model": f"models/{self.model}",
                "content": {"parts": [{"text": text}]},
                **options,
            }
            for text in texts
        ]
        return f"/models/{self.model}:batchEmbedContents", {"requests": requests}

    def rows(self, reply: Json, count: int) -> RowsByPosition:
        """Return the rows in the order of the request; a short reply does not say which one is missing."""
        embeddings = reply["embeddings"]
        if len(embeddings) != count:
            raise BadReply(f"{len(embeddings)} vectors for {count} texts")
        return {number: entry["values"] for number, entry in enumerate(embeddings)}

    def tokens(self, reply: Json) -> int | None:
        """Return the tokens that the service counted."""
        return int(reply["usageMetadata"]["promptTokenCount"])


def configured(settings: Settings) -> RemoteEmbedder:
    """Return the embedder with the model and dimension in the settings."""
    return remote_embedder(settings, DEFAULTS, _make_wire, _headers)


def _make_wire(model: str, dimension: int, full_dimension: int) -> GeminiWire:
    has_prefixes = bool(facts_about(model).query_prefix)
    return GeminiWire(model.removeprefix("models/"), dimension, not has_prefixes)


def _headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}
