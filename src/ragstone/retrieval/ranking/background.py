"""The cosines of a query with unrelated texts, which show what a cosine means.

Every model has its own scale: unrelated texts have a cosine of about 0 in one model and of 0.7 in another. So a cosine
is compared with two samples. Texts about unrelated subjects show whether a chunk is related to the query at all. A
sample of the collection shows how much better a chunk is than the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

SAMPLE: Final = 256
"""Chunks of the collection in a sample."""
SMALL_SAMPLE: Final = 48
"""A smaller sample of the collection is completed by the unrelated texts."""
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
        """Return the background of these cosines."""
        mean = sum(cosines) / len(cosines)
        variance = sum((cosine - mean) ** 2 for cosine in cosines) / len(cosines)
        least = _LEAST_DEVIATION * (1.0 - mean)
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
        by_chance = math.sqrt(2.0 * math.log(max(1, self.chunks)))
        deviations = max(NOISE_DEVIATIONS, by_chance)
        return max(self.unrelated.cosine_at(deviations), self.collection.cosine_at(deviations))
