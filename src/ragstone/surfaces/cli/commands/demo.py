"""`ragstone demo`."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import click

from ragstone.errors import InputError
from ragstone.surfaces.cli import app
from ragstone.surfaces.cli.engine import open_engine, run_sync
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_table,
    printable,
)
from ragstone.surfaces.present.failures import OK, completion_code
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.types import Hit, Mode

SAMPLE: Final = Path(__file__).resolve().parent.parent / "sample"
_MAX_RANK: Final = 10


class DemoStep(NamedTuple):
    """A command, and the feature that it shows."""

    shows: str
    arguments: tuple[str, ...]


class DemoQuestion(NamedTuple):
    """A question, and the document that answers it."""

    text: str
    document: str


STEPS: Final = (
    DemoStep("Index the folder", ("sync",)),
    DemoStep(
        "A meaning, in other words than the text's",
        ("why do we avoid floating point numbers", "-k", "1", "--full-text"),
    ),
    DemoStep("An exact name", ("reserveSlabs", "-k", "1")),
    DemoStep("A page of a PDF", ("search", "48 Nm", "docs/saw-manual.pdf", "-k", "1")),
    DemoStep("A route and its guard", ("retrieve", "what guards orders.cancel", "-k", "0")),
    DemoStep(
        "A context for a prompt",
        ("context", "cancel an order before the truck has left", "--budget", "300"),
    ),
)
QUESTIONS: Final = (
    DemoQuestion("why do we avoid floating point numbers", "docs/adr/0001-whole-cents.md"),
    DemoQuestion("the machine overheats", "docs/saw-manual.pdf"),
    DemoQuestion("what happens in frost", "docs/saw-manual.pdf"),
    DemoQuestion("my parcel was dropped and cracked", "docs/shipping.md"),
    DemoQuestion("QRY-311", "docs/night-shift.md"),
    DemoQuestion("48 Nm", "docs/saw-manual.pdf"),
    DemoQuestion("left-hand thread", "docs/saw-manual.pdf"),
    DemoQuestion("reserveSlabs", "app/Services/Stock.php"),
)
MODES: Final[tuple[tuple[Mode, str], ...]] = (
    ("words", "words"),
    ("vectors", "vectors"),
    ("hybrid", "both"),
)
Ranks = dict[str, int | None]


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone demo",
        "ragstone demo -C quarry      # keep the sample folder, to try other questions in it",
    ),
)
@common_options
def demo(folder: Path | None, as_json: bool) -> int:
    """Search a small sample folder of code, Markdown and a PDF, to see how Ragstone works.

    The sample is copied to a temporary folder. With -C it is copied to that folder, which must be empty, and stays there.
    """
    with _copy_sample(folder) as copy:
        if as_json:
            return _print_json(copy)
        print_note("A sample folder: code, Markdown and a PDF of a small shop.")
        for step in STEPS:
            exit_code = _run_step(step, copy)
            if exit_code != OK:
                return exit_code
        _print_comparison(_compare(copy))
    if folder is None:
        print_note('Now in a folder of yours: ragstone "your question"')
    else:
        print_note(f'Now: cd {printable(str(folder))}, then ragstone "your question"')
    return OK


@contextmanager
def _copy_sample(folder: Path | None) -> Iterator[Path]:
    """Give a copy of the sample folder; it is removed at the end unless the user named a folder for it."""
    if folder is None:
        with TemporaryDirectory(prefix="ragstone-demo-") as temporary:
            copy = Path(temporary) / "quarry"
            shutil.copytree(SAMPLE, copy)
            yield copy
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty", hint="name a new folder for the sample")
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    yield folder


def _run_step(step: DemoStep, folder: Path) -> int:
    """Print a command, run it in the folder and return its exit code."""
    print_line()
    print_line((f"# {step.shows}", "dim"))
    print_line((f"$ ragstone {_quote(step.arguments)}", "bold"))
    return app.run([*step.arguments, "-C", str(folder)])


def _quote(arguments: tuple[str, ...]) -> str:
    return " ".join(f'"{word}"' if " " in word else shlex.quote(word) for word in arguments)


def _compare(folder: Path) -> list[Ranks]:
    """Return, for each question and mode, the rank of the document that answers it."""
    with open_engine(folder) as engine:
        return [
            {
                label: _rank(engine.search(question.text, _MAX_RANK, mode=mode), question)
                for mode, label in MODES
            }
            for question in QUESTIONS
        ]


def _rank(hits: list[Hit], question: DemoQuestion) -> int | None:
    """Return the rank of the first hit in the right document, counted from 1."""
    for rank, hit in enumerate(hits, start=1):
        if hit.source_doc_id == question.document:
            return rank
    return None


def _count_first(comparison: list[Ranks]) -> dict[str, int]:
    """Return, for each mode, the number of questions whose best hit is right."""
    return {label: sum(ranks[label] == 1 for ranks in comparison) for _, label in MODES}


def _print_comparison(comparison: list[Ranks]) -> None:
    print_line()
    print_line(
        (
            "# Place of the right document in the answer (–: not found), by words, by vectors, by both (the default)",
            "dim",
        )
    )
    labels = [label for _, label in MODES]
    rows = [("", *labels)]
    for question, ranks in zip(QUESTIONS, comparison, strict=True):
        rows.append((question.text, *(str(ranks[label] or "–") for label in labels)))
    first = _count_first(comparison)
    rows.append(
        (f"right at place 1, of {len(QUESTIONS)}", *(str(first[label]) for label in labels))
    )
    print_table(rows, ("", "", "", "bold green"))


def _print_json(folder: Path) -> int:
    with open_engine(folder) as engine:
        report = run_sync(engine)
    comparison = _compare(folder)
    questions = [
        {"query": question.text, "document": question.document, "ranks": ranks}
        for question, ranks in zip(QUESTIONS, comparison, strict=True)
    ]
    print_json(
        {
            "success": report.ok,
            "sync": sync_report_json(report),
            "questions": questions,
            "first": _count_first(comparison),
        }
    )
    return completion_code(is_complete=report.ok)
