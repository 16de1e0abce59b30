"""A LlamaIndex retriever: `RagstoneRetriever(engine).retrieve("…")`."""

from __future__ import annotations

from typing import Unpack

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra(
        "LlamaIndex is not installed", hint="pip install 'ragstone[llama-index]'"
    ) from error

from ragstone.engine import Engine
from ragstone.types import SearchOptions


class RagstoneRetriever(BaseRetriever):
    """Searches an engine and returns LlamaIndex nodes with citations as metadata."""

    def __init__(
        self, engine: Engine, top_k: int = 5, **options: Unpack[SearchOptions]
    ) -> None:
        """Keep an engine and options of `Engine.search`."""
        super().__init__()
        self._engine = engine
        self._top_k = top_k
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.doc_id,
                    text=hit.text,
                    metadata={
                        **hit.metadata,
                        "source": hit.path,
                        "citation": hit.citation,
                        "place": hit.citation,
                    },
                ),
                score=hit.score,
            )
            for hit in self._engine.search(query_bundle.query_str, self._top_k, **self._options)
        ]
