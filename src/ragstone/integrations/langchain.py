"""A LangChain retriever: `RagstoneRetriever(engine=engine).invoke("…")`."""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra(
        "LangChain is not installed", hint="pip install 'ragstone[langchain]'"
    ) from error

from ragstone.engine import Engine


class RagstoneRetriever(BaseRetriever):
    """Searches an engine and returns LangChain documents with citations as metadata."""

    engine: Engine
    top_k: int = 5
    options: dict[str, Any] = {}
    """Options of `Engine.search`: mode, filters, collection, min_score and others."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(
                id=hit.doc_id,
                page_content=hit.text,
                metadata={
                    **hit.metadata,
                    "source": hit.path,
                    "citation": hit.citation,
                    "place": hit.citation,
                    "score": hit.score,
                },
            )
            for hit in self.engine.search(query, self.top_k, **self.options)
        ]
