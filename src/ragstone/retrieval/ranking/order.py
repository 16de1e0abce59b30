"""What a look at the rows changes in the order: boosts, copies, floods, neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ragstone.retrieval.ranking.fuse import query_type
from ragstone.retrieval.ranking.weights import NUMBERS, Numbers
from ragstone.text import beginnings, query_terms, squeezed, terms
from ragstone.types import ChunkOutline, Scored

_SIDE: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures?|examples?|benchmarks?|generated|vendor|third_party)/"
    r"|(?:^|/)(?:test_[^/]+|[^/]+_test\.\w+|[^/]+\.(?:test|spec)\.\w+|conftest\.py|[^/]+\.min\.\w+|[^/]+_pb2\.py"
    r"|[^/]+_spec\.rb|(?-i:[^/]*[a-z0-9]Tests?\.(?:php|java|kts?|swift|cs))|[^/]+\.pb\.(?:go|cc|h)"
    r"|[^/]+\.(?:g|designer)\.cs)$",
    re.I,
)
_ASKS_FOR_SIDE: Final = frozenset(
    terms("test tests testing spec example examples fixture fixtures benchmark generated vendor")
)
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_SPELT: Final = re.compile(r"[_$.]|[a-z][A-Z]|^[A-Z]{3,}$")
"""A word that is spelt like a key. Keys of settings and data are everyday words (name, version, get): only a query that
spells one as a key asks for it."""
_KEYED: Final = frozenset({"config", "data", "manifest", "openapi"})
_DIGITS: Final = 5
LOOKED_AT: Final = (2, 8)
"""Of the best in their last order, for the same words in another layout: so many times what is shown, and at least so
many."""


@dataclass(slots=True)
class Ranked:
    """A chunk on its way to becoming a hit: its score so far, why, and the chunks it stands for in document order."""

    row: ChunkOutline
    score: float
    members: tuple[ChunkOutline, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Let it stand for itself."""
        self.members = self.members or (self.row,)

    @property
    def doc_id(self) -> str:
        """Return the name of its chunk."""
        return f"{self.row.uri}__chunk_{self.row.order}"

    def times(self, name: str, factor: float) -> None:
        """Multiply its score and keep the reason."""
        self.score *= factor
        self.boosts = (*self.boosts, (name, factor))


def arranged(
    candidates: Iterable[Scored], rows: Mapping[int, ChunkOutline], *, query: str, numbers: Numbers = NUMBERS
) -> tuple[list[Ranked], list[Ranked]]:
    """Return candidates that have a row in the order they are to be shown, and copies of a text shown before."""
    ranked, copies = collapse(support(boost(candidates, rows, query=query, numbers=numbers), numbers), {})
    return spread(ranked, numbers), copies


def boost(
    candidates: Iterable[Scored], rows: Mapping[int, ChunkOutline], *, query: str, numbers: Numbers = NUMBERS
) -> list[Ranked]:
    """Return candidates that have a row, their scores changed by what their rows say; not in order yet."""
    wanted = set(query_terms(query))
    begin = beginnings(wanted)
    said = _NAME.findall(query)
    keys = {name.casefold() for name in said if _SPELT.search(name)}
    names = {name.casefold() for name in said} if query_type(query) == "symbol" else set()
    quiet = bool(wanted & _ASKS_FOR_SIDE)
    ranked = [Ranked(rows[one.id], one.score) for one in candidates if one.id in rows]
    for entry in ranked:
        row = entry.row
        if row.symbol and _defines(row.symbol, keys if row.document_kind in _KEYED else names):
            entry.times("definition", numbers.definition_boost)
        plain, side = _path(row.uri)
        # Most paths have nothing of a query, and for one without words of a letter or two a look tells so.
        there = wanted & _path_terms(row.uri) if plain is None or any(map(plain.__contains__, begin)) else None
        if there:
            entry.times("path", 1.0 + numbers.path_boost * len(there) / len(wanted))
        if side and not quiet:
            entry.times("side file", numbers.side_file_factor)
    return ranked


def by_score(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Return the same, best first; equal scores by place, which does not depend on what was stored when.

    Scores of the same text differ in their last digits by where its vector lay in memory: those are equal.
    """
    return sorted(ranked, key=lambda r: (-round(r.score, _DIGITS), r.row.uri, r.row.order, r.row.id))


def looked_at(ranked: Sequence[Ranked], shown: int) -> list[int]:
    """Return the chunks whose texts are compared, so many being shown."""
    times, least = LOOKED_AT
    return [entry.row.id for entry in ranked[: max(least, times * shown)]]


def collapse(ranked: Sequence[Ranked], texts: Mapping[int, str]) -> tuple[list[Ranked], list[Ranked]]:
    """Return the first holder of each text, and the copies that fell behind it.

    Among those whose texts are given, one that differs in layout and case alone is a copy too. Less than that is not:
    rows of two years or two releases of one function are nearly the same, and the difference is what was asked for
    (chunking recall falls from 87.0 to 86.0 when texts with three quarters of their words in common are held back).
    """
    seen: set[int | str] = set()
    first: list[Ranked] = []
    copies: list[Ranked] = []
    begin = {chunk: _first_words(text) for chunk, text in texts.items()}
    often = Counter(begin.values())
    for entry in ranked:
        row = entry.row
        keys: list[int | str] = [row.text_id]
        if row.id in begin and often[begin[row.id]] > 1:
            keys.append(" ".join(texts[row.id].casefold().split()))
        (first if seen.isdisjoint(keys) else copies).append(entry)
        seen.update(keys)
    return first, copies


def support(ranked: Sequence[Ranked], numbers: Numbers = NUMBERS) -> list[Ranked]:
    """Return the list in order, each chunk raised by a share of its better neighbour's score."""
    documents: dict[tuple[str, str], dict[int, float]] = {}
    for entry in ranked:
        documents.setdefault((entry.row.collection, entry.row.uri), {})[entry.row.order] = entry.score
    for entry in ranked:
        row, score = entry.row, entry.score
        there, best, why = documents[row.collection, row.uri], 0.0, "neighbour"
        if len(there) > 1:
            best = max(there.get(row.order - 1, 0.0), there.get(row.order + 1, 0.0))
        if row.order == 0 and row.document_kind != "code" and best < numbers.edge * score:
            best, why = numbers.edge * score, "start"
        if best > 0 and score > 0:
            entry.times(why, 1.0 + numbers.neighbour_support * best / score)
    return by_score(ranked)


def spread(ranked: Sequence[Ranked], numbers: Numbers = NUMBERS) -> list[Ranked]:
    """Return a list that is in order, in order again with each further chunk of one code file counting less."""
    counts: dict[tuple[str, str], int] = {}
    for entry in ranked:
        if entry.row.document_kind == "code":
            key = (entry.row.collection, entry.row.uri)
            before = counts.get(key, 0)
            counts[key] = before + 1
            if before:
                entry.times("same file", numbers.same_file_decay**before)
    again = any(number > 1 for number in counts.values())
    return by_score(ranked) if again else list(ranked)


def merge_neighbours(ranked: Sequence[Ranked], top_k: int, *, numbers: Numbers = NUMBERS) -> list[Ranked]:
    """Return at most top_k entries, chunks that follow each other in one document told as one."""
    kept: list[Ranked] = []
    for entry in ranked:
        place = next((i for i, other in enumerate(kept) if _touches(other, entry, numbers)), None)
        if place is not None:
            kept[place] = _joined(kept[place], entry)
        elif len(kept) < top_k:
            kept.append(entry)
        else:
            break
    return kept


def _touches(kept: Ranked, entry: Ranked, numbers: Numbers) -> bool:
    row = entry.row
    if (kept.row.collection, kept.row.uri) != (row.collection, row.uri):
        return False
    first, last = kept.members[0], kept.members[-1]
    if row.order not in (first.order - 1, last.order + 1):
        return False
    limit = numbers.merge_limit_code if row.document_kind == "code" else numbers.merge_limit
    return max(last.end, row.end) - min(first.start, row.start) <= limit


def _joined(kept: Ranked, entry: Ranked) -> Ranked:
    return replace(kept, members=tuple(sorted((*kept.members, *entry.members), key=lambda row: row.order)))


def _first_words(text: str) -> tuple[str, ...]:
    """Return what texts of the same words have in common at least."""
    return tuple(text[:80].casefold().split()[:2])


def _defines(symbol: str, names: set[str]) -> bool:
    if not names:
        return False
    return any(part.casefold() in names for name in symbol.split() for part in (name, name.rpartition(".")[2]))


@lru_cache(maxsize=4096)
def _path(uri: str) -> tuple[str | None, bool]:
    """Return a path squeezed, and whether it is of a test, an example or a generated file."""
    return squeezed(uri), _SIDE.search(uri) is not None


@lru_cache(maxsize=4096)
def _path_terms(uri: str) -> frozenset[str]:
    return frozenset(terms(uri))
