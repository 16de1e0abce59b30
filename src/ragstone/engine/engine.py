"""Engine: the one object that a caller holds. It delegates to its facets and has no algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self, Unpack

from ragstone import types
from ragstone.engine import facets
from ragstone.engine.project import Project
from ragstone.engine.searches import Searches
from ragstone.engine.workspace import Workspace, load_settings
from ragstone.indexing.sync import Policy
from ragstone.protocols import Progress

DEFAULT_PROJECT = "default"


class Engine:
    """Knowledge of one folder: add, sync, search, remember. Nothing is opened before it is needed."""

    def __init__(self, project: Project) -> None:
        """Use `Engine.open`. Without `enabled` every verb does nothing."""
        self.workspace = project.workspace
        self.settings = project.settings
        self.folder = project.settings.root
        self.home = project.settings.home
        self.project = project.name
        self.enabled = project.enabled
        self.events = project.events
        self.owns_workspace = False
        self._project = project
        self._searches = Searches(project)

    @classmethod
    def open(
        cls,
        folder: str | Path = ".",
        *,
        config: Mapping[str, object] | None = None,
        project: str = DEFAULT_PROJECT,
        workspace: Workspace | None = None,
    ) -> Self:
        """Return an engine for a folder; `config` overrides settings, and a workspace shares its store and models."""
        settings = load_settings(folder, config)
        engine = cls(Project(workspace or Workspace(settings), settings, project))
        engine.owns_workspace = workspace is None
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop watchers and close files, for good: a closed engine raises `InputError`."""
        for facet in ("admin", "agents"):
            if facet in self.__dict__:
                self.__dict__.pop(facet).close()
        self.__dict__.pop("memory", None)
        self._project.close()
        if self.owns_workspace:
            self.workspace.close()

    @cached_property
    def memory(self) -> facets.Memory:
        """Return the conversations of the project."""
        return facets.Memory(self._project)

    @cached_property
    def graph(self) -> facets.CodeGraph:
        """Return the code graph, and questions about code."""
        return facets.CodeGraph(self._searches)

    @cached_property
    def agents(self) -> facets.Agents:
        """Return the agents of other tools, and their documents."""
        return facets.Agents(self)

    @cached_property
    def admin(self) -> facets.Admin:
        """Return collections, maintenance, export and watching."""
        return facets.Admin(self._project)

    @cached_property
    def prompts(self) -> facets.Prompts:
        """Return the builder of prompts: contexts, selections, answers of a language model."""
        return facets.Prompts(self._searches)

    @cached_property
    def external(self) -> facets.External:
        """Return the writer of documents from outside the folder: texts, web pages, help of programs."""
        return facets.External(self._project)

    @property
    def exists(self) -> bool:
        """Return whether the folder was indexed before."""
        return self._project.exists

    def is_empty(self) -> bool:
        """Return whether nothing is stored."""
        return self._project.is_empty()

    def status(self) -> types.Status:
        """Return the state of the index at a glance."""
        return self.admin.status()

    def add(
        self,
        documents: str | types.Document | Iterable[types.Document],
        **options: Unpack[types.AddOptions],
    ) -> types.AddReport:
        """Store documents, or a text with a `uri`, and return the counts; durable when it returns."""
        return self.external.add(documents, **options)

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> types.SyncReport:
        """Make the collection match the folder, or some paths, and return the ledger; `full` reads every file."""
        return self._project.sync(
            paths, full=full, collection=collection, embed=embed, progress=progress
        )

    def remove(
        self,
        uri: str | None = None,
        *,
        ids: Sequence[str] | None = None,
        collection: str | None = None,
    ) -> int:
        """Remove documents by uri or by ids (a chunk's id removes its document) and return how many were removed."""
        return self._project.remove(uri, ids=ids, collection=collection)

    def record_run(
        self,
        run_id: str,
        summary: str,
        changes: Iterable[Mapping[str, object]] = (),
        *,
        at: float | None = None,
        collection: str | None = None,
    ) -> types.AddReport:
        """Store the run of an agent, each change with `path`, `action` and `summary`; return the counts."""
        return self.graph.record_run(run_id, summary, changes, at=at, collection=collection)

    def sources(
        self, *, collection: str | None = None, filters: Mapping[str, object] | None = None
    ) -> Iterator[types.StoredDocument]:
        """Yield every stored document, by uri."""
        return self._project.documents(collection=collection, filters=filters)

    def search(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> list[types.Hit]:
        """Return the best hits, at most top_k; an empty list if nothing matches."""
        return list(self.explain(query, top_k, **options).hits)

    def explain(
        self,
        query: str,
        top_k: int | None = None,
        *,
        policy: Policy | None = None,
        **options: Unpack[types.SearchOptions],
    ) -> types.Explanation:
        """Return a search with its explanation; `policy` says how the index is brought up to date first."""
        return self._searches.explain(query, top_k, policy, **options)

    def retrieve(
        self,
        query: str,
        top_k: int = 12,
        *,
        source_types: Sequence[str] | None = None,
        must_include_paths: Sequence[str] = (),
        include_run_summaries: bool = True,
        min_score: float = 0.25,
        collection: str | Sequence[str] | None = None,
        policy: Policy | None = None,
        **hints: str,
    ) -> types.Retrieval:
        """Return the chunks for a question about code; hints such as `table_name` name its subject."""
        limits = types.RetrieveLimits(
            source_types, must_include_paths, include_run_summaries, min_score
        )
        return self.graph.retrieve(
            query, top_k, limits, hints, collection=collection, policy=policy
        )

    def context(
        self,
        task: str,
        budget: int = 1500,
        *,
        policy: Policy | None = None,
        **options: Unpack[types.ContextOptions],
    ) -> types.Context:
        """Return cited text for a task inside a hard token budget, and the list of omitted hits."""
        return self.prompts.context(task, budget, policy=policy, **options)

    def inject(self, prompt_markdown: str, user_message: str, *, budget: int = 1500) -> str:
        """Return the prompt with retrieved context after it; unchanged if nothing fits."""
        return self.prompts.inject(prompt_markdown, user_message, budget=budget)

    def ask(
        self,
        query: str,
        top_k: int | None = None,
        *,
        tell: Callable[[str], object] | None = None,
        policy: Policy | None = None,
        **options: Unpack[types.SearchOptions],
    ) -> types.Spoken:
        """Return a language model's answer with checked quotations; `tell` gets each part of it as it comes."""
        return self.prompts.ask(query, top_k, tell=tell, policy=policy, **options)

    def remember(
        self, session_id: str, role: str, content: str, **options: Unpack[types.TurnOptions]
    ) -> int:
        """Store a turn and return its number in the session; durable when it returns."""
        return self.memory.remember(session_id, role, content, **options)

    def turns(self, session_id: str, limit: int = 20) -> list[types.Turn]:
        """Return the last turns of a session, oldest first; none if there is no such session."""
        return self.memory.turns(session_id, limit)

    def recall(
        self,
        session_id: str | None,
        query: str,
        top_k: int = 5,
        *,
        since: float | None = None,
        until: float | None = None,
    ) -> list[types.Recalled]:
        """Return the turns of a session that answer, best first; None searches all sessions of the project."""
        return self.memory.recall(session_id, query, top_k, since=since, until=until)
