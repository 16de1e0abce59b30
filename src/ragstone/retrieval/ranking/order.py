"""The order of candidates: boosts, support by other chunks, copies, neighbours merged into one hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ragstone.retrieval.ranking.boosts import RankedChunk, apply_boosts, sort_by_score
from ragstone.retrieval.ranking.fusion import MAX_DROPPED
from ragstone.retrieval.ranking.parameters import (
    RANKING_PARAMETERS,
    SUPPORTING_CHUNKS,
    RankingParameters,
)
from ragstone.types import ChunkOutline, Dropped, Scored, StoredChunk

_COMPARED_FILES: Final = 10
"""Code files whose support is averaged for the text among the candidates."""
COMPARED_FACTOR, MIN_COMPARED = 2, 8
"""Texts that are compared to find copies in another layout: this multiple of `top_k`, and at least this many."""

_UNRELATED: Final = "no word and hardly any meaning in common with the query"

LoadChunks = Callable[[Sequence[int]], dict[int, StoredChunk]]
"""Returns chunks by id; ids that the store does not have are missing."""


def arrange(
    candidates: Iterable[Scored],
    rows: Mapping[int, ChunkOutline],
    *,
    query: str,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> tuple[list[RankedChunk], list[RankedChunk]]:
    """Return the candidates that have a row in their final order, and those whose text another one has."""
    boosted = apply_boosts(candidates, rows, query=query, parameters=parameters)
    single, repeats = keep_first_places(boosted)
    apply_neighbour_support(single, parameters)
    apply_file_support(single, parameters)
    ranked, copies = collapse_copies(sort_by_score(single), {})
    return apply_same_file_decay(ranked, parameters), [*repeats, *copies]


def keep_first_places(
    ranked: Iterable[RankedChunk],
) -> tuple[list[RankedChunk], list[RankedChunk]]:
    """Return the candidates without texts that are repeated in their document, and the repeats.

    A repeated text is kept where its score is best; of equal scores, at its first place. Otherwise its neighbours would
    choose the place, and the sections of a report that repeats its tables would support each other (chunking recall 87.0
    without this step, 88.0 with it).
    """
    seen: set[tuple[tuple[str, str], int]] = set()
    kept: list[RankedChunk] = []
    repeats: list[RankedChunk] = []
    for entry in sort_by_score(ranked):
        key = (entry.document, entry.row.text_id)
        if key in seen:
            repeats.append(entry)
        else:
            seen.add(key)
            kept.append(entry)
    return kept, repeats


def apply_neighbour_support(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> None:
    """Raise each chunk of text by a share of the better score of its two neighbours."""
    scores = {(entry.document, entry.row.order): entry.score for entry in ranked}
    for entry in ranked:
        if entry.is_code:
            continue
        row = entry.row
        score = entry.score
        before = (entry.document, row.order - 1)
        after = (entry.document, row.order + 1)
        best = max(scores.get(before, 0.0), scores.get(after, 0.0))
        reason = "neighbour"
        own_share = parameters.edge * score
        if row.order == 0 and best < own_share:
            best = own_share
            reason = "start"
        entry.add(reason, parameters.neighbour_support * best)


def apply_file_support(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> None:
    """Raise the best chunk of each code file by shares of the file's next best chunks.

    Text among code gets the average support of the best code files, so that no kind wins by its kind.
    """
    files: dict[tuple[str, str], list[RankedChunk]] = {}
    for entry in sort_by_score(entry for entry in ranked if entry.is_code):
        files.setdefault(entry.document, []).append(entry)
    gains: list[float] = []
    for entries in files.values():
        first = entries[0]
        others = entries[1 : 1 + SUPPORTING_CHUNKS]
        support = parameters.file_support * sum(entry.score for entry in others)
        if first.score > 0:
            gains.append(support / first.score)
        first.add("same file", support)
    compared = gains[:_COMPARED_FILES]
    if not compared:
        return
    average = sum(compared) / len(compared)
    for entry in ranked:
        if not entry.is_code:
            entry.boost("among code", 1.0 + average)


def apply_same_file_decay(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> list[RankedChunk]:
    """Return sorted candidates, sorted again after each further chunk of one code file was lowered."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in ranked:
        if not entry.is_code:
            continue
        earlier = counts[entry.document]
        counts[entry.document] += 1
        if earlier:
            entry.boost("further chunk", parameters.same_file_decay**earlier)
    if all(count == 1 for count in counts.values()):
        return list(ranked)
    return sort_by_score(ranked)


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
    if row.page != first.page:  # a hit is cited by one page, slide, sheet or chapter
        return False
    limit = parameters.merge_limit
    if entry.is_code:
        limit = parameters.merge_limit_code
    start = min(first.start, row.start)
    end = max(last.end, row.end)
    return end - start <= limit


def _first_words(text: str) -> tuple[str, ...]:
    """Return two words that texts with the same words have in common."""
    words = text[:80].casefold().split()
    return tuple(words[:2])


def explain_dropped(
    ranked: Sequence[RankedChunk],
    copies: Sequence[RankedChunk],
    chosen: Sequence[RankedChunk],
    scale: float,
) -> list[Dropped]:
    """Return the candidates that are not shown, and why; `scale` makes their scores comparable with the hits'."""
    shown_ids: set[int] = set()
    for entry in chosen:
        shown_ids.update(member.id for member in entry.members)
    lower = [entry for entry in ranked if entry.row.id not in shown_ids]
    dropped = [_drop(entry, "ranked lower", scale) for entry in lower[:MAX_DROPPED]]
    dropped += [_drop(entry, "same text as a hit above", scale) for entry in copies]
    return dropped


def explain_noise(
    noise: Iterable[Scored], outlines: Mapping[int, ChunkOutline], scale: float
) -> list[Dropped]:
    """Return the candidates that no word and no cosine relates to the query."""
    rows = [(outlines[entry.id], entry.score) for entry in noise if entry.id in outlines]
    return [_drop(RankedChunk(row, score), _UNRELATED, scale) for row, score in rows]


def _drop(entry: RankedChunk, reason: str, scale: float) -> Dropped:
    score = min(1.0, entry.score * scale)
    return Dropped(entry.doc_id, score, reason, entry.row.citation)


class ChunkLoader:
    """The chunks that were loaded, and those that the store does not have: damaged, or removed since."""

    def __init__(self, load: LoadChunks) -> None:
        """Store the function that loads chunks by id."""
        self._load = load
        self.rows: dict[int, StoredChunk] = {}
        self.missing: set[int] = set()

    def load(self, chunks: Iterable[int]) -> None:
        """Load the chunks that are not loaded yet."""
        unloaded = [chunk for chunk in chunks if chunk not in self.rows]
        if unloaded:
            loaded = self._load(unloaded)
            self.rows.update(loaded)
            self.missing.update(set(unloaded) - set(loaded))

    def compared_texts(self, ranked: Sequence[RankedChunk], *, top_k: int) -> dict[int, str]:
        """Return the texts that are compared with each other to find copies."""
        compared = choose_compared(ranked, top_k)
        self.load(compared)
        texts = {}
        for chunk in compared:
            if chunk in self.rows:
                texts[chunk] = self.rows[chunk].chunk.text
        return texts
