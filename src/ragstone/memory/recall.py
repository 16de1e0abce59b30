"""Ranks the turns of one session for a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ragstone.errors import StoreDamaged
from ragstone.memory.facts import distinct_words, is_restatement
from ragstone.memory.merge import SUPERSEDED
from ragstone.memory.recall_order import newer_before_older
from ragstone.memory.session_cache import explain_replacement, speaker
from ragstone.memory.session_reader import SessionReader
from ragstone.memory.times import DateRange, find_date_ranges
from ragstone.memory.turns import HOT, turn_from_metadata
from ragstone.types import (
    CollectionKey,
    Condition,
    Filter,
    Hit,
    Recalled,
    Request,
    StoredChunk,
    Turn,
)

if TYPE_CHECKING:
    from ragstone.protocols import DocumentStore
    from ragstone.retrieval.search import Searcher

_WIDER: Final = 3
"""Candidates per turn to return, so that collapsing and times have a choice."""
_MAX_COPIES: Final = 50
"""Turns with exactly the same words that are considered for one found turn."""
_NAMED: Final = 1.3
"""Factor for a turn of a time or a speaker that the question names. LoCoMo, recall at 5, 10 and 25: 69.7, 79.4 and 86.3
without speakers, 71.4, 80.3 and 87.1 with them."""
_NEIGHBOUR_SUPPORT: Final = 0.3
"""Share of the better score of the turns before and after that is added: an answer is near its question. LoCoMo, recall
at 10: 79.9 at 0.2, 80.3 at 0.3."""
_NAME_PART: Final = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class TurnRanking:
    """Searches one session and ranks the turns that answer."""

    store: DocumentStore
    key: CollectionKey
    searcher: Searcher
    superseded: Mapping[int, Turn]
    now: float

    def recall(
        self, request: Request, *, since: float | None, until: float | None
    ) -> list[Recalled]:
        """Return the turns that answer, best first, each statement once."""
        search = replace(
            request,
            scope=self.key.scope,
            top_k=max(request.top_k * _WIDER, HOT),
            merge=False,
            filter=_time_filter(since, until),
        )
        named_times = find_date_ranges(request.query, self.now)
        words = _words_of_names(request.query)
        recalled: list[Recalled] = []
        for hit in _best_per_turn(self.searcher.run(search).hits):
            for turn in self._turns_of(hit, since, until):
                recalled.append(self._score(turn, hit.score, named_times, words))
        if since is None and until is None:
            recalled += self._superseding(recalled)
        supported = _support_by_neighbours(recalled)
        ranked = newer_before_older(supported, request.query)
        best = _collapse(ranked)[: request.top_k]
        return [self._complete(entry) for entry in best]

    def _complete(self, entry: Recalled) -> Recalled:
        """Return a turn with a score of 1 at most, and with the reason why it in particular is superseded."""
        score = min(1.0, entry.score)
        later = self.superseded.get(entry.turn.index)
        if later is None:
            return replace(entry, score=score)
        because = explain_replacement(entry.turn.content, later)
        return replace(entry, score=score, because=because)

    def _score(
        self,
        turn: Turn,
        score: float,
        named_times: Sequence[DateRange],
        words: Set[str],
    ) -> Recalled:
        """Return a turn with its score after time, speaker and supersession. `words` are those of the question."""
        boosts: list[tuple[str, float]] = []
        for span in named_times:
            if span.contains(turn.time):
                boosts.append((f"said at that time: {span.words}", _NAMED))
                break
        if not words.isdisjoint(_words_of_names(turn.speaker)):
            boosts.append((f"said by {turn.speaker}, whom the question names", _NAMED))
        later = self.superseded.get(turn.index)
        if later is not None:
            boosts.append((f"superseded by turn {later.index}", SUPERSEDED))
        for _, factor in boosts:
            score *= factor
        if later is None:
            return Recalled(turn, score, boosts=tuple(boosts))
        return Recalled(turn, score, (), later.index, later.because, tuple(boosts))

    def _superseding(self, recalled: Sequence[Recalled]) -> list[Recalled]:
        """Return the turns that supersede recalled ones and were not found themselves, with the lowest score."""
        seen = {entry.turn.index for entry in recalled}
        missing: list[Recalled] = []
        waiting = [entry.superseded_by for entry in recalled]
        while waiting:
            index = waiting.pop()
            if index is None or index in seen:
                continue
            seen.add(index)
            for turn in SessionReader(self.store, self.key).between(index, index + 1):
                entry = self._score(turn, 0.0, (), frozenset())
                missing.append(entry)
                waiting.append(entry.superseded_by)
        return missing

    def _turns_of(self, hit: Hit, since: float | None, until: float | None) -> list[Turn]:
        """Return the turn of a hit, and turns with the same words: a search shows a text once."""
        turn = turn_from_metadata(hit.metadata, self._full_text(hit))
        has_filter = since is not None or until is not None
        if not _is_complete(hit) or not (hit.duplicates or has_filter):
            return [turn]
        turns = {hit.source_doc_id: turn}
        for row in self._copies(hit):
            copy = turn_from_metadata(row.metadata, row.chunk.text)
            if len(copy.content) == len(turn.content) and _is_between(copy.time, since, until):
                turns.setdefault(row.uri, copy)
        return list(turns.values())

    def _copies(self, hit: Hit) -> Iterable[StoredChunk]:
        """Return the newest chunks that have the same text as a chunk of the hit's turn."""
        chunks = self.store.document_chunks(self.key, hit.source_doc_id)
        copies = self.store.copies(self.key.scope, [chunk.text_id for chunk in chunks])
        ids: list[int] = []
        for same_text in copies.values():
            ids += same_text[-_MAX_COPIES:]
        return self.store.chunks(self.key.project, ids).values()

    def _full_text(self, hit: Hit) -> str:
        """Return the whole turn; a long one may have been found by a part."""
        if _is_complete(hit):
            return hit.text
        try:
            return self.store.text(self.key, hit.source_doc_id) or hit.text
        except StoreDamaged:
            return hit.text


def _words_of_names(text: str) -> frozenset[str]:
    """Return the words of a text that may be parts of a name, in lower case."""
    return frozenset(_NAME_PART.findall(text.casefold()))


def _support_by_neighbours(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Return the turns, each raised by a share of the better score of the turns before and after it."""
    scores = {entry.turn.index: entry.score for entry in recalled}
    supported = []
    for entry in recalled:
        before = scores.get(entry.turn.index - 1, 0.0)
        after = scores.get(entry.turn.index + 1, 0.0)
        support = _NEIGHBOUR_SUPPORT * max(before, after)
        if support and entry.score and entry.superseded_by is None:
            factor = 1.0 + support / entry.score
            entry = replace(
                entry,
                score=entry.score + support,
                boosts=(*entry.boosts, ("the turn before or after answers too", factor)),
            )
        supported.append(entry)
    return supported


def _is_complete(hit: Hit) -> bool:
    """Return whether the text of a hit is the whole turn."""
    return hit.metadata.get("length") == len(hit.text)


def _is_between(moment: float, since: float | None, until: float | None) -> bool:
    if since is not None and moment < since:
        return False
    return until is None or moment <= until


def _time_filter(since: float | None, until: float | None) -> Filter | None:
    conditions = []
    if since is not None:
        conditions.append(Condition("meta.time", "gte", since))
    if until is not None:
        conditions.append(Condition("meta.time", "lte", until))
    if not conditions:
        return None
    return Filter(tuple(conditions))


def _best_per_turn(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of every turn: a long turn has several chunks."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.source_doc_id, hit)
    return list(best.values())


def _collapse(ranked: Sequence[Recalled]) -> list[Recalled]:
    """Return the turns without restatements; the better turn lists the numbers of its restatements."""
    unique: list[Recalled] = []
    statements: list[tuple[str, frozenset[str]]] = []
    for entry in ranked:
        who, words = speaker(entry.turn), distinct_words(entry.turn.content)
        position = _find_restated(statements, who, words)
        if position is None or unique[position].turn.index == entry.superseded_by:
            unique.append(entry)
            statements.append((who, words))
        else:
            better = unique[position]
            restatements = (*better.said_again, entry.turn.index)
            unique[position] = replace(better, said_again=restatements)
    return unique


def _find_restated(
    statements: Sequence[tuple[str, frozenset[str]]], who: str, words: frozenset[str]
) -> int | None:
    for position, (other, other_words) in enumerate(statements):
        if other == who and is_restatement(other_words, words):
            return position
    return None
