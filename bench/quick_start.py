"""What a peer's quick-start does in a folder of files: read them, embed everything, answer one question.

Run by the peer's own Python, once for each whole process that is timed. The model is ours, given through the door that
the peer has for that: its own would have to be fetched, and the same weights make the times comparable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import measure
from bench.adapters import library

TOP = 5
NOTES = {
    "chroma": "PersistentClient, each file one document, as its quick-start adds them",
    "llama-index": "SimpleDirectoryReader, VectorStoreIndex.from_documents with its own splitter, a retriever; no LLM",
}
LONGEST = 4_000
"""Characters: no 256 tokens have more, but of blanks."""
MODEL = "our MiniLM, cut off at 256 tokens, for its own model, which would have to be fetched"
"""What is true of both."""


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return how many pieces a quick-start embedded and how many hits it gave."""
    start = STARTS[spec["name"]]
    pieces, hits = start(
        Path(spec["folder"]), Path(spec["kept"]), spec["query"], int(spec["cores"])
    )
    return {"pieces": pieces, "hits": hits}


def chroma(folder: Path, kept: Path, query: str, cores: int) -> tuple[int, int]:
    """Return pieces and hits: a collection on disk, every file added, one query by text."""
    chromadb = library("chromadb")
    embed = embedder(cores)

    class Ours(chromadb.EmbeddingFunction):  # type: ignore[misc,name-defined]  # the peer's own class
        """Our model behind Chroma's door for one."""

        def __init__(self) -> None: ...

        def __call__(self, input: list[str]) -> Any:  # noqa: ANN401 - as the peer calls it
            return embed(input)

    quiet = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(kept), settings=quiet)
    collection = client.create_collection("files", embedding_function=Ours())
    names, texts = zip(*texts_in(folder), strict=True)
    step = client.get_max_batch_size()
    for at in range(0, len(names), step):
        collection.add(ids=list(names[at : at + step]), documents=list(texts[at : at + step]))
    return collection.count(), len(
        collection.query(query_texts=[query], n_results=TOP)["ids"][0]
    )


def llama_index(folder: Path, kept: Path, query: str, cores: int) -> tuple[int, int]:
    """Return pieces and hits: documents of a folder, an index in memory, a retriever."""
    core, embeddings = library("llama_index.core"), library("llama_index.core.embeddings")
    embed = embedder(cores)

    class Ours(embeddings.BaseEmbedding):  # type: ignore[misc,name-defined]  # the peer's own class
        """Our model behind LlamaIndex's door for one."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return list(map(float, embed([query])[0]))

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return list(map(float, embed([text])[0]))

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [list(map(float, row)) for row in embed(texts)]

    documents = core.SimpleDirectoryReader(str(folder), recursive=True).load_data()
    index = core.VectorStoreIndex.from_documents(
        documents, embed_model=Ours(model_name="minilm")
    )
    found = index.as_retriever(similarity_top_k=TOP).retrieve(query)
    return len(index.docstore.docs), len(found)


STARTS: dict[str, Callable[[Path, Path, str, int], tuple[int, int]]] = {
    "chroma": chroma,
    "llama-index": llama_index,
}


def embedder(cores: int) -> Callable[[list[str]], Any]:
    """Return our model as a function of texts; what is too long is cut off, as it is by the models it stands for."""
    from ragstone.embed.minilm import MiniLM

    model = MiniLM(threads=cores)

    def cut_off(text: str) -> str:
        text = text[:LONGEST]
        while (count := model.count_tokens(text)) > model.max_tokens:
            text = text[: len(text) * model.max_tokens // count]
        return text

    return lambda texts: model.embed([cut_off(text) for text in texts], "document")


def texts_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file below a folder, in order; hidden folders are left out."""
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(above, name)
            yield (
                path.relative_to(folder).as_posix(),
                path.read_text(encoding="utf-8", errors="replace"),
            )


if __name__ == "__main__":
    measure.answer(work)
