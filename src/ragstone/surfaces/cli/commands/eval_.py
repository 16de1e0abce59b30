"""`ragstone eval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ragstone.engine.measure.evaluation import EvaluationRequest, evaluate_folder
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.measure import measure_options, measured_folder
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_notes,
    print_table,
    printable,
)
from ragstone.surfaces.cli.progress import ProgressDisplay
from ragstone.surfaces.present.measure import evaluation_json
from ragstone.text.counts import plural

if TYPE_CHECKING:
    from ragstone.engine.measure.evaluation import Evaluation, SettingScore

_HEADINGS: Final = (
    "",
    "first",
    "top 5",
    "top 10",
    "MRR",
    "",
    "docstrings",
    "headings",
    "commits",
)
_HARDER: Final = (
    "the answers are searched without the wording of their questions, which is hard: compare these figures only with each"
    " other"
)


@click.command(
    "eval",
    cls=ExampleCommand,
    examples=(
        "ragstone eval",
        "ragstone eval --seconds 30 --questions 60",
        "ragstone eval -C ~/project --json",
    ),
)
@click.option(
    "--questions",
    type=click.IntRange(10, 2000),
    default=150,
    show_default=True,
    help="Questions to ask at most.",
)
@measure_options
@common_options
def eval_(
    folder: Path | None, as_json: bool, questions: int, seconds: float, seed: int, yes: bool
) -> None:
    """Measure how well search finds answers in your folder, by words, vectors and both.

    The questions come from the folder: docstrings ask for their functions, headings for their sections, commits for
    their files. Their wording is taken out of the indexed text first. The index that you use is not opened.
    """
    request = EvaluationRequest(seconds, questions, seed, may_pay=yes)
    root = measured_folder(folder, agreed=yes)
    with ProgressDisplay() as progress:
        evaluation = evaluate_folder(root, request, progress)
    if as_json:
        print_json(evaluation_json(evaluation))
        return
    _print_evaluation(evaluation)


def _print_evaluation(evaluation: Evaluation) -> None:
    questions = plural(len(evaluation.questions), "question")
    searched = plural(evaluation.documents, "document")
    print_line(
        f"{questions} to {searched}, model {printable(evaluation.model)}, seed {evaluation.seed}"
    )
    print_line()
    rows = [_HEADINGS, *(_row(score) for score in evaluation.scores)]
    print_table(rows, ("cyan",))
    print_line()
    print_line(evaluation.advice)
    print_notes([_HARDER])
    print_notes(evaluation.notes)


def _row(score: SettingScore) -> tuple[str, ...]:
    quality = score.quality
    by_kind = [
        f"{score.by_kind[kind].mrr:.3f}" if kind in score.by_kind else "–"
        for kind in ("docstring", "heading", "commit")
    ]
    return (
        score.name,
        f"{quality.recall_at_1:.0%}",
        f"{quality.recall_at_5:.0%}",
        f"{quality.recall_at_10:.0%}",
        f"{quality.mrr:.3f}",
        "in use" if score.is_current else "",
        *by_kind,
    )
