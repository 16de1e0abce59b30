"""Rerankers behind a service: Cohere, Voyage and Jina."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.config import Settings, check_key, provider_key
from ragstone.embed.http_client import Json, ServiceClient, ServiceNames
from ragstone.embed.request_failures import BadReply
from ragstone.embed.retries import Patience
from ragstone.errors import ConfigError

_ATTEMPTS: Final = 3
_MAX_TEXTS: Final = 1000
"""What the services take in one request."""


@dataclass(frozen=True, slots=True)
class RerankFormat:
    """The address and the wire format of one service."""

    name: str
    title: str
    url: str
    path: str
    model: str
    key_variables: tuple[str, ...]
    top_field: str
    """The field with the number of results."""
    results_field: str
    """The field of the reply with the results."""
    extra_fields: tuple[tuple[str, object], ...] = ()


COHERE: Final = RerankFormat(
    "cohere",
    "Cohere",
    "https://api.cohere.com",
    "/v2/rerank",
    "rerank-v3.5",
    ("COHERE_API_KEY", "CO_API_KEY"),
    "top_n",
    "results",
)
VOYAGE: Final = RerankFormat(
    "voyage",
    "Voyage",
    "https://api.voyageai.com/v1",
    "/rerank",
    "rerank-2.5",
    ("VOYAGE_API_KEY",),
    "top_k",
    "data",
    (("truncation", True),),
)
JINA: Final = RerankFormat(
    "jina",
    "Jina",
    "https://api.jina.ai/v1",
    "/rerank",
    "jina-reranker-v3",
    ("JINA_API_KEY",),
    "top_n",
    "results",
    (("return_documents", False),),
)


@dataclass(slots=True)
class ServiceReranker:
    """Scores texts with a model behind a service."""

    format: RerankFormat
    client: ServiceClient
    model: str
    seconds: float

    @property
    def name(self) -> str:
        """Return the name of the reranker."""
        return self.format.name

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better; raise `ProviderError` if the service fails."""
        patience = Patience(self.seconds, self.seconds, _ATTEMPTS)
        scores: list[float] = []
        for start in range(0, len(texts), _MAX_TEXTS):
            part = list(texts[start : start + _MAX_TEXTS])
            body = {
                "model": self.model,
                "query": query,
                "documents": part,
                self.format.top_field: len(part),
                **dict(self.format.extra_fields),
            }
            reply = self.client.post(self.format.path, body, patience)
            scores += self._scores(reply, len(part))
        return scores

    def _scores(self, reply: Json, count: int) -> list[float]:
        """Return the scores in the order of the texts; the service returns the best first."""
        try:
            results = reply[self.format.results_field]
            by_index = {int(row["index"]): float(row["relevance_score"]) for row in results}
            return [by_index[number] for number in range(count)]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadReply(
                f"{self.format.title} did not score all {count} texts", retryable=True
            ) from error


def cohere(settings: Settings) -> ServiceReranker:
    """Return Cohere's reranker."""
    return _configured(settings, COHERE)


def voyage(settings: Settings) -> ServiceReranker:
    """Return Voyage's reranker."""
    return _configured(settings, VOYAGE)


def jina(settings: Settings) -> ServiceReranker:
    """Return Jina's reranker."""
    return _configured(settings, JINA)


def _configured(settings: Settings, format: RerankFormat) -> ServiceReranker:
    rerank = settings.rerank
    variables = f"{format.key_variables[0]} or RAGSTONE_RERANK_API_KEY"
    key = check_key(rerank.api_key or "", "rerank.api_key")
    key = key or provider_key(format.key_variables) or ""
    if not key and not rerank.url:
        raise ConfigError(f"The reranker {format.name!r} needs a key.", hint=f"set {variables}")
    model = rerank.model or format.model
    names = ServiceNames(format.title, model, "rerank", variables)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = ServiceClient(rerank.url or format.url, names, headers)
    return ServiceReranker(format, client, model, float(rerank.seconds))
