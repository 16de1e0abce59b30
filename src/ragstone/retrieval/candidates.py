"""Collects the candidates of a search: a list by words, and a list by vectors for each space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from ragstone.config import cores
from ragstone.errors import NotFound, ProviderError
from ragstone.retrieval.ranking.confidence import BackgroundSamples, terms_of_chunk
from ragstone.retrieval.ranking.fusion import CandidateLists
from ragstone.text import query_terms
from ragstone.text.counts import plural
from ragstone.types import Condition, Filter, Scored
from ragstone.types.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import DocumentReader
    from ragstone.types import Matrix, Request, Scope, SpaceInfo

VECTOR_SHARE: Final = 0.5
"""Length of the list by vectors, as a share of the candidates. It may be shorter than the list by words, because
candidates by words get their cosine anyway. Of 100 candidates, 30 and 50: code search .876 and .8805."""
_CROWD_SHARE: Final = 0.2
"""A document with a larger share of a full list by words leaves too little room for others."""
_SPACES_CACHED: Final = 64
_FILTERS_CACHED: Final = 16


class CandidateSearch:
    """Searches one home by words and by vectors."""

    def __init__(self, components: Components) -> None:
        """Take the components; threads start with the first search."""
        self._components = components
        self._pool: Executor | None = None
        self._spaces: BoundedCache[tuple[int, Scope], list[SpaceInfo]] = BoundedCache(
            _SPACES_CACHED
        )
        self._allowed: BoundedCache[tuple[int, int, Scope, Filter | None], list[int]] = (
            BoundedCache(_FILTERS_CACHED)
        )
        self._samples = BackgroundSamples(components)
        self._has_two_cores = cores() > 1

    def run(self, request: Request, view: DocumentReader, generation: int) -> CandidateLists:
        """Return the candidate lists of a request; `view` is a snapshot of this generation."""
        lists = CandidateLists(terms=query_terms(request.query))
        spaces = self._spaces_to_search(request, view, generation)
        vectors = self._search_words_and_embed(request, view, spaces, lists)
        for info, vector in zip(spaces, vectors, strict=True):
            if vector is not None:
                self._add_vector_list(request, view, generation, info, vector, lists)
        is_complete = bool(spaces) and all(vector is not None for vector in vectors)
        if _needs_vectors(request) and not is_complete:
            models = self._add_fallback(request, view, generation, lists)
            _add_outage_notes(request, lists, models)
        _add_coverage_notes(request, lists)
        return lists

    def add_other_documents(
        self, request: Request, view: DocumentReader, lists: CandidateLists
    ) -> bool:
        """Search by words again without the documents that fill the list; return whether that found more.

        A file of one repeated word would else leave no place for others.
        """
        rows = lists.rows.get("words", [])
        if len(rows) < request.candidates:
            return False
        crowding = _crowding_documents(request, view, rows)
        if not crowding:
            return False
        others = view.search_words(
            request.scope,
            lists.terms,
            limit=request.candidates,
            filter=_leave_out(crowding, request.filter),
        )
        known_ids = {row.id for row in rows}
        new_rows = [row for row in others if row.id not in known_ids]
        lists.rows["words"] = [*rows, *new_rows]
        return bool(new_rows)

    def floors(self, lists: CandidateLists) -> dict[str, float]:
        """Return the cosine that a hit without a word of the query must reach, for each list."""
        has_known_word = lists.has_known_word or bool(lists.rows.get("words"))
        floors = {}
        for name, calibration in lists.calibrations.items():
            floors[name] = (
                calibration.noise_floor() if has_known_word else calibration.standout_floor()
            )
        return floors

    def _search_words_and_embed(
        self,
        request: Request,
        view: DocumentReader,
        spaces: Sequence[SpaceInfo],
        lists: CandidateLists,
    ) -> list[Matrix | None]:
        """Search by words, and return the query's vector in each space.

        With two cores the words are searched in a thread while the query is embedded: 2 of about 6 ms.
        """
        if not spaces or not self._has_two_cores:
            self._search_words(request, view, spaces, lists)
            return [self._query_vector(info, request, lists) for info in spaces]
        words = self._threads().submit(self._search_words, request, view, spaces, lists)
        try:
            return [self._query_vector(info, request, lists) for info in spaces]
        finally:
            words.result()

    def _query_vector(
        self, info: SpaceInfo, request: Request, lists: CandidateLists
    ) -> Matrix | None:
        """Return the query's vector in a space; None if the embedder is missing or its service fails.

        A missing embedder is a note, a failure is kept in `lists.outages`.
        """
        try:
            vector = self._components.embedders.query_vector(info.space, request.query)
        except ProviderError as error:
            lists.has_failed = True
            lists.outages.append(str(error))
            return None
        if vector is None:
            model = info.space.model
            reasons = self._components.embedders.reasons
            reason = reasons.get(info.space.fingerprint, "its embedder is missing")
            lists.notes.append(
                f"the vectors of {model} cannot be asked here, `ragstone reembed` makes new ones: {reason}"
            )
        return vector

    def _add_fallback(
        self, request: Request, view: DocumentReader, generation: int, lists: CandidateLists
    ) -> list[str]:
        """Search the spaces that are not active, because an active one is missing or failed; return their models."""
        models = []
        for info in self._known_spaces(request, view, generation):
            if info.state == "active" or not info.embedded:
                continue
            vector = self._query_vector(info, request, lists)
            if vector is not None:
                models.append(info.space.model)
                self._add_vector_list(request, view, generation, info, vector, lists)
        return models

    def _search_words(
        self,
        request: Request,
        view: DocumentReader,
        spaces: Sequence[SpaceInfo],
        lists: CandidateLists,
    ) -> None:
        """Add the list by words; in a search by vectors only, note whether any word of the query is indexed."""
        if request.mode != "vectors":
            rows = view.search_words(
                request.scope, lists.terms, limit=request.candidates, filter=request.filter
            )
            lists.rows["words"] = rows
            if rows and spaces:
                lists.words_share = _share_of_best(request, view, lists.terms, rows[0])
        elif spaces:
            rows = view.search_words(request.scope, lists.terms, limit=1, filter=request.filter)
            lists.has_known_word = bool(rows)

    def _add_vector_list(
        self,
        request: Request,
        view: DocumentReader,
        generation: int,
        info: SpaceInfo,
        vector: Matrix,
        lists: CandidateLists,
    ) -> None:
        index = self._components.space_index(request.scope.project, info)
        limit = _vector_limit(request)
        near = self._nearest_in_scope(request, view, generation, info, vector, limit)
        if request.fusion != "rrf":
            # A candidate by words that is not among the nearest gets its cosine too: absent does not mean far away.
            by_words = lists.rows.get("words", ())
            ids = [row.id for row in by_words]
            cosines = index.cosines(ids)(vector)
            near += [Scored(chunk_id, cosine) for chunk_id, cosine in cosines.items()]
        calibration = self._samples.calibrate(request.scope, view, generation, info, vector)
        lists.add_space(info, near, calibration)
        if index.problem:
            lists.has_failed = True
            lists.notes.append(
                f"the vector index does not answer, stored vectors do: {index.problem}"
            )
        if index.damaged:
            hint = "`ragstone reembed` makes them again"
            damaged = plural(index.damaged, "vector is", "vectors are")
            lists.notes.append(f"{damaged} damaged and left out: {hint}")

    def _nearest_in_scope(
        self,
        request: Request,
        view: DocumentReader,
        generation: int,
        info: SpaceInfo,
        vector: Matrix,
        limit: int,
    ) -> list[Scored]:
        """Return the nearest chunks in scope. A search over the whole project needs no list of allowed rows."""
        index = self._components.space_index(request.scope.project, info)
        if request.filter is None and request.scope.collections is None:
            located = _locate(request, view, info, index.search(vector, limit))
            if 2 * len(located) >= min(limit, 2 * info.embedded):
                return located
        allowed = self._allowed_rows(request, view, generation, info)
        return _locate(request, view, info, index.search(vector, limit, allowed=allowed))

    def _allowed_rows(
        self, request: Request, view: DocumentReader, generation: int, info: SpaceInfo
    ) -> list[int]:
        key = (generation, info.id, request.scope, request.filter)
        allowed = self._allowed.get(key)
        if allowed is None:
            allowed = view.vectors.ids_in(request.scope, info.id, filter=request.filter)
            self._allowed[key] = allowed
        return allowed

    def _spaces_to_search(
        self, request: Request, view: DocumentReader, generation: int
    ) -> list[SpaceInfo]:
        if not _needs_vectors(request):
            return []
        spaces = self._known_spaces(request, view, generation)
        if request.embedder is not None:
            return self._spaces_of(request.embedder, spaces)
        return [info for info in spaces if info.state == "active" and info.embedded]

    def _spaces_of(self, name: str, spaces: Sequence[SpaceInfo]) -> list[SpaceInfo]:
        """Return the spaces of an embedder; raise `NotFound` if they have no vectors."""
        space = self._components.embedder(name).space
        chosen = [info for info in spaces if info.space.fingerprint == space.fingerprint]
        if not any(info.embedded for info in chosen):
            raise NotFound(
                f"there are no vectors of {name!r} ({space.model}, {space.dimension}) here",
                hint=f'engine.admin.embed(embedder="{name}") makes them',
            )
        return chosen

    def _known_spaces(
        self, request: Request, view: DocumentReader, generation: int
    ) -> list[SpaceInfo]:
        """Return the spaces of the scope, of every state."""
        key = (generation, request.scope)
        spaces = self._spaces.get(key)
        if spaces is None:
            spaces = view.vectors.spaces(request.scope)
            self._spaces[key] = spaces
        return spaces

    def _threads(self) -> Executor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="ragstone-words")
        return self._pool


def _needs_vectors(request: Request) -> bool:
    """Return whether a request is also answered by vectors."""
    return request.mode != "words" and bool(request.query.strip())


def _share_of_best(
    request: Request, view: DocumentReader, query_terms: Sequence[str], best: Scored
) -> float:
    """Return the share of the query that the best match by words has: the sum of its terms' rarities.

    It is 1 for a turn of a session, which is also found by turns before it that are no part of its text.
    """
    if request.scope.kind != "documents":
        return 1.0
    rows = view.chunks(request.scope.project, [best.id])
    if not rows:  # damaged
        return 1.0
    present = terms_of_chunk(rows[best.id])
    missing = [term for term in query_terms if term not in present]
    if not missing:
        return 1.0
    rarities = view.term_rarities(request.scope, query_terms)
    total = sum(rarities.values())
    lost = sum(rarities.get(term, 0.0) for term in missing)
    return 1.0 - lost / total if total else 1.0


def _crowding_documents(
    request: Request, view: DocumentReader, rows: Sequence[Scored]
) -> list[str]:
    """Return the documents that have a large share of the rows."""
    outlines = view.outlines(request.scope.project, [row.id for row in rows])
    counts = Counter(outline.uri for outline in outlines.values())
    return [uri for uri, count in counts.items() if count > _CROWD_SHARE * len(rows)]


def _leave_out(uris: Sequence[str], filter: Filter | None) -> Filter:
    """Return a filter that also leaves out some documents."""
    conditions = [Condition("path", "ne", uri) for uri in uris]
    if filter is not None:
        conditions += filter.conditions
    return Filter(tuple(conditions))


def _locate(
    request: Request, view: DocumentReader, info: SpaceInfo, rows: Sequence[Scored]
) -> list[Scored]:
    """Return the chunks of vector rows, those outside the scope left out."""
    ids = [row.id for row in rows]
    chunks = view.vectors.locate(request.scope, info.id, ids, filter=request.filter)
    return [Scored(chunks[row.id], row.score) for row in rows if row.id in chunks]


def _vector_limit(request: Request) -> int:
    """Return how many of the nearest to search for."""
    # Neighbours become one hit and copies none, so more are needed than are shown.
    return max(2 * request.top_k, int(request.candidates * VECTOR_SHARE))


def _add_outage_notes(request: Request, lists: CandidateLists, models: Sequence[str]) -> None:
    """Note why the vectors of the service do not answer, and what answers: the vectors of other models, or words."""
    substitutes = f"the vectors of {' and '.join(models)}"
    if models and not lists.outages:
        lists.notes.append(f"{substitutes} answer, because the configured model has none yet")
    for outage in dict.fromkeys(lists.outages):
        reason = f"without the vectors of the service: {outage}"
        if models:
            reason = f"{substitutes} answer instead of those of the service: {outage}"
        elif request.mode != "vectors":
            reason = f"found by words, {reason}"
        lists.notes.append(reason)


def _add_coverage_notes(request: Request, lists: CandidateLists) -> None:
    for share in lists.coverage.values():
        if share < 1.0:
            lists.notes.append(
                f"vectors cover {share:.0%} of the texts; words cover all of them"
            )
    if request.mode == "vectors" and not lists.rows and not lists.has_failed:
        lists.notes.append("no vectors yet: run `ragstone sync` to make them")
