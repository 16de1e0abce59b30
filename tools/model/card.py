"""The model card: data, licences, exclusions, training and limits of a run, from its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NAMED_LICENCES = 12
"""Most packages have one of these; many of the others name all of their parts."""

Log = Mapping[str, Mapping[str, Any]]

_LIMITS = """\
## Limits

- English first: the base model knows little of other languages, and the pairs are mostly English.
- Vectors are of another space than the base's. `ragstone reembed` moves a collection.
- Training on a GPU is not the same bit by bit: a second run with the same seed comes close, not equal.
- Whether it is better is decided by `python -m evals all` on the validation split, not by the loss.
"""


def card(log: Log, runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the card as Markdown; `runs` has the facts of each seed. A stage that was not run says so."""
    return "\n".join(
        [
            "# Model card",
            "",
            *_data(log),
            *_exclusions(log),
            *_training(runs),
            *_result(log),
            _LIMITS,
        ]
    )


def _data(log: Log) -> list[str]:
    mined = log.get("mine")
    if mined is None:
        return ["## Data", "", "No pairs were mined.", ""]
    rows = [f"| {kind} | {count:,} |" for kind, count in mined["pairs"].items()]
    named = list(mined["licences"].items())[:_NAMED_LICENCES]
    others = mined["packages"] - sum(count for _, count in named)
    licences = [f"{licence} ({count:,})" for licence, count in named]
    if others:
        licences.append(f"other permissive ones and combinations ({others:,})")
    return [
        "## Data",
        "",
        f"{sum(mined['pairs'].values()):,} pairs of {mined['packages']:,} packages, seed {mined['seed']}.",
        "",
        "| kind of pair | pairs |",
        "|---|---|",
        *rows,
        "",
        f"Licences of the packages: {', '.join(licences)}.",
        "",
    ]


def _exclusions(log: Log) -> list[str]:
    checked = log.get("check")
    if checked is None:
        return [
            "## Exclusions",
            "",
            "The leak check was not run: do not publish this model.",
            "",
        ]
    return [
        "## Exclusions",
        "",
        f"{checked['pairs']:,} pairs were checked against {checked['names']:,} names and "
        f"{checked['lines']:,} lines of benchmarks: {checked['leaks']:,} leaks.",
        "",
    ]


def _training(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["## Training", ""]
    for run in runs:
        losses = run["losses"]
        recipe = ", ".join(f"{key} {value}" for key, value in run["recipe"].items())
        lines.append(
            f"- {run['pairs']:,} pairs, {len(losses)} steps in {run['seconds']} s on "
            f"{run['device']}; loss {losses[0]} → {losses[-1]}; {recipe}"
        )
    return [*lines, *([] if runs else ["Nothing was trained."]), ""]


def _result(log: Log) -> list[str]:
    built = log.get("build")
    if built is None:
        return ["## Result", "", "No graph was built.", ""]
    return [
        "## Result",
        "",
        f"int8 graph of {built['megabytes']} MB, SHA-256 `{built['sha256']}`, from "
        f"the mean of seeds {', '.join(map(str, built['seeds']))}, with {built['share']:.0%} of the change.",
        "",
    ]
