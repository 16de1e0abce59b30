"""AsyncEngine: the verbs of Engine as coroutines, for asyncio programs. The work runs in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, Self, TypeVar, Unpack

from ragstone import types
from ragstone.engine.engine import DEFAULT_PROJECT, Engine
from ragstone.engine.workspace import Workspace
from ragstone.protocols import Progress

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class AsyncVerbs:
    """The verbs of an engine, or of a client of a server, as coroutines."""

    def __init__(self, engine: Engine) -> None:
        """Wrap an engine."""
        self.engine = engine

    async def __aenter__(self) -> Self:
        """Return the engine."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the engine."""
        await self.close()

    async def close(self) -> None:
        """Stop watchers and close files."""
        await _run(self.engine.close)

    async def is_empty(self) -> bool:
        """Return whether nothing is stored."""
        return await _run(self.engine.is_empty)

    async def status(self) -> types.Status:
        """Return the state of the index at a glance."""
        return await _run(self.engine.status)

    async def add(
        self,
        documents: str | types.Document | Iterable[types.Document],
        **options: Unpack[types.AddOptions],
    ) -> types.AddReport:
        """Store documents, or a text with a `uri`, and return the counts."""
        return await _run(self.engine.add, documents, **options)

    async def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> types.SyncReport:
        """Make the collection match the folder and return the ledger; `progress` is called from a thread."""
        return await _run(
            self.engine.sync,
            paths,
            full=full,
            collection=collection,
            embed=embed,
            progress=progress,
        )

    async def remove(
        self,
        uri: str | None = None,
        *,
        ids: Sequence[str] | None = None,
        collection: str | None = None,
    ) -> int:
        """Remove documents and return how many were removed."""
        return await _run(self.engine.remove, uri, ids=ids, collection=collection)

    async def record_run(
        self,
        run_id: str,
        summary: str,
        changes: Iterable[Mapping[str, object]] = (),
        *,
        at: float | None = None,
        collection: str | None = None,
    ) -> types.AddReport:
        """Store the run of an agent and return the counts."""
        return await _run(
            self.engine.record_run, run_id, summary, changes, at=at, collection=collection
        )

    async def sources(
        self, *, collection: str | None = None, filters: Mapping[str, object] | None = None
    ) -> list[types.StoredDocument]:
        """Return every stored document, by uri."""
        return await _run(
            lambda: list(self.engine.sources(collection=collection, filters=filters))
        )

    async def search(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> list[types.Hit]:
        """Return the best hits, at most top_k."""
        return await _run(self.engine.search, query, top_k, **options)

    async def explain(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Explanation:
        """Return a search with its explanation."""
        return await _run(self.engine.explain, query, top_k, **options)

    async def retrieve(self, query: str, top_k: int = 12, **options: object) -> types.Retrieval:
        """Return the chunks for a question about code; the options are those of `Engine.retrieve`."""
        return await _run(lambda: self.engine.retrieve(query, top_k, **options))  # type: ignore[arg-type]

    async def context(
        self, task: str, budget: int = 1500, **options: Unpack[types.ContextOptions]
    ) -> types.Context:
        """Return cited text for a task inside a hard token budget."""
        return await _run(self.engine.context, task, budget, **options)

    async def inject(
        self, prompt_markdown: str, user_message: str, *, budget: int = 1500
    ) -> str:
        """Return the prompt with retrieved context after it."""
        return await _run(self.engine.inject, prompt_markdown, user_message, budget=budget)

    async def ask(
        self,
        query: str,
        top_k: int | None = None,
        *,
        tell: Callable[[str], object] | None = None,
        **options: Unpack[types.SearchOptions],
    ) -> types.Spoken:
        """Return a language model's answer with checked quotations; `tell` is called from a thread."""
        return await _run(lambda: self.engine.ask(query, top_k, tell=tell, **options))

    async def remember(
        self, session_id: str, role: str, content: str, **options: Unpack[types.TurnOptions]
    ) -> int:
        """Store a turn and return its number in the session."""
        return await _run(self.engine.remember, session_id, role, content, **options)

    async def turns(self, session_id: str, limit: int = 20) -> list[types.Turn]:
        """Return the last turns of a session, oldest first."""
        return await _run(self.engine.turns, session_id, limit)

    async def recall(
        self,
        session_id: str | None,
        query: str,
        top_k: int = 5,
        *,
        since: float | None = None,
        until: float | None = None,
    ) -> list[types.Recalled]:
        """Return the turns of a session that answer, best first; None searches all sessions."""
        return await _run(
            self.engine.recall, session_id, query, top_k, since=since, until=until
        )


class AsyncEngine(AsyncVerbs):
    """The same verbs as `Engine`. Facets are reached through `engine`, in a thread of the caller's choice."""

    @classmethod
    async def open(
        cls,
        folder: str | Path = ".",
        *,
        config: Mapping[str, object] | None = None,
        project: str = DEFAULT_PROJECT,
        workspace: Workspace | None = None,
    ) -> Self:
        """Return an engine for a folder, as `Engine.open` does."""
        return cls(
            await _run(Engine.open, folder, config=config, project=project, workspace=workspace)
        )


async def _run(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    return await asyncio.to_thread(work, *args, **kwargs)
