"""The numbers of ranking chosen on all sets but one and tested on that one: cross-validation over sets.

`python -m evals tune` replays every set's questions over recorded lists. For each part left out, it begins with plain
fusion, half words and half meaning and no boost at all, and moves one number after another to the value of its grid
that is best on the other parts. What was chosen is then scored on the part left out, against plain fusion and against
the numbers in force: the first says whether such choices carry over to what they were not made on, the second whether
the numbers in force are fitted to the sets. A number that only tells on the part left out stays off. Repositories of
the code set are parts too, three at a time, so that the numbers for code are tested as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evals.bootstrap import grouped_mean, paired_difference
from evals.replay import Recording, record, scores
from evals.run import tell
from evals.sets import EvalSet

if TYPE_CHECKING:
    from ragstone.retrieval.ranking.parameters import RankingParameters

GRID: Mapping[str, Sequence[float]] = {
    "file_support": (0.0, 0.15, 0.3, 0.45),
    "file_name": (0.0, 0.15, 0.3, 0.45),
    "same_file_decay": (0.5, 0.7, 0.85, 1.0),
    "side_file_factor": (0.3, 0.5, 0.7, 1.0),
    "definition": (0.0, 0.25, 0.5, 1.0),
    "prose_factor": (1.0, 1.1, 1.2, 1.4),
    "neighbour_support": (0.0, 0.1, 0.2, 0.3),
    "edge": (0.0, 0.6, 0.8, 1.0),
    "beyond_chance": (1.0, 1.25, 1.5),
    "full_share": (0.01, 0.3, 0.4, 0.6),
    "meaning.question": (0.35, 0.45, 0.55),
    "meaning.statement": (0.45, 0.55, 0.65),
    "meaning.keywords": (0.45, 0.55, 0.65),
    "meaning.symbol": (0.45, 0.55, 0.65),
}
"""Values tried, those that matter most first. Sizes of merged hits are not among them: they trade characters for hits,
and no score is the judge."""

PLAIN = {
    "meaning.question": 0.5,
    "meaning.statement": 0.5,
    "meaning.keywords": 0.5,
    "meaning.symbol": 0.5,
    "neighbour_support": 0.0,
    "edge": 0.0,
    "file_support": 0.0,
    "file_name": 0.0,
    "side_file_factor": 1.0,
    "prose_factor": 1.0,
    "same_file_decay": 1.0,
    "definition": 0.0,
    "full_share": 0.01,
}
"""Fusion and nothing else."""

REPOSITORIES = 3
"""Of the code set, in one part."""

LEAST_GAIN = 0.0005
"""A smaller mean gain, as a share of the score, does not move a number from where it is."""

BUDGET = "recall_4000"
"""Where a set has it, the objective is its mean with the headline: five hits may not win by being longer."""


@dataclass(slots=True)
class Part:
    """Questions that are left out together; `family` is the set they are of."""

    name: str
    family: str
    headline: str
    recordings: list[Recording]
    known: dict[str, list[float]] = field(default_factory=dict)

    def values(self, numbers: RankingParameters) -> list[float]:
        """Return the objective of each question."""
        key = repr(numbers)
        if key not in self.known:
            self.known[key] = [
                objective(scores(one, numbers), self.headline) for one in self.recordings
            ]
        return self.known[key]

    def mean(self, numbers: RankingParameters) -> float:
        """Return the objective of the part."""
        return grouped_mean(self.values(numbers), self.groups)

    @property
    def groups(self) -> list[str]:
        """Return each question's group: its repository in the code set."""
        return [one.group for one in self.recordings]


def objective(found: Mapping[str, float], headline: str) -> float:
    """Return what is to rise."""
    return (found[headline] + found[BUDGET]) / 2 if BUDGET in found else found[headline]


def parts_of(chosen: EvalSet, recordings: Sequence[Recording]) -> list[Part]:
    """Return a set as one part, or one part for every few of its corpora where each is an index of its own."""
    if not chosen.by_corpus:
        return [Part(chosen.name, chosen.name, chosen.headline, list(recordings))]
    names = [corpus.name for corpus in chosen.corpora]
    found = []
    for start in range(0, len(names), REPOSITORIES):
        inside = names[start : start + REPOSITORIES]
        own = [one for one in recordings if one.group in inside]
        found.append(
            Part(f"{chosen.name}: {', '.join(inside)}", chosen.name, chosen.headline, own)
        )
    return found


def changed(numbers: RankingParameters, name: str, value: float) -> RankingParameters:
    """Return the numbers with one of them changed."""
    first, _, kind = name.partition(".")
    new: Any = {**numbers.meaning, kind: value} if kind else value
    return replace(numbers, **{first: new})


def plain(numbers: RankingParameters) -> RankingParameters:
    """Return the numbers with everything in the grid as plain fusion has it."""
    for name, value in PLAIN.items():
        numbers = changed(numbers, name, value)
    return numbers


def gain(parts: Sequence[Part], numbers: RankingParameters, base: RankingParameters) -> float:
    """Return the mean gain over the base as a share of its score; parts of one set together count as one set."""
    by_family: dict[str, list[float]] = {}
    for part in parts:
        before = part.mean(base)
        by_family.setdefault(part.family, []).append(
            part.mean(numbers) / before - 1 if before else 0.0
        )
    return fmean(fmean(own) for own in by_family.values())


def choose(
    parts: Sequence[Part], base: RankingParameters, grid: Mapping[str, Sequence[float]] = GRID
) -> RankingParameters:
    """Return the numbers that are best on these parts, moved one after another in the grid's order."""
    best, reached = base, 0.0
    for name, values in grid.items():
        tried = max(
            (changed(best, name, value) for value in values),
            key=lambda one: gain(parts, one, base),
        )
        found = gain(parts, tried, base)
        if found > reached + LEAST_GAIN:
            best, reached = tried, found
            tell(f"  {name}: {told(best, base)[name]} ({found:+.2%})")
    return best


def told(numbers: RankingParameters, base: RankingParameters) -> dict[str, float]:
    """Return the numbers that differ from the base, by their names in the grid."""
    return {
        name: value_of(numbers, name)
        for name in GRID
        if value_of(numbers, name) != value_of(base, name)
    }


def value_of(numbers: RankingParameters, name: str) -> float:
    """Return one number by its name in the grid."""
    first, _, kind = name.partition(".")
    found: Any = getattr(numbers, first)
    return float(found[kind] if kind else found)


def left_out(parts: Sequence[Part], in_force: RankingParameters) -> list[dict[str, Any]]:
    """Return, for each part, what the numbers chosen on all others score on it: see the top of the file."""
    base, found = plain(in_force), []
    for part in parts:
        tell(f"without {part.name}")
        chosen = choose([other for other in parts if other is not part], base)
        found.append(
            {
                "part": part.name,
                "questions": len(part.recordings),
                "plain": round(part.mean(base), 4),
                "chosen_on_the_others": round(part.mean(chosen), 4),
                "in_force": round(part.mean(in_force), 4),
                "chosen-plain": compared(part, chosen, base),
                "in_force-chosen": compared(part, in_force, chosen),
                "chosen": told(chosen, base),
            }
        )
    return found


def compared(part: Part, one: RankingParameters, other: RankingParameters) -> dict[str, float]:
    """Return how much better one choice is than another on a part, with standard error and p."""
    found = paired_difference(part.values(one), part.values(other), part.groups)
    return {
        "difference": round(found["difference"], 4),
        "standard_error": round(found["standard_error"], 4),
        "p": round(found["p"], 4),
    }


def alone(
    parts: Sequence[Part], base: RankingParameters
) -> dict[str, dict[str, dict[str, float]]]:
    """Return what each value of each number scores on each set, all others in force."""
    families = list(dict.fromkeys(part.family for part in parts))
    return {
        name: {
            str(value): {
                family: round(
                    fmean(
                        part.mean(changed(base, name, value))
                        for part in parts
                        if part.family == family
                    ),
                    4,
                )
                for family in families
            }
            for value in values
        }
        for name, values in GRID.items()
    }


def tune(sets: Sequence[EvalSet], embedder: str, *, keep: Path | None) -> dict[str, Any]:
    """Return the cross-validation over all parts, what all of them together would choose, and each number alone."""
    from ragstone.retrieval.ranking.parameters import RANKING_PARAMETERS

    parts: list[Part] = []
    for chosen in sets:
        recordings = record(chosen, embedder, keep=keep / chosen.name if keep else None)
        parts += parts_of(chosen, recordings)
    tell("each number alone")
    by_number = alone(parts, RANKING_PARAMETERS)
    folds = left_out(parts, RANKING_PARAMETERS)
    tell("all parts")
    best = choose(parts, plain(RANKING_PARAMETERS))
    return {
        "embedder": embedder,
        "in_force": {name: value_of(RANKING_PARAMETERS, name) for name in GRID},
        "left_out": folds,
        "all": {
            "chosen": told(best, plain(RANKING_PARAMETERS)),
            "gain_over_in_force": round(gain(parts, best, RANKING_PARAMETERS), 4),
        },
        "alone": by_number,
    }


def table(result: Mapping[str, Any]) -> str:
    """Return the cross-validation as a plain table."""
    heads = ("plain", "chosen", "in force", "chosen - plain", "in force - chosen")
    lines = [
        "".join(
            [f"{'left out':<44}", *(f"{head:>20}" for head in heads), "  chosen on the others"]
        )
    ]
    for fold in result["left_out"]:
        figures = [f"{fold[key]:.4f}" for key in ("plain", "chosen_on_the_others", "in_force")]
        figures += [
            f"{fold[key]['difference']:+.4f} ± {fold[key]['standard_error']:.4f}"
            for key in ("chosen-plain", "in_force-chosen")
        ]
        lines.append(
            "".join(
                [
                    f"{fold['part']:<44}",
                    *(f"{one:>20}" for one in figures),
                    f"  {named(fold['chosen'])}",
                ]
            )
        )
    together = result["all"]
    lines.append(
        f"chosen on all: {named(together['chosen'])}; {together['gain_over_in_force']:+.2%} over those in force"
    )
    return "\n".join(lines) + "\n"


def named(numbers: Mapping[str, float]) -> str:
    """Return numbers with their names."""
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items()) or "nothing"
