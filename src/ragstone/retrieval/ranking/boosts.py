"""Candidates on their way to hits, and their boosts by symbol, file name and kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ragstone.retrieval.ranking.fusion import query_type
from ragstone.retrieval.ranking.parameters import RANKING_PARAMETERS, RankingParameters
from ragstone.text import query_terms, terms
from ragstone.types import SUMMARY_PREFIX, ChunkOutline, Scored
from ragstone.types.documents import CODE, FRAMEWORK_KINDS, GENERATED, is_code

_SIDE_FILE: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|testing|fixtures?|examples?|samples?|demos?|benchmarks?|bench|generated"
    r"|vendor|third_party|__?mocks?__|mocks?|legacy|deprecated|obsolete|compat)/"
    r"|(?:^|/)(?:test_[^/]+|[^/]+_test\.\w+|[^/]+\.(?:test|spec)\.\w+|conftest\.py|[^/]+\.min\.\w+|[^/]+_pb2\.py"
    r"|[^/]+_spec\.rb|(?-i:[^/]*[a-z0-9]Tests?\.(?:php|java|kts?|swift|cs|scala))|[^/]+\.pb\.(?:go|cc|h)"
    r"|[^/]+\.(?:g|designer)\.cs|[^/]+\.lock|package-lock\.json)$",
    re.I,
)
_SIDE_FILE_WORDS: Final = frozenset(
    "test tests testing tested tester spec specs example examples sample samples demo demos fixture fixtures benchmark"
    " benchmarks mock mocks generated vendor vendored legacy deprecated obsolete compat compatibility".split()
)
"""A query with one of these words asks for side files. Stems would not do: "generate" is no question about them."""
_CODE_WORD: Final = re.compile(
    r"\b(?:code|functions?|class|classes|methods?|implement\w*|define[sd]?|definition|declared|modules?|struct|interface"
    r"|trait|enum|constructor|source|called|calls|callers|handler|parser|regex)\b",
    re.I,
)
_CODE_SPELLING: Final = re.compile(r"[a-z][A-Z]|\w_\w|::|->|\w\.\w|\(\)|[A-Z]{2,}[a-z]")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_KEY_SPELLING: Final = re.compile(r"[_$.]|[a-z][A-Z]|^[A-Z]{3,}$")
"""A word that is spelt like a key. Keys of settings and data are everyday words (name, version, get): only a query that
spells a word as a key asks for the key."""
_KEYED_KINDS: Final = frozenset({"config", "data", "package", "openapi"})
_SCORE_DIGITS: Final = 5
_NO_PROSE: Final = _KEYED_KINDS | FRAMEWORK_KINDS | {CODE, GENERATED}


@dataclass(slots=True)
class RankedChunk:
    """A candidate: its score, the boosts that changed it, and the chunks that it shows, in document order."""

    row: ChunkOutline
    score: float
    members: tuple[ChunkOutline, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()
    document: tuple[str, str] = field(init=False)
    """The collection and the uri of the document."""
    is_code: bool = field(init=False)
    """Whether the chunk is part of a code file."""

    def __post_init__(self) -> None:
        """Make the chunk its own only member if there are no others."""
        self.members = self.members or (self.row,)
        self.document = (self.row.collection, self.row.uri)
        self.is_code = is_code(self.row.document_kind)

    @property
    def doc_id(self) -> str:
        """Return the public id of the chunk."""
        return f"{self.row.uri}__chunk_{self.row.order}"

    def boost(self, name: str, factor: float) -> None:
        """Multiply the score and record the reason."""
        self.score *= factor
        self.boosts = (*self.boosts, (name, factor))

    def add(self, name: str, amount: float) -> None:
        """Add to the score and record the reason as a factor."""
        if amount > 0 and self.score > 0:
            self.boost(name, 1.0 + amount / self.score)


def sort_by_score(ranked: Iterable[RankedChunk]) -> list[RankedChunk]:
    """Return the candidates, best first; equal scores are ordered by place, not by the time of storing.

    Scores of the same text may differ in their last digits, depending on its vector's place in memory.
    """

    def sort_key(entry: RankedChunk) -> tuple[float, str, int, int]:
        row = entry.row
        score = round(entry.score, _SCORE_DIGITS)
        return -score, row.uri, row.order, row.id

    return sorted(ranked, key=sort_key)


def apply_boosts(
    candidates: Iterable[Scored],
    rows: Mapping[int, ChunkOutline],
    *,
    query: str,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> list[RankedChunk]:
    """Return the candidates that have a row, with scores changed by symbol, path and kind; they are not sorted."""
    features = _QueryFeatures.of(query)
    ranked = []
    for candidate in candidates:
        row = rows.get(candidate.id)
        if row is not None:
            ranked.append(RankedChunk(row, candidate.score))
    best = max((entry.score for entry in ranked), default=0.0)
    for entry in ranked:
        _boost_entry(entry, best, features, parameters)
    return ranked


@dataclass(frozen=True, slots=True)
class _QueryFeatures:
    """The parts of a query that symbols and paths are compared with."""

    terms: frozenset[str]
    symbols: frozenset[str]
    """The names in the query, if the query is a symbol or a single word."""
    keys: frozenset[str]
    """The names in the query that are spelt like keys."""
    asks_for_side_files: bool
    asks_for_code: bool

    @classmethod
    def of(cls, query: str) -> _QueryFeatures:
        names = _NAME.findall(query)
        keys = [name.casefold() for name in names if _KEY_SPELLING.search(name)]
        symbols: list[str] = []
        is_symbol = query_type(query) == "symbol"
        if is_symbol or len(query.split()) == 1:
            symbols = [name.casefold() for name in names]
        words = frozenset(name.casefold() for name in names)
        names_code = _CODE_SPELLING.search(query) or _CODE_WORD.search(query)
        return cls(
            terms=frozenset(query_terms(query)),
            symbols=frozenset(symbols),
            keys=frozenset(keys),
            asks_for_side_files=not words.isdisjoint(_SIDE_FILE_WORDS),
            asks_for_code=is_symbol or names_code is not None,
        )


def _boost_entry(
    entry: RankedChunk, best: float, features: _QueryFeatures, parameters: RankingParameters
) -> None:
    """Change the score of a candidate by its symbol, its file name and its kind."""
    row = entry.row
    names = features.keys if row.document_kind in _KEYED_KINDS else features.symbols
    if _defines(row.symbol, names):
        entry.add("definition", parameters.definition * best)
    name_terms = _file_name_terms(row.uri)
    matches = len(features.terms & name_terms)
    if matches:
        share = matches / len(name_terms)
        entry.add("file name", parameters.file_name * share * best)
    _weigh_kind(entry, features, parameters)


def _weigh_kind(
    entry: RankedChunk, features: _QueryFeatures, parameters: RankingParameters
) -> None:
    """Change the score of a candidate by its kind: a summary, text, or a file beside the code."""
    row = entry.row
    if row.uri.startswith(SUMMARY_PREFIX):
        entry.boost("summary", parameters.summary_factor)
    if not features.asks_for_code and row.document_kind not in _NO_PROSE:
        entry.boost("text", parameters.prose_factor)
    is_side_file = row.document_kind == GENERATED or _is_side_file(row.uri)
    if is_side_file and not features.asks_for_side_files:
        entry.boost("side file", parameters.side_file_factor)


def _defines(symbol: str, names: frozenset[str]) -> bool:
    """Return whether one of the qualified names in a symbol, or its last part, is one of the names."""
    if not names:
        return False
    for qualified_name in symbol.casefold().split():
        last_part = qualified_name.rpartition(".")[2]
        if qualified_name in names or last_part in names:
            return True
    return False


@lru_cache(maxsize=16_384)
def _is_side_file(uri: str) -> bool:
    """Return whether a path is that of a test, an example or a generated file."""
    return _SIDE_FILE.search(uri) is not None


@lru_cache(maxsize=16_384)
def _file_name_terms(uri: str) -> frozenset[str]:
    """Return the terms of the name of a file, without its endings."""
    name = uri.rpartition("/")[2]
    stem = name.lstrip(".").partition(".")[0]
    return frozenset(terms(stem))
