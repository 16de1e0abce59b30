"""The graph facet: the code graph of a project, and questions about code."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from ragstone import registry
from ragstone.engine import arguments
from ragstone.engine.project import OFF, empty_query_notes
from ragstone.engine.searches import Asked, Searches
from ragstone.errors import InputError, StoreDamaged, StoreError, StoreTooNew
from ragstone.indexing.events import SEARCH_STARTED
from ragstone.indexing.graph import runs
from ragstone.indexing.sync import Changes, Policy, Proof
from ragstone.protocols import CodeQuestions, DocumentReader, Progress
from ragstone.retrieval.code import graph_answers, names
from ragstone.retrieval.code.history import node_history
from ragstone.retrieval.code.request import RetrievalRequest, checked_request
from ragstone.retrieval.code.retriever import CodeRetriever
from ragstone.retrieval.freshness import MAX_ROUNDS
from ragstone.types import (
    AddReport,
    Change,
    GraphReport,
    Impact,
    Json,
    Link,
    Node,
    Related,
    Request,
    Retrieval,
    RetrieveLimits,
    Scope,
    Story,
)

if TYPE_CHECKING:
    from ragstone.indexing.graph.updater import GraphUpdater

ROUTE_KINDS: Final = ("route", "api_endpoint")
_MAX_NODES: Final = 100_000
_PLACE: Final = attrgetter("collection", "uri", "line", "key")
_RUN_EMBED_SECONDS: Final = 2.0
"""Seconds that the vectors of a recorded run may take; without them it is found by words until the next sync."""

Names = str | Sequence[str] | None


class CodeGraph:
    """Nodes of the code and their links, their history, and answers from them."""

    def __init__(self, searches: Searches) -> None:
        """Take the searches of a project."""
        self._searches = searches
        self._project = searches.project

    @cached_property
    def _updater(self) -> GraphUpdater:
        return self._project.index.graph_updater()

    @cached_property
    def _questions(self) -> CodeQuestions | None:
        """Return the question engine of the first plug-in, if one is installed."""
        for name in registry.names("code_questions"):
            questions: CodeQuestions = registry.load("code_questions", name)()
            return questions
        return None

    # ── building ──────────────────────────────────────────────────────────────────────────────────

    def update(
        self, *, collection: str | None = None, progress: Progress | None = None
    ) -> tuple[GraphReport, ...]:
        """Read the files that changed since the graphs were built, and return a report for each collection.

        A sync does this too, and so does every question about the graph.
        """
        if not self._project.enabled:
            return ()
        selected = self._project.selected(collection)
        return tuple(self._updater.update(name, progress=progress) for name in selected)

    def exists(self, *, collection: Names = None) -> bool:
        """Return whether the graph has any node; nothing is read or built."""
        if not self._project.enabled:
            return False
        return bool(self._project.store.graph.nodes(self._project.scope(collection), limit=1))

    def import_listing(self, listing: str, *, collection: str | None = None) -> GraphReport:
        """Import the listing of the framework's own command as `runtime` evidence, and return a report.

        For Laravel this is `php artisan route:list --json`. An empty list removes the earlier listing.
        """
        self._project.require_enabled()
        name = self._project.existing(collection)
        self._current_scope(name)
        return self._updater.import_listing(name, listing)

    def record_run(
        self,
        run_id: str,
        summary: str,
        changes: Iterable[Mapping[str, object]] = (),
        *,
        at: float | None = None,
        collection: str | None = None,
    ) -> AddReport:
        """Store the run of an agent and return the counts; the same id again replaces the earlier record."""
        run = runs.checked_run(run_id, summary, changes, at)
        if not self._project.enabled:
            return AddReport(0, 0, 0)
        name = self._project.collection_name(collection)
        index = self._project.index
        writer = index.collection(name).writer()
        self._updater.update(name)
        results = runs.record_run(writer, run)
        embedded = index.collection(name).backfill().run_if_few(_RUN_EMBED_SECONDS)
        return AddReport(
            documents=len(results),
            chunks_added=sum(result.added for result in results),
            chunks_skipped=sum(result.kept for result in results),
            embedded=embedded,
            pending=index.collection(name).backfill().pending(),
            per_document=tuple(results),
            remarks=writer.remarks(results),
        )

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def node(
        self, name: str | Node, *, kinds: Sequence[str] | None = None, collection: Names = None
    ) -> Node:
        """Return the node with this key, path or name.

        `NotFound` with similar names; `InputError` with all candidates if the name is ambiguous.
        """
        scope, checked_kinds = self._current_scope(collection), arguments.check_kinds(kinds)
        return self._find_node(self._project.store, name, scope, checked_kinds)

    def explain(
        self, node: Node, limit: int | None = None, *, collection: Names = None
    ) -> Story:
        """Return everything that is known of a node, at most `limit` links each way."""
        if limit is None:
            limit = graph_answers.MAX_LINKS
        arguments.check_count("limit", limit)
        scope = self._current_scope(collection)
        with self._project.store.snapshot() as view:
            return graph_answers.node_story(view.graph, scope, node, limit=limit)

    def related(
        self,
        name: str | Node,
        *,
        kinds: Sequence[str] | None = None,
        hops: int = 1,
        limit: int = 50,
        collection: Names = None,
    ) -> list[Related]:
        """Return the nodes that a node is connected to, nearest first, each with the links that lead there.

        `kinds` limits the result to kinds of nodes (`table`), or the way to kinds of links (`MAPS_TO`).
        """
        arguments.check_count("limit", limit)
        arguments.check_count("hops", hops)
        if not self._project.enabled:
            return []
        if not 1 <= hops <= graph_answers.MAX_HOPS:
            message = f"hops is from 1 to {graph_answers.MAX_HOPS}"
            raise InputError(message, hint="related(name, hops=2)")
        scope = self._current_scope(collection)
        reach = graph_answers.Reach(arguments.check_kinds(kinds) or (), hops, limit)
        with self._project.store.snapshot() as view:
            node = self._find_node(view, name, scope)
            return graph_answers.related_nodes(view.graph, scope, node, reach)

    def impact(self, name: str | Node, *, collection: Names = None) -> Impact:
        """Return the nodes that depend on a file or a symbol, by kind: routes first, then the nearest."""
        if not self._project.enabled:
            return Impact((), ())
        scope = self._current_scope(collection)
        with self._project.store.snapshot() as view:
            node = self._find_node_or_file(view, name, scope)
            return graph_answers.impact_of(view.graph, scope, node)

    def history(
        self,
        name: str | Node,
        *,
        limit: int = 50,
        commits: bool = True,
        collection: Names = None,
    ) -> list[Change]:
        """Return the changes of a file, a symbol or a table: runs, migrations, commits; newest first."""
        arguments.check_count("limit", limit)
        if not self._project.enabled:
            return []
        scope = self._current_scope(collection)
        root = self._project.settings.base if commits else None
        with self._project.store.snapshot() as view:
            node = self._find_node_or_file(view, name, scope)
            return node_history(view.graph, scope, node, root=root, limit=limit)

    def nodes(
        self,
        *,
        kinds: Sequence[str] | None = None,
        limit: int = _MAX_NODES,
        collection: Names = None,
    ) -> list[Node]:
        """Return all nodes, or some kinds of them, by file and line."""
        arguments.check_count("limit", limit)
        return self._list_nodes(arguments.check_kinds(kinds), collection)[:limit]

    def count_kinds(self, *, collection: Names = None) -> dict[str, int]:
        """Return how many nodes there are of each kind, by kind."""
        return self._project.store.graph.count_kinds(self._current_scope(collection))

    def most_linked(
        self, kinds: Sequence[str], limit: int, *, collection: Names = None
    ) -> list[Node]:
        """Return the nodes of some kinds with the most links, at most `limit`, by file and line."""
        scope = self._current_scope(collection)
        with self._project.store.snapshot() as view:
            keys = view.graph.most_linked(scope, kinds, limit=limit)
            nodes = view.graph.nodes(scope, keys=keys[:limit], kinds=kinds, limit=limit)
        return sorted(nodes, key=_PLACE)

    def links(self, nodes: Sequence[Node], *, collection: Names = None) -> list[Link]:
        """Return the links between these nodes."""
        if not self._project.enabled:
            return []
        keys = {node.key for node in nodes}
        scope = self._current_scope(collection)
        links = self._project.store.graph.links(scope, sorted(keys), limit=_MAX_NODES)
        return [link for link in links if link.target in keys]

    def routes(self, *, collection: Names = None) -> list[Node]:
        """Return the routes of the project, by file and line."""
        return self._list_nodes(ROUTE_KINDS, collection)

    def tables(self, *, collection: Names = None) -> list[Node]:
        """Return the tables that exist after all migrations, by name."""
        tables = self._list_nodes(("table",), collection)
        existing = [node for node in tables if not node.attributes.get("dropped")]
        return sorted(existing, key=lambda node: node.name)

    def models(self, *, collection: Names = None) -> list[Node]:
        """Return the models of the project, by name."""
        models = self._list_nodes(("model",), collection)
        return sorted(models, key=lambda node: (node.name, node.key))

    def unknowns(self, *, collection: str | None = None) -> tuple[str, ...]:
        """Return the references in the code that could not be resolved, and why, by place."""
        if not self._project.enabled:
            return ()
        remarks: list[str] = []
        for name in self._project.selected(collection):
            remarks += self._updater.remarks(name)
        return tuple(remarks)

    # ── questions ─────────────────────────────────────────────────────────────────────────────────

    def retrieve(
        self,
        query: str,
        top_k: int,
        limits: RetrieveLimits,
        hints: Mapping[str, str],
        *,
        collection: Names = None,
        policy: Policy | None = None,
    ) -> Retrieval:
        """Return the chunks for a question: the evidence of the graph first, then search hits."""
        started = time.perf_counter()
        known_hints = self._questions.hints if self._questions else ()
        request = RetrievalRequest(query, self._project.scope(), top_k, limits, hints)
        request = checked_request(request, known_hints)
        if not self._project.enabled:
            return _disabled_retrieval(query)
        self._project.events.emit(SEARCH_STARTED, query=query, mode="retrieve", top_k=top_k)
        notes: tuple[str, ...] = ()
        if policy is not None:
            notes = self._project.index.ensure_current(policy).notes
        scope = self._current_scope(collection)
        retrieval = self._retrieve_fresh(replace(request, scope=scope), collection)
        notes += empty_query_notes(query)
        if retrieval.downgraded:
            notes = (*notes, self._searches.plan_note(retrieval.downgraded))
        milliseconds = round((time.perf_counter() - started) * 1000, 2)
        asked = Asked("retrieve", top_k)
        self._searches.emit_completed(query, retrieval.chunks, milliseconds, asked)
        debug: dict[str, Json] = {**retrieval.debug, "latency_ms": milliseconds}
        return replace(retrieval, debug=debug, notes=notes)

    def _retrieve_fresh(self, request: RetrievalRequest, collection: Names) -> Retrieval:
        """Retrieve until every chunk's file is proven fresh, at most a few rounds."""
        search = self._project.settings.search
        template = Request(
            "", request.scope, fusion=search.fusion, candidates=search.candidates
        )
        template, downgraded = self._searches.apply_plan(template)
        freshness = self._searches.freshness
        retriever = CodeRetriever(
            self._project.store,
            self._questions,
            freshness.answer,
            template,
            lambda: self._current_scope(collection),
        )
        retrieval = retriever.run(request)
        for _ in range(MAX_ROUNDS):
            chunks, changed = freshness.check(retrieval.chunks)
            retrieval = replace(retrieval, chunks=chunks)
            if not changed:
                break
            self._project.index.ensure_current(Proof(changed))
            self._current_scope(collection)
            retrieval = retriever.run(request)
        chunks = self._searches.with_related(retrieval.chunks, request.scope)
        return replace(retrieval, chunks=chunks, downgraded=downgraded)

    # ── helpers ───────────────────────────────────────────────────────────────────────────────────

    def _current_scope(self, collection: Names) -> Scope:
        """Return the scope of some collections, after their files and graphs were brought up to date."""
        self._project.require_enabled()
        scope = self._project.scope(collection)
        self._project.index.ensure_current(Changes(embed=False))
        try:
            for name in self._project.index.names():
                if scope.collections is None or name in scope.collections:
                    self._updater.update(name)
        except (StoreDamaged, StoreTooNew):
            raise
        except StoreError:  # read-only or busy: the stored graph answers
            pass
        return scope

    def _find_node(
        self,
        view: DocumentReader,
        name: str | Node,
        scope: Scope,
        kinds: Sequence[str] | None = None,
    ) -> Node:
        if isinstance(name, Node):
            return name
        relative = self._relative_path(arguments.check_name(name, "what is asked about"))
        return names.find_node(view.graph, scope, relative, kinds=kinds)

    def _find_node_or_file(self, view: DocumentReader, name: str | Node, scope: Scope) -> Node:
        """Return a node by name; a path without a node, or of a deleted file, becomes a node itself."""
        if isinstance(name, str):
            path = self._relative_path(name)
            if self._is_bare_path(view, path, scope):
                return Node(f"file:{path}", "file", path.rpartition("/")[2], path)
        return self._find_node(view, name, scope)

    def _relative_path(self, name: str) -> str:
        """Return a path as documents are named, relative to the folder; any other name unchanged."""
        if name.startswith("/"):
            base = self._project.settings.base.as_posix().rstrip("/")
            return name.removeprefix(f"{base}/") or name
        return name.removeprefix("./") or name

    def _is_bare_path(self, view: DocumentReader, path: str, scope: Scope) -> bool:
        """Return whether a path has no node, but is a stored document or was changed by a run."""
        if view.graph.nodes(scope, keys=[f"file:{path}"]):
            return False
        for name in scope.collections or self._project.index.names():
            if view.document(self._project.index.key(name), path):
                return True
        key = f"file:{path}"
        return bool(view.graph.links(scope, [key], kinds=("CHANGED",), back=True, limit=1))

    def _list_nodes(self, kinds: Sequence[str] | None, collection: Names) -> list[Node]:
        if not self._project.enabled:
            return []
        scope = self._current_scope(collection)
        nodes = self._project.store.graph.nodes(scope, kinds=kinds, limit=_MAX_NODES)
        return sorted(nodes, key=_PLACE)


def _disabled_retrieval(query: str) -> Retrieval:
    """Return an empty result that says why it is empty."""
    debug: dict[str, Json] = {
        "strategy": "off",
        "latency_ms": 0.0,
        "total_candidates": 0,
        "scores": {},
        "notes": [OFF],
    }
    return Retrieval(query, (), None, debug)
