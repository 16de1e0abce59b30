"""What a look at the rows changes in the order: boosts, copies, floods, neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ragstone.rank.fuse import Candidate, query_type
from ragstone.rank.weights import NUMBERS, Numbers
from ragstone.types import StoredChunk
from ragstone.words import terms

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
_LOOKED_AT: Final = 24
"""Of the best, for the same words in another layout."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its row; `members` are the chunks it stands for, in document order."""

    candidate: Candidate
    row: StoredChunk
    members: tuple[StoredChunk, ...]

    @property
    def score(self) -> float:
        """Return the score it is ordered by."""
        return self.candidate.fused


def arranged(
    candidates: Iterable[Candidate], rows: Mapping[int, StoredChunk], *, query: str, numbers: Numbers = NUMBERS
) -> tuple[list[Ranked], list[Ranked]]:
    """Return candidates that have a row in the order they are to be shown, and copies of a text shown before."""
    ranked, copies = collapse(support(boost(candidates, rows, query=query, numbers=numbers), numbers))
    return spread(ranked, numbers), copies


def boost(
    candidates: Iterable[Candidate], rows: Mapping[int, StoredChunk], *, query: str, numbers: Numbers = NUMBERS
) -> list[Ranked]:
    """Return candidates that have a row, their scores changed by what their rows say; not in order yet."""
    wanted = set(terms(query))
    said = _NAME.findall(query)
    keys = {name.casefold() for name in said if _SPELT.search(name)}
    names = {name.casefold() for name in said} if query_type(query) == "symbol" else set()
    quiet = bool(wanted & _ASKS_FOR_SIDE)
    ranked = []
    for candidate in candidates:
        row = rows.get(candidate.id)
        if row is None:
            continue
        if _defines(row, keys if row.document_kind in _KEYED else names):
            candidate = candidate.boosted("definition", numbers.definition_boost)
        share = _share_in_path(row.uri, wanted)
        if share:
            candidate = candidate.boosted("path", 1.0 + numbers.path_boost * share)
        if not quiet and _SIDE.search(row.uri):
            candidate = candidate.boosted("side file", numbers.side_file_factor)
        ranked.append(Ranked(candidate, row, (row,)))
    return ranked


def by_score(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Return the same, best first; equal scores by place, which does not depend on what was stored when.

    Scores of the same text differ in their last digits by where its vector lay in memory: those are equal.
    """
    return sorted(ranked, key=lambda r: (-round(r.score, _DIGITS), r.row.uri, r.row.chunk.order, r.row.id))


def collapse(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Return the first holder of each text, and the copies that fell behind it.

    Among the best, a text that differs in layout and case alone is a copy too. Less than that is not: rows of two years
    or two releases of one function are nearly the same, and the difference is what was asked for (chunking recall falls
    from 87.0 to 86.0 when texts with three quarters of their words in common are held back).
    """
    seen: set[int | str] = set()
    first: list[Ranked] = []
    copies: list[Ranked] = []
    begin = Counter(_first_words(entry) for entry in ranked[:_LOOKED_AT])
    for number, entry in enumerate(ranked):
        keys: list[int | str] = [entry.row.text_id]
        if number < _LOOKED_AT and begin[_first_words(entry)] > 1:
            keys.append(" ".join(entry.row.chunk.text.casefold().split()))
        (first if seen.isdisjoint(keys) else copies).append(entry)
        seen.update(keys)
    return first, copies


def support(ranked: Sequence[Ranked], numbers: Numbers = NUMBERS) -> list[Ranked]:
    """Return the list with each chunk raised by a share of its better neighbour's score."""
    scores = {_place(entry.row): entry.score for entry in ranked}
    out = []
    for entry in ranked:
        collection, uri, number = _place(entry.row)
        best, why = max(scores.get((collection, uri, number + step), 0.0) for step in (-1, 1)), "neighbour"
        if number == 0 and entry.row.document_kind != "code" and best < numbers.edge * entry.score:
            best, why = numbers.edge * entry.score, "start"
        if best > 0 and entry.score > 0:
            raised = entry.candidate.boosted(why, 1.0 + numbers.neighbour_support * best / entry.score)
            entry = Ranked(raised, entry.row, entry.members)
        out.append(entry)
    return by_score(out)


def spread(ranked: Sequence[Ranked], numbers: Numbers = NUMBERS) -> list[Ranked]:
    """Return the list with each further chunk of one code file counting a little less."""
    counts: dict[tuple[str, str], int] = {}
    out = []
    for entry in ranked:
        if entry.row.document_kind == "code":
            key = (entry.row.collection, entry.row.uri)
            before = counts.get(key, 0)
            counts[key] = before + 1
            if before:
                lowered = entry.candidate.boosted("same file", numbers.same_file_decay**before)
                entry = Ranked(lowered, entry.row, entry.members)
        out.append(entry)
    return by_score(out)


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
    if (kept.row.collection, kept.row.uri) != (entry.row.collection, entry.row.uri):
        return False
    first, last = kept.members[0].chunk, kept.members[-1].chunk
    chunk = entry.row.chunk
    if chunk.order not in (first.order - 1, last.order + 1):
        return False
    limit = numbers.merge_limit_code if entry.row.document_kind == "code" else numbers.merge_limit
    return max(last.span.end, chunk.span.end) - min(first.span.start, chunk.span.start) <= limit


def _joined(kept: Ranked, entry: Ranked) -> Ranked:
    members = sorted((*kept.members, *entry.members), key=lambda row: row.chunk.order)
    return Ranked(kept.candidate, kept.row, tuple(members))


def _first_words(entry: Ranked) -> tuple[str, ...]:
    """Return what texts of the same words have in common at least."""
    return tuple(entry.row.chunk.text[:80].casefold().split()[:2])


def _place(row: StoredChunk) -> tuple[str, str, int]:
    return row.collection, row.uri, row.chunk.order


def _defines(row: StoredChunk, names: set[str]) -> bool:
    if not names or not row.chunk.symbol:
        return False
    return any(
        part.casefold() in names for name in row.chunk.symbol.split() for part in (name, name.rpartition(".")[2])
    )


def _share_in_path(uri: str, wanted: set[str]) -> float:
    return len(wanted & _path_terms(uri)) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def _path_terms(uri: str) -> frozenset[str]:
    return frozenset(terms(uri))
