"""Client and AsyncClient: the verbs of `Engine`, answered by a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, Unpack, cast

from ragstone import types
from ragstone.engine import Engine, arguments
from ragstone.engine.async_engine import AsyncVerbs
from ragstone.errors import InputError
from ragstone.protocols import Progress
from ragstone.surfaces.client import decoding
from ragstone.surfaces.client.connection import ServerConnection, read_failure
from ragstone.surfaces.present import Json

DEFAULT_URL: Final = "http://127.0.0.1:8377"
_PAGE: Final = 500
_WAIT_SECONDS: Final = 10


class Client:
    """Knowledge on a server: add, search, remember. A key belongs to one project of the server."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        seconds: float = 60.0,
        retries: int = 3,
    ) -> None:
        """Keep the address; `seconds` limits each request, `retries` counts new tries at a busy server."""
        self._connection = ServerConnection(url, key, seconds=seconds, retries=retries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    # ── the index ─────────────────────────────────────────────────────────────────────────────────

    def status(self) -> types.Status:
        """Return the state of the index at a glance."""
        return decoding.read_status(self._connection.get("/status"))

    def is_empty(self) -> bool:
        """Return whether nothing is stored."""
        return self.status().documents == 0

    def add(
        self,
        documents: str | types.Document | Iterable[types.Document],
        **options: Unpack[types.AddOptions],
    ) -> types.AddReport:
        """Store documents, or a text with a `uri`, and return the counts; durable when it returns."""
        checked = arguments.check_documents(
            documents, options.get("uri"), options.get("metadata")
        )
        body = {
            "documents": [_document_json(document) for document in checked],
            "collection": options.get("collection"),
            "embed": options.get("embed", True),
        }
        return decoding.read_add_report(self._connection.post("/documents", body))

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        embed: bool = True,
        progress: Progress | None = None,
    ) -> types.SyncReport:
        """Make the index match the server's folder, or some paths in it, and return the ledger."""
        listed = None if paths is None else [Path(path).as_posix() for path in paths]
        body = {"paths": listed, "full": full, "collection": collection, "embed": embed}
        job: Json = self._connection.post("/sync", body)["job"]
        while job["status"] not in ("done", "failed"):
            if progress is not None:
                at = job["progress"]
                progress(at["stage"], at["done"], at["total"])
            address = f"/jobs/{job['id']}"
            job = self._connection.get(address, wait_seconds=_WAIT_SECONDS)["job"]
        if job["status"] == "failed":
            raise read_failure(job["error"])
        return decoding.read_sync_report(job["result"])

    def remove(
        self,
        uri: str | None = None,
        *,
        ids: Sequence[str] | None = None,
        collection: str | None = None,
    ) -> int:
        """Remove documents by uri or by ids and return how many were removed."""
        body = {"uri": uri, "ids": ids, "collection": collection}
        removed: int = self._connection.post("/remove", body)["removed"]
        return removed

    def sources(
        self, *, collection: str | None = None, filters: Mapping[str, object] | None = None
    ) -> Iterator[types.StoredDocument]:
        """Yield every stored document, by uri."""
        cursor: str | None = ""
        while cursor is not None:
            page = self._connection.get(
                "/documents",
                collection=collection,
                filters=json.dumps(filters) if filters else None,
                limit=_PAGE,
                cursor=cursor or None,
            )
            yield from decoding.read_list(decoding.read_document, page["documents"])
            cursor = page["next_cursor"]

    def record_run(
        self,
        run_id: str,
        summary: str,
        changes: Iterable[Mapping[str, object]] = (),
        *,
        at: float | None = None,
        collection: str | None = None,
    ) -> types.AddReport:
        """Store the run of an agent and return the counts."""
        listed = [dict(change) for change in changes]
        body = {"run_id": run_id, "summary": summary, "changes": listed, "at": at}
        data = self._connection.post("/runs", {**body, "collection": collection})
        return decoding.read_add_report(data)

    # ── questions ─────────────────────────────────────────────────────────────────────────────────

    def search(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> list[types.Hit]:
        """Return the best hits, at most top_k; an empty list if nothing matches."""
        data = self._connection.post("/search", {"query": query, "top_k": top_k, **options})
        return list(decoding.read_explanation(data).hits)

    def explain(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Explanation:
        """Return a search with its explanation."""
        data = self._connection.post("/explain", {"query": query, "top_k": top_k, **options})
        return decoding.read_explanation(data)

    def retrieve(self, query: str, top_k: int = 12, **options: object) -> types.Retrieval:
        """Return the chunks for a question about code; the options are those of `Engine.retrieve`."""
        data = self._connection.post("/retrieve", {"query": query, "top_k": top_k, **options})
        return decoding.read_retrieval(data)

    def context(
        self, task: str, budget: int = 1500, **options: Unpack[types.ContextOptions]
    ) -> types.Context:
        """Return cited text for a task inside a hard token budget."""
        if options.pop("count", None) is not None:
            raise InputError("a server counts tokens itself", hint="leave `count` out")
        data = self._connection.post("/context", {"task": task, "budget": budget, **options})
        return decoding.read_context(data)

    def inject(self, prompt_markdown: str, user_message: str, *, budget: int = 1500) -> str:
        """Return the prompt with retrieved context after it; unchanged if nothing fits."""
        body = {"prompt_markdown": prompt_markdown, "user_message": user_message}
        data = self._connection.post("/inject", {**body, "budget": budget})
        return str(data["prompt_markdown"])

    # ── memory ────────────────────────────────────────────────────────────────────────────────────

    def remember(
        self, session_id: str, role: str, content: str, **options: Unpack[types.TurnOptions]
    ) -> int:
        """Store a turn and return its number in the session; durable when it returns."""
        body = {"session_id": session_id, "role": role, "content": content, **options}
        index: int = self._connection.post("/turns", body)["turn_index"]
        return index

    def turns(self, session_id: str, limit: int = 20) -> list[types.Turn]:
        """Return the last turns of a session, oldest first; none if there is no such session."""
        data = self._connection.get("/turns", session_id=session_id, limit=limit)
        return [decoding.read_turn(session_id, turn) for turn in data["turns"]]

    def recall(
        self,
        session_id: str,
        query: str,
        top_k: int = 5,
        *,
        since: float | None = None,
        until: float | None = None,
    ) -> list[types.Recalled]:
        """Return the turns of a session that answer, best first; `since` and `until` limit the time."""
        body = {"session_id": session_id, "query": query, "top_k": top_k}
        data = self._connection.post("/recall", {**body, "since": since, "until": until})
        return [decoding.read_recalled(session_id, result) for result in data["results"]]


class AsyncClient(AsyncVerbs):
    """The verbs of `Client` as coroutines."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        seconds: float = 60.0,
        retries: int = 3,
    ) -> None:
        """Keep the address, as `Client` does."""
        client = Client(url, key, seconds=seconds, retries=retries)
        super().__init__(cast(Engine, client))


def _document_json(document: types.Document) -> Json:
    if document.marks or document.beside:
        raise InputError(
            f"{document.uri} has pages or extra words, which a server reads itself",
            hint="upload the file",
        )
    return {
        "source_doc_id": document.uri,
        "content": document.text,
        "kind": document.kind,
        "language": document.language,
        "title": document.title,
        "metadata": dict(document.metadata),
    }
