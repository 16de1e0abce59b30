"""The order of candidates: boosts by their outlines, copies, chunks of one file, neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ragstone.retrieval.ranking.fusion import query_type
from ragstone.retrieval.ranking.parameters import RANKING_PARAMETERS, RankingParameters
from ragstone.text import query_terms, terms
from ragstone.types import ChunkOutline, Scored

_SIDE_FILE: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures?|examples?|benchmarks?|generated|vendor|third_party)/"
    r"|(?:^|/)(?:test_[^/]+|[^/]+_test\.\w+|[^/]+\.(?:test|spec)\.\w+|conftest\.py|[^/]+\.min\.\w+|[^/]+_pb2\.py"
    r"|[^/]+_spec\.rb|(?-i:[^/]*[a-z0-9]Tests?\.(?:php|java|kts?|swift|cs))|[^/]+\.pb\.(?:go|cc|h)"
    r"|[^/]+\.(?:g|designer)\.cs)$",
    re.I,
)
_SIDE_FILE_TERMS: Final = frozenset(
    terms(
        "test tests testing spec example examples fixture fixtures benchmark generated vendor"
    )
)
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_KEY_SPELLING: Final = re.compile(r"[_$.]|[a-z][A-Z]|^[A-Z]{3,}$")
"""A word that is spelt like a key. Keys of settings and data are everyday words (name, version, get): only a query that
spells a word as a key asks for the key."""
_KEYED_KINDS: Final = frozenset({"config", "data", "manifest", "openapi"})
_SCORE_DIGITS: Final = 5
COMPARED_FACTOR, MIN_COMPARED = 2, 8
"""Texts that are compared to find copies in another layout: this multiple of `top_k`, and at least this many."""


@dataclass(slots=True)
class RankedChunk:
    """A candidate: its score, the boosts that changed it, and the chunks that it shows, in document order."""

    row: ChunkOutline
    score: float
    members: tuple[ChunkOutline, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Make the chunk its own only member if there are no others."""
        self.members = self.members or (self.row,)

    @property
    def doc_id(self) -> str:
        """Return the public id of the chunk."""
        return f"{self.row.uri}__chunk_{self.row.order}"

    @property
    def document(self) -> tuple[str, str]:
        """Return the collection and the uri of the document."""
        return self.row.collection, self.row.uri

    def boost(self, name: str, factor: float) -> None:
        """Multiply the score and record the reason."""
        self.score *= factor
        self.boosts = (*self.boosts, (name, factor))


def arrange(
    candidates: Iterable[Scored],
    rows: Mapping[int, ChunkOutline],
    *,
    query: str,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> tuple[list[RankedChunk], list[RankedChunk]]:
    """Return the candidates that have a row in their final order, and those whose text another one has."""
    boosted = apply_boosts(candidates, rows, query=query, parameters=parameters)
    supported = apply_neighbour_support(boosted, parameters)
    ranked, copies = collapse_copies(supported, {})
    return apply_same_file_decay(ranked, parameters), copies


def apply_boosts(
    candidates: Iterable[Scored],
    rows: Mapping[int, ChunkOutline],
    *,
    query: str,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> list[RankedChunk]:
    """Return the candidates that have a row, with scores changed by symbol and path; they are not sorted."""
    features = _QueryFeatures.of(query)
    ranked = []
    for candidate in candidates:
        row = rows.get(candidate.id)
        if row is not None:
            entry = RankedChunk(row, candidate.score)
            _boost_entry(entry, features, parameters)
            ranked.append(entry)
    return ranked


@dataclass(frozen=True, slots=True)
class _QueryFeatures:
    """The parts of a query that symbols and paths are compared with."""

    terms: frozenset[str]
    symbols: frozenset[str]
    """The names in the query, if the query is a symbol."""
    keys: frozenset[str]
    """The names in the query that are spelt like keys."""

    @classmethod
    def of(cls, query: str) -> _QueryFeatures:
        names = _NAME.findall(query)
        keys = [name.casefold() for name in names if _KEY_SPELLING.search(name)]
        symbols: list[str] = []
        if query_type(query) == "symbol":
            symbols = [name.casefold() for name in names]
        return cls(
            terms=frozenset(query_terms(query)),
            symbols=frozenset(symbols),
            keys=frozenset(keys),
        )


def _boost_entry(
    entry: RankedChunk, features: _QueryFeatures, parameters: RankingParameters
) -> None:
    """Change the score of a candidate by its symbol and its path."""
    row = entry.row
    names = features.keys if row.document_kind in _KEYED_KINDS else features.symbols
    if _defines(row.symbol, names):
        entry.boost("definition", parameters.definition_boost)
    matches = len(features.terms & _path_terms(row.uri))
    if matches:
        share = matches / len(features.terms)
        entry.boost("path", 1.0 + parameters.path_boost * share)
    asks_for_side_files = not features.terms.isdisjoint(_SIDE_FILE_TERMS)
    if _is_side_file(row.uri) and not asks_for_side_files:
        entry.boost("side file", parameters.side_file_factor)


def sort_by_score(ranked: Iterable[RankedChunk]) -> list[RankedChunk]:
    """Return the candidates, best first; equal scores are ordered by place, not by the time of storing.

    Scores of the same text may differ in their last digits, depending on its vector's place in memory.
    """

    def sort_key(entry: RankedChunk) -> tuple[float, str, int, int]:
        row = entry.row
        score = round(entry.score, _SCORE_DIGITS)
        return -score, row.uri, row.order, row.id

    return sorted(ranked, key=sort_key)


def choose_compared(ranked: Sequence[RankedChunk], top_k: int) -> list[int]:
    """Return the ids of the chunks whose texts are compared to find copies."""
    count = max(MIN_COMPARED, COMPARED_FACTOR * top_k)
    return [entry.row.id for entry in ranked[:count]]


def collapse_copies(
    ranked: Sequence[RankedChunk], texts: Mapping[int, str]
) -> tuple[list[RankedChunk], list[RankedChunk]]:
    """Return the first chunk of each text, and its copies.

    Among chunks in `texts`, a text that differs only in layout and case is a copy too. Similar texts are not: rows of
    two years or two releases of one function are nearly the same, and the difference is the answer (chunking recall
    falls from 87.0 to 86.0 if texts with three quarters of their words in common are dropped).
    """
    seen: set[int | str] = set()
    first: list[RankedChunk] = []
    copies: list[RankedChunk] = []
    first_words = {chunk: _first_words(text) for chunk, text in texts.items()}
    counts = Counter(first_words.values())
    for entry in ranked:
        row = entry.row
        keys: list[int | str] = [row.text_id]
        # Texts are compared in full only if another one starts with the same words.
        if row.id in texts and counts[first_words[row.id]] > 1:
            words = texts[row.id].casefold().split()
            keys.append(" ".join(words))
        if seen.isdisjoint(keys):
            first.append(entry)
        else:
            copies.append(entry)
        seen.update(keys)
    return first, copies


def apply_neighbour_support(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> list[RankedChunk]:
    """Return the candidates sorted, each raised by a share of the better score of its two neighbours."""
    scores = {(entry.document, entry.row.order): entry.score for entry in ranked}
    for entry in ranked:
        row = entry.row
        score = entry.score
        before = (entry.document, row.order - 1)
        after = (entry.document, row.order + 1)
        best = max(scores.get(before, 0.0), scores.get(after, 0.0))
        reason = "neighbour"
        own_share = parameters.edge * score
        starts_prose = row.order == 0 and row.document_kind != "code"
        if starts_prose and best < own_share:
            best = own_share
            reason = "start"
        if best > 0 and score > 0:
            factor = 1.0 + parameters.neighbour_support * best / score
            entry.boost(reason, factor)
    return sort_by_score(ranked)


def apply_same_file_decay(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> list[RankedChunk]:
    """Return sorted candidates, sorted again after each further chunk of one code file was lowered."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in ranked:
        if entry.row.document_kind != "code":
            continue
        earlier = counts[entry.document]
        counts[entry.document] += 1
        if earlier:
            entry.boost("same file", parameters.same_file_decay**earlier)
    if all(count == 1 for count in counts.values()):
        return list(ranked)
    return sort_by_score(ranked)


def merge_neighbours(
    ranked: Sequence[RankedChunk],
    top_k: int,
    *,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> list[RankedChunk]:
    """Return at most top_k candidates; chunks that follow each other in one document become one."""
    merged: list[RankedChunk] = []
    for entry in ranked:
        place = _find_neighbour(merged, entry, parameters)
        if place is not None:
            neighbour = merged[place]
            members = [*neighbour.members, *entry.members]
            members.sort(key=lambda row: row.order)
            merged[place] = replace(neighbour, members=tuple(members))
        elif len(merged) < top_k:
            merged.append(entry)
        else:
            break
    return merged


def _find_neighbour(
    merged: Sequence[RankedChunk], entry: RankedChunk, parameters: RankingParameters
) -> int | None:
    """Return the place of the first candidate that the entry can be merged with."""
    for place, other in enumerate(merged):
        if _can_merge(other, entry, parameters):
            return place
    return None


def _can_merge(merged: RankedChunk, entry: RankedChunk, parameters: RankingParameters) -> bool:
    row = entry.row
    if merged.document != entry.document:
        return False
    first = merged.members[0]
    last = merged.members[-1]
    if row.order not in (first.order - 1, last.order + 1):
        return False
    limit = parameters.merge_limit
    if row.document_kind == "code":
        limit = parameters.merge_limit_code
    start = min(first.start, row.start)
    end = max(last.end, row.end)
    return end - start <= limit


def _first_words(text: str) -> tuple[str, ...]:
    """Return two words that texts with the same words have in common."""
    words = text[:80].casefold().split()
    return tuple(words[:2])


def _defines(symbol: str, names: frozenset[str]) -> bool:
    """Return whether one of the qualified names in a symbol, or its last part, is one of the names."""
    if not names:
        return False
    for qualified_name in symbol.casefold().split():
        last_part = qualified_name.rpartition(".")[2]
        if qualified_name in names or last_part in names:
            return True
    return False


@lru_cache(maxsize=4096)
def _is_side_file(uri: str) -> bool:
    """Return whether a path is that of a test, an example or a generated file."""
    return _SIDE_FILE.search(uri) is not None


@lru_cache(maxsize=4096)
def _path_terms(uri: str) -> frozenset[str]:
    return frozenset(terms(uri))
