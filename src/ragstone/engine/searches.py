"""Searches of an engine: the request is checked, the index brought up to date, the events emitted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple, Unpack

from ragstone.config.server_sections import server_name
from ragstone.engine import arguments, facets
from ragstone.engine.project import OFF, Project, empty_query_notes
from ragstone.indexing.collection import skip_reason
from ragstone.indexing.events import SEARCH_COMPLETED, SEARCH_STARTED
from ragstone.retrieval.freshness import FreshnessCheck
from ragstone.sources.secrets.placeholders import has_placeholder
from ragstone.store.filters import describe_filters, parse
from ragstone.text.globs import readable_pattern
from ragstone.types import CollectionKey, Explanation, Hit, Mode, Request, Scope, SearchOptions

if TYPE_CHECKING:
    from ragstone.indexing.sync import Policy


TYPE_OPENING: Final = re.compile(
    r"\b(?:class|interface|trait|enum|struct|record|object|protocol)\s+\w"
    r"|\btype\s+\w+(?:\[.*\])?\s+(?:struct|interface)\b"
)
"""A quick test for the opening line of a class: the graph then knows its methods."""


class Asked(NamedTuple):
    """The mode and the number of hits that the event of a search names."""

    mode: str
    top_k: int


class Searches:
    """Runs the searches of one project."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self.project = project

    @cached_property
    def freshness(self) -> FreshnessCheck:
        """Return the check that proves hits fresh."""
        return FreshnessCheck(self.project.index, self.project.workspace.searcher)

    def explain(
        self,
        query: str,
        top_k: int | None = None,
        policy: Policy | None = None,
        **options: Unpack[SearchOptions],
    ) -> Explanation:
        """Return a search with its explanation, and emit the event of a completed search."""
        explanation = self.find(query, top_k, policy, **options)
        asked = self.asked(top_k, options)
        self.emit_completed(query, explanation.hits, explanation.milliseconds, asked)
        return explanation

    def find(
        self,
        query: str,
        top_k: int | None = None,
        policy: Policy | None = None,
        **options: Unpack[SearchOptions],
    ) -> Explanation:
        """Return a search with its explanation. The caller emits the event, when it knows which hits it used."""
        self.project.require_open()
        system = arguments.system_collection(options)
        if system is not None:
            return self._find_in_system(system, query, top_k, options)
        request = self.request(query, top_k, options)
        notes = self._reasons_for_nothing(request)
        if notes:
            return Explanation(query, "keywords", (), {}, {}, 0, (), (), notes, 0.0)
        request, downgraded = self.apply_plan(request)
        self.project.events.emit(
            SEARCH_STARTED, query=query, mode=request.mode, top_k=request.top_k
        )
        explanation = self._search(request, policy, fresh=options.get("fresh", True))
        if downgraded:
            notes = (*explanation.notes, self.plan_note(downgraded))
            explanation = replace(explanation, downgraded=downgraded, notes=notes)
        explanation = self._explain_filter(explanation, request, options)
        explanation = _explain_placeholders(explanation)
        sessions = options.get("memory", False)
        if sessions is False:
            return explanation
        return facets.Memory(self.project).add_turns(explanation, request, sessions)

    def _reasons_for_nothing(self, request: Request) -> tuple[str, ...]:
        """Return why a request has no hits without a search; nothing if it is searched."""
        if not self.project.enabled:
            return (OFF,)
        if request.top_k == 0:
            return ("no hits were asked for",)
        return empty_query_notes(request.query)

    def _explain_filter(
        self, explanation: Explanation, request: Request, options: SearchOptions
    ) -> Explanation:
        """Return an answer without hits with a note if no document passes the filter."""
        filters = options.get("filters")
        if explanation.hits or not filters:
            return explanation
        store = self.project.store
        if store.documents(request.scope, filter=request.filter, limit=1):
            return explanation
        note = f"no document matches the filter {describe_filters(filters)}"
        notes = (*explanation.notes, note, *self._explain_skipped(filters.get("path")))
        return replace(explanation, notes=notes)

    def _explain_skipped(self, paths: object) -> Iterator[str]:
        """Yield why files that a filter names are not in the index."""
        named = paths if isinstance(paths, list) else [paths]
        for path in named:
            if isinstance(path, str):
                name = readable_pattern(path)
                reason = skip_reason(self.project.settings, name)
                if reason:
                    yield f"{name} is skipped: {reason}"

    def _find_in_system(
        self, name: str, query: str, top_k: int | None, options: SearchOptions
    ) -> Explanation:
        """Return a search in Ragstone's own documents, or in the descriptions of tools."""
        self.project.require_enabled()
        request = self.request(query, top_k, {**options, "collection": None})
        servers = [server_name(entry) for entry in self.project.settings.mcp.servers]
        return self.project.workspace.system.search(name, request, servers)

    def _search(self, request: Request, policy: Policy | None, *, fresh: bool) -> Explanation:
        """Search the store, and the collection on another server if the request includes it."""
        remote = self.project.workspace.components.remote
        names = request.scope.collections
        if remote.name is None or request.scope.kind != "documents":
            return self._search_store(request, policy, fresh=fresh)
        if names is not None and remote.name not in names:
            return self._search_store(request, policy, fresh=fresh)
        if names is None:
            names = tuple(self.project.index.names())
        local_names = tuple(name for name in names if name != remote.name)
        local: Explanation | None = None
        if local_names:
            scope = replace(request.scope, collections=local_names)
            local = self._search_store(replace(request, scope=scope), policy, fresh=fresh)
        return facets.search_remote(remote.collection(), remote.name, request, local)

    def _search_store(
        self, request: Request, policy: Policy | None, *, fresh: bool
    ) -> Explanation:
        if fresh:
            explanation = self.freshness.answer(request, policy)
        else:
            explanation = self.project.workspace.searcher.run(request)
        return replace(explanation, hits=self.with_related(explanation.hits, request.scope))

    def with_related(self, hits: Sequence[Hit], scope: Scope) -> tuple[Hit, ...]:
        """Return the hits with the data that the code graph has about their lines."""
        graph, enriched = self.project.store.graph, tuple(hits)
        opened = {
            hit.source_doc_id for hit in hits if hit.language and TYPE_OPENING.search(hit.text)
        }
        if opened:
            enriched = facets.with_signatures(graph, scope, enriched, sorted(opened))
        has_summary = any(hit.is_summary for hit in hits)
        if has_summary or (hits and graph.nodes(scope, kinds=("route", "table"), limit=1)):
            enriched = facets.with_related(graph, scope, enriched, partial(self._text, scope))
        return enriched

    def _text(self, scope: Scope, collection: str, uri: str) -> str | None:
        return self.project.store.text(CollectionKey(scope.project, collection), uri)

    def apply_plan(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """Return the request without the options that the plan does not include, and their names."""
        plan = self.project.plan()
        if plan is None:
            return request, ()
        downgraded = []
        if request.mode == "hybrid" and "hybrid" not in plan.flags:
            request = replace(request, mode="vectors")
            downgraded.append("hybrid")
        if request.mmr and "mmr" not in plan.flags:
            request = replace(request, mmr=False)
            downgraded.append("mmr")
        if request.compress and "compress" not in plan.flags:
            request = replace(request, compress=False)
            downgraded.append("compress")
        return request, tuple(downgraded)

    def plan_note(self, downgraded: Sequence[str]) -> str:
        """Return the sentence that says which options the plan switched off."""
        plan = self.project.plan()
        name = plan.name if plan else ""
        return f"the plan {name} does not include {', '.join(downgraded)}: switched off"

    def request(self, query: str, top_k: int | None, options: SearchOptions) -> Request:
        """Return the checked request of a search."""
        settings = self.project.settings.search
        limit = arguments.check_search(
            query, settings.top_k if top_k is None else top_k, options
        )
        collection = options.get("collection") if self.project.enabled and limit else None
        return Request(
            query=query,
            scope=self.project.scope(collection),
            top_k=limit,
            mode=_mode(options),
            fusion=options.get("fusion") or settings.fusion,
            mmr=options.get("mmr", False),
            rerank=options.get("rerank"),
            embedder=options.get("embedder"),
            filter=parse(options.get("filters") or None, self.project.settings.base),
            min_score=options.get("min_score"),
            compress=options.get("compress", False) or options.get("compress_results", False),
            merge=options.get("merge", True),
            candidates=max(settings.candidates, limit),
        )

    def asked(self, top_k: int | None, options: SearchOptions) -> Asked:
        """Return what a search was asked for, for its event."""
        default = self.project.settings.search.top_k
        return Asked(_mode(options), default if top_k is None else top_k)

    def emit_completed(
        self,
        query: str,
        hits: Sequence[Hit],
        milliseconds: float,
        asked: Asked,
        chosen: Sequence[str] = (),
    ) -> None:
        """Emit the event of a completed search; `chosen` are the ids that went into a prompt."""
        self.project.events.emit(
            SEARCH_COMPLETED,
            query=query,
            ids=[hit.doc_id for hit in hits],
            scores=[hit.score for hit in hits],
            chosen=list(chosen),
            milliseconds=milliseconds,
            characters=sum(len(hit.text) for hit in hits),
            mode=asked.mode,
            top_k=asked.top_k,
        )


def _explain_placeholders(explanation: Explanation) -> Explanation:
    """Return an answer with a note that names the shown documents that secrets were taken out of."""
    uris = [hit.source_doc_id for hit in explanation.hits if has_placeholder(hit.text)]
    if not uris:
        return explanation
    names = ", ".join(dict.fromkeys(uris))
    note = f"[SECRET:…] stands where a secret was taken out: {names}"
    return replace(explanation, notes=(*explanation.notes, note))


def _mode(options: SearchOptions) -> Mode:
    """Return the mode that the options of a search name, or the one they imply."""
    return options.get("mode") or ("hybrid" if options.get("hybrid", True) else "vectors")
