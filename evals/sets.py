"""What a set is to the runner: corpora to index, cases to ask, a score for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.types import Document, Hit, Turn

Ask = Callable[[int, bool], "Sequence[Hit]"]
"""Searches for the case's question: how many hits, and whether neighbours are merged."""

Score = Callable[[Ask], Mapping[str, float]]


class Absent(Exception):
    """Data that is not here, with a sentence on how to get it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question, where it is asked, and how its answers are scored."""

    query: str
    collection: str
    score: Score
    filters: Mapping[str, object] | None = None
    group: str | None = None
    """The group that the score counts in; the corpus if left out."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What goes into one index, by collection, and the questions asked of it."""

    name: str
    documents: Mapping[str, Sequence[Document]]
    cases: Sequence[Case]
    sessions: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    """The same as conversations: where there are any, they are remembered and recalled, not added and searched."""


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A whole set; `headline` is the metric that differences are tested on."""

    name: str
    corpora: Sequence[Corpus]
    headline: str
    by_corpus: bool = False
    notes: Sequence[str] = field(default_factory=tuple)
    is_complete: bool = True
    """Whether all documents are there; figures of a part are shown and not written."""


def limited(corpora: Sequence[Corpus], limit: int | None) -> list[Corpus]:
    """Return the corpora with the first questions of each, together no more than the limit."""
    if limit is None:
        return list(corpora)
    kept: list[Corpus] = []
    for corpus in corpora:
        if limit > 0:
            kept.append(Corpus(corpus.name, corpus.documents, corpus.cases[:limit]))
            limit -= len(kept[-1].cases)
    return kept


def required(path: Path, hint: str) -> Path:
    """Return the path, or raise `Absent` with what to do."""
    if not path.exists():
        raise Absent(f"{path} is not there: {hint}")
    return path
