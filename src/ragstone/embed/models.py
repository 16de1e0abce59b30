"""Facts about embedding models: dimension, limit, the prefixes they were trained with, and the list price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ragstone.errors import ConfigError

_SEARCH_INSTRUCTION: Final = "Represent this sentence for searching relevant passages: "
_SEARCH_RESULT: Final = ("task: search result | query: ", "title: none | text: ")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts about one model. The dimension is 0 if it is not known."""

    dimension: int = 0
    max_tokens: int = 512
    query_prefix: str = ""
    document_prefix: str = ""
    price: float | None = None
    """Dollars per million tokens, as of November 2026."""


_MODELS: Final[dict[str, ModelFacts]] = {
    "text-embedding-3-small": ModelFacts(1536, 8191, price=0.02),
    "text-embedding-3-large": ModelFacts(3072, 8191, price=0.13),
    "text-embedding-ada-002": ModelFacts(1536, 8191, price=0.10),
    "gemini-embedding-001": ModelFacts(3072, 2048, price=0.15),
    "gemini-embedding-2": ModelFacts(3072, 8192, *_SEARCH_RESULT, price=0.20),
    "gemini-embedding-2-preview": ModelFacts(3072, 8192, *_SEARCH_RESULT, price=0.20),
    "all-minilm-l6-v2": ModelFacts(384, 256),
    "all-minilm-l12-v2": ModelFacts(384, 128),
    "all-minilm": ModelFacts(384, 256),
    "all-mpnet-base-v2": ModelFacts(768, 384),
    "bge-small-en-v1.5": ModelFacts(384, 512, _SEARCH_INSTRUCTION),
    "bge-base-en-v1.5": ModelFacts(768, 512, _SEARCH_INSTRUCTION),
    "bge-large-en-v1.5": ModelFacts(1024, 512, _SEARCH_INSTRUCTION),
    "bge-m3": ModelFacts(1024, 8192),
    "e5-small-v2": ModelFacts(384, 512, "query: ", "passage: "),
    "e5-base-v2": ModelFacts(768, 512, "query: ", "passage: "),
    "e5-large-v2": ModelFacts(1024, 512, "query: ", "passage: "),
    "multilingual-e5-small": ModelFacts(384, 512, "query: ", "passage: "),
    "multilingual-e5-base": ModelFacts(768, 512, "query: ", "passage: "),
    "multilingual-e5-large": ModelFacts(1024, 512, "query: ", "passage: "),
    "nomic-embed-text": ModelFacts(768, 2048, "search_query: ", "search_document: "),
    "nomic-embed-text-v1": ModelFacts(768, 2048, "search_query: ", "search_document: "),
    "nomic-embed-text-v1.5": ModelFacts(768, 2048, "search_query: ", "search_document: "),
    "mxbai-embed-large": ModelFacts(1024, 512, _SEARCH_INSTRUCTION),
    "mxbai-embed-large-v1": ModelFacts(1024, 512, _SEARCH_INSTRUCTION),
    "snowflake-arctic-embed": ModelFacts(1024, 512, _SEARCH_INSTRUCTION),
    "snowflake-arctic-embed2": ModelFacts(1024, 8192, "query: "),
    "embeddinggemma": ModelFacts(768, 2048, *_SEARCH_RESULT),
}
_FAMILIES: Final[tuple[tuple[str, str, str], ...]] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("multilingual-e5-", "query: ", "passage: "),
    ("e5-", "query: ", "passage: "),
    ("bge-small-en", _SEARCH_INSTRUCTION, ""),
    ("bge-base-en", _SEARCH_INSTRUCTION, ""),
    ("bge-large-en", _SEARCH_INSTRUCTION, ""),
)
"""Prefixes of model families: the beginning of the name, the query prefix, the document prefix."""


def facts_about(model: str) -> ModelFacts:
    """Return the facts about a model; its organisation (`BAAI/`) and tag (`:latest`) do not matter."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    if name in _MODELS:
        return _MODELS[name]
    for beginning, query_prefix, document_prefix in _FAMILIES:
        if name.startswith(beginning):
            return ModelFacts(query_prefix=query_prefix, document_prefix=document_prefix)
    return ModelFacts()


def known_dimension(model: str, dimension: int | None) -> int:
    """Return the dimension in the settings, else that of the model; raise `ConfigError` if neither is known."""
    number = dimension or facts_about(model).dimension
    if not number:
        raise ConfigError(
            f"The dimension of the model {model!r} is not known here.",
            hint="set embed.dimension to the number of numbers in its vectors",
        )
    return number
