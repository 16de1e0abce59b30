"""The verbs that find what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from ragstone import types
from ragstone.engine import arguments as checked
from ragstone.engine.ground import OFF, Ground
from ragstone.store.filters import parse
from ragstone.types import Explanation, Request


class Searching(Ground):
    """The part of an engine that answers."""

    def search(self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]) -> list[types.Hit]:
        """Return the best hits, at most top_k; no match is an empty list. The options are those of `SearchOptions`."""
        return list(self.explain(query, top_k, **options).hits)

    def explain(self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]) -> Explanation:
        """Return a search told in full: hits, how the query was read, and what was left out and why."""
        request = self._asked(query, top_k, options)
        if not self.enabled or request.top_k == 0:
            reason = "no hits were asked for" if self.enabled else OFF
            return Explanation(query, "keywords", (), {}, {}, 0, (), (), (reason,), 0.0)
        return self._fresh.answer(request) if options.get("fresh", True) else self._parts.searcher.run(request)

    def _asked(self, query: str, top_k: int | None, options: types.SearchOptions) -> Request:
        """Return what a caller asks for, checked."""
        settings = self.settings.search
        wanted = checked.search(query, settings.top_k if top_k is None else top_k, options)
        filters = options.get("filters")
        return Request(
            query=query,
            scope=self._scope(options.get("collection") if self.enabled and wanted else None),
            top_k=wanted,
            mode=options.get("mode") or ("hybrid" if options.get("hybrid", True) else "vectors"),
            fusion=options.get("fusion") or settings.fusion,
            mmr=options.get("mmr", False),
            rerank=options.get("rerank"),
            filter=parse(filters) if filters else None,
            min_score=options.get("min_score"),
            compress=options.get("compress", False),
            merge=options.get("merge", True),
            candidates=max(settings.candidates, wanted),
        )

    def sources(
        self, *, collection: str | None = None, filters: Mapping[str, Any] | None = None
    ) -> Iterator[types.StoredDocument]:
        """Yield every document stored, by uri."""
        after: tuple[str, str] | None = None
        scope = self._scope(collection)
        wanted = parse(filters) if filters else None
        while page := self._parts.store.documents(scope, filter=wanted, after=after, limit=500):
            yield from page
            after = (page[-1].collection, page[-1].uri)

    def text(self, uri: str, *, collection: str | None = None) -> str | None:
        """Return the stored text of a document, or None if there is none."""
        return self._parts.store.text(self._parts.key(self._existing(collection)), checked.name(uri, "a uri"))
