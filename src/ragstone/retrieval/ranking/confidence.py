"""How sure an answer is, and what a cosine means: it is compared with those of unrelated texts.

Every model has its own scale: unrelated texts have a cosine of about 0 in one model and of 0.7 in another. So a cosine
is compared with two samples. Texts about unrelated subjects show whether a chunk is related to the query at all. A
sample of the collection shows how much better a chunk is than the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.errors import ProviderError
from ragstone.text import terms
from ragstone.types import ListTrace, StoredChunk
from ragstone.types.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import DocumentReader
    from ragstone.types import Matrix, Scope, SpaceInfo

CosineFunction: TypeAlias = "Callable[[Matrix], dict[int, float]]"
"""Gives the cosine of a vector with each chunk of a sample."""
_SAMPLES_CACHED: Final = 64

SAMPLE: Final = 256
"""Chunks of the collection in a sample."""
SMALL_SAMPLE: Final = 48
"""A smaller sample of the collection is completed by the unrelated texts."""
ANSWERS_IN_SAMPLE: Final = 3
"""Texts of a small sample that may answer the query. They are left out, because they would hide themselves."""
_LEAST_DEVIATION: Final = 0.02
NOISE_DEVIATIONS: Final = 1.5
"""A hit that shares no word with the query must be this many standard deviations above unrelated texts."""

UNRELATED_TEXTS: Final = (
    "The train to the coast leaves at nine.",
    "Add two eggs and stir until the batter is smooth.",
    "The court dismissed the appeal.",
    "def split_line(line): return line.split(',')",
    "Rain is expected in the north tomorrow.",
    "The striker scored in the last minute.",
    "Interest rates rose by half a point.",
    "She painted the kitchen door green.",
    "Cells divide faster at this temperature.",
    "SELECT name FROM guests WHERE room = 12",
    "The treaty was signed in the spring.",
    "Press the button to reset the device.",
    "He plays the violin on Sundays.",
    "Our office is closed on Friday.",
    "The river flooded two villages.",
    "if err != nil { return err }",
    "Patients in this group were given a lower dose.",
    "The museum opens a new wing.",
    "Invoices are due within thirty days.",
    "Wolves returned to the valley.",
    "The bridge carries forty tonnes.",
    "Click the menu and choose a theme.",
    "The novel begins with a funeral.",
    "Solar panels cover the roof.",
)


@dataclass(frozen=True, slots=True)
class Background:
    """The mean and the standard deviation of a query's cosines with a sample of texts."""

    mean: float = 0.0
    deviation: float = 0.2

    @classmethod
    def of(cls, cosines: Sequence[float]) -> Background:
        """Return the background of these cosines; that of a typical model if there are none."""
        if not cosines:
            return cls()
        mean = sum(cosines) / len(cosines)
        variance = sum((cosine - mean) ** 2 for cosine in cosines) / len(cosines)
        least = max(1e-6, _LEAST_DEVIATION * (1.0 - mean))
        return cls(mean, max(least, math.sqrt(variance)))

    def deviations(self, cosine: float) -> float:
        """Return how many standard deviations a cosine is above the mean."""
        return (cosine - self.mean) / self.deviation

    def cosine_at(self, deviations: float) -> float:
        """Return the cosine at this number of standard deviations above the mean."""
        return self.mean + deviations * self.deviation


@dataclass(frozen=True, slots=True)
class Calibration:
    """The scale of a query's cosines in one space."""

    unrelated: Background = field(default_factory=Background)
    collection: Background = field(default_factory=Background)
    chunks: int = 1
    """The number of chunks that the nearest are chosen from."""

    def share(self, cosine: float) -> float:
        """Return a cosine on a scale from 0 for unrelated texts to 1 for the same text."""
        mean = self.unrelated.mean
        return max(0.0, (cosine - mean) / max(1e-6, 1.0 - mean))

    def noise_floor(self) -> float:
        """Return the cosine that a related chunk exceeds."""
        return self.unrelated.cosine_at(NOISE_DEVIATIONS)

    def standout_floor(self) -> float:
        """Return the cosine that no unrelated chunk is expected to reach: the best of many is high by chance."""
        deviations = max(NOISE_DEVIATIONS, deviations_by_chance(self.chunks))
        return max(self.unrelated.cosine_at(deviations), self.collection.cosine_at(deviations))


def deviations_by_chance(chunks: int) -> float:
    """Return how many standard deviations the best of unrelated chunks is expected to be above their mean."""
    return math.sqrt(2.0 * math.log(max(1, chunks)))


class BackgroundSamples:
    """Calibrates the cosines of queries; a sample is read once per state of its scope."""

    def __init__(self, components: Components) -> None:
        """Take the components; nothing is read yet."""
        self._components = components
        self._samples: BoundedCache[tuple[int, int, Scope], CosineFunction] = BoundedCache(
            _SAMPLES_CACHED
        )
        self._unrelated: dict[str, Sequence[Matrix]] = {}

    def calibrate(
        self,
        scope: Scope,
        view: DocumentReader,
        generation: int,
        info: SpaceInfo,
        vector: Matrix,
    ) -> Calibration:
        """Return the scale of the cosines of a query's vector."""
        key = (generation, info.id, scope)
        sample = self._samples.get(key)
        if sample is None:
            sample = self._read_sample(scope, view, info)
            self._samples[key] = sample
        unrelated = [_cosine(row, vector) for row in self._unrelated_vectors(info)]
        collection = list(sample(vector).values())
        if len(collection) < SMALL_SAMPLE:
            collection = _without_nearest([*collection, *unrelated])
        return Calibration(Background.of(unrelated), Background.of(collection), info.embedded)

    def _read_sample(
        self, scope: Scope, view: DocumentReader, info: SpaceInfo
    ) -> CosineFunction:
        """Return the function that gives the cosines of a vector with some chunks in scope, evenly spread."""
        ids = view.vectors.ids_in(scope, info.id)
        step = max(1, -(-len(ids) // SAMPLE))
        chunks = view.vectors.locate(scope, info.id, ids[::step])
        index = self._components.space_index(scope.project, info)
        return index.cosines(list(chunks.values()))

    def _unrelated_vectors(self, info: SpaceInfo) -> Sequence[Matrix]:
        """Return the vectors of texts about unrelated subjects, read once per process: 20 ms.

        There are none while the service of the embedder fails: the vector of a query may be cached.
        """
        key = info.space.fingerprint
        if key not in self._unrelated:
            try:
                vectors = self._components.embedders.fixed_vectors(info.space, UNRELATED_TEXTS)
            except ProviderError:
                return ()
            self._unrelated[key] = vectors
        return self._unrelated[key]


def _without_nearest(cosines: Sequence[float]) -> list[float]:
    """Return the cosines of a small sample without the largest: those texts may be about the query's subject."""
    return sorted(cosines)[:-ANSWERS_IN_SAMPLE]


def _cosine(first: Matrix, second: Matrix) -> float:
    """Return the cosine of two vectors."""
    lengths = math.sqrt(float(first @ first)) * math.sqrt(float(second @ second))
    return float(first @ second) / max(lengths, 1e-12)


Traces = Mapping[int, tuple[ListTrace, ...]]
"""The rank and score of each chunk in each list."""

Calibrations = Mapping[str, Calibration]
"""The scale of the cosines of each vector list."""

WEAK_CONFIDENCE: Final = 0.2
"""Below it an answer says that nothing fits well."""
SURE_CONFIDENCE: Final = 0.5
"""From it on, an answer needs another spelling of its query only if a word of it is no usual one. Not set by an eval."""
VERY_SURE_CONFIDENCE: Final = 0.75
"""From it on, an answer needs no other spelling of its query. Not set by an eval."""
UNKNOWN_CONFIDENCE: Final = 0.1
"""The most for an answer to a query that looks misspelt and has no word of the searched documents."""
NOTHING_INDEXED: Final = "nothing is indexed here yet, so there is nothing to search"
NOTHING_FITS: Final = "nothing fits well: these are only the nearest passages"

_MEANING: Final = 0.8
"""Share of the cosine in the evidence of a chunk; the share of the query's terms gets the rest. Ranking gives words more,
because words that decide between chunks need not show that a question is on topic (docs/decisions/0026)."""
_LIMIT_OF_ONE_CHUNK: Final = 0.10
_LIMIT_PER_CHUNKS: Final = 0.025
"""The evidence below which a question is rather off topic: .10 in a folder of one chunk, and .025 more each time the number
of chunks grows by the factor e. The best of many unrelated chunks is high by chance: .20 of 50 chunks, .30 of 3,000."""
_LIMIT_BY_WORDS: Final = 0.5
"""The same for a chunk without a vector, whose evidence is the share of the query's terms. Of 155 questions about a long
text 10 % are below it, of 645 questions about another text 99 %; at .4 they are 5 % and 95 %."""
ALL_WORDS: Final = 0.4
"""The least for a chunk with all terms of the query: 15 % of questions on topic have one, and .5 % of those off topic. The
cosine of a bare name or of a code such as `E1042` says little."""


def confidence(
    best: Sequence[StoredChunk],
    traces: Traces,
    query_terms: Sequence[str],
    calibrations: Calibrations,
    *,
    counts_words: bool,
) -> float:
    """Return how sure it is that the best hits are about the question, from 0 to 1, for the surest of them.

    0 is nothing in common, most questions off topic stay below `WEAK_CONFIDENCE`, and 1 is the same text with all words of
    the query. It means the same for every model and for collections of any size.
    """
    surest = 0.0
    for row in best:
        share = 0.0
        if counts_words:
            share = share_of_terms(query_terms, row)
        surest = max(
            surest, _chunk_confidence(share, traces[row.id], calibrations, counts_words)
        )
    return surest


def _chunk_confidence(
    share: float,
    traces: Sequence[ListTrace],
    calibrations: Calibrations,
    counts_words: bool,
) -> float:
    """Return how sure it is that a chunk with this share of the query's terms is about the question."""
    vectors = [trace for trace in traces if trace.name in calibrations]
    if not vectors:
        return _scale_evidence(share, _LIMIT_BY_WORDS)
    total = sum(trace.weight for trace in vectors) or 1.0
    meaning = chunks = 0.0
    for trace in vectors:
        calibration = calibrations[trace.name]
        meaning += trace.weight / total * calibration.share(trace.score)
        chunks = max(chunks, calibration.chunks)
    limit = _LIMIT_OF_ONE_CHUNK + _LIMIT_PER_CHUNKS * math.log(max(1.0, chunks))
    if not counts_words:
        return _scale_evidence(meaning, limit)
    evidence = _MEANING * meaning + (1.0 - _MEANING) * share
    least = 0.0
    if share == 1.0:
        least = ALL_WORDS
    return max(least, _scale_evidence(evidence, limit))


def _scale_evidence(evidence: float, limit: float) -> float:
    """Return evidence on the scale of confidence: 0 stays 0, the limit becomes `WEAK_CONFIDENCE`, and 1 stays 1."""
    if evidence < limit:
        return WEAK_CONFIDENCE * evidence / limit
    beyond = (evidence - limit) / max(1e-6, 1.0 - limit)
    return min(1.0, WEAK_CONFIDENCE + (1.0 - WEAK_CONFIDENCE) * beyond)


def share_of_terms(query_terms: Sequence[str], row: StoredChunk) -> float:
    """Return the share of the query terms that a chunk or its path has."""
    if not query_terms:
        return 0.0
    present = terms_of_chunk(row)
    count = sum(term in present for term in query_terms)
    return count / len(query_terms)


def terms_of_chunk(row: StoredChunk) -> set[str]:
    """Return the terms that a chunk is found by: those of its path, symbol, header and text."""
    chunk = row.chunk
    return set(terms(f"{row.uri} {chunk.symbol} {chunk.header} {chunk.text}"))
