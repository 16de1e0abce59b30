"""`ragstone demo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import click

from ragstone.engine import Engine
from ragstone.surfaces.cli.engine import confirm_first_sync, open_engine, run_sync
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.cli.ledger import print_ledger
from ragstone.surfaces.cli.options import common_options, yes_option
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_notes,
    printable,
)
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import completion_code
from ragstone.surfaces.present.hits import hit_json
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.types import Hit, Mode

_MAX_QUESTIONS: Final = 4
_MAX_LINES: Final = 3
_MAX_HITS: Final = 2
_THIS_FILE: Final = "surfaces/cli/commands/demo.py"


class DemoQuestion(NamedTuple):
    """A question and the feature that it shows."""

    text: str
    shows: str


RAGSTONE_QUESTIONS: Final = (
    DemoQuestion("FileLock", "an exact name"),
    DemoQuestion("wal_autocheckpoint", "a setting deep in the code"),
    DemoQuestion(
        "do I lose my work if the machine crashes?", "a meaning, in other words than the text's"
    ),
    DemoQuestion(
        "cut a long page into smaller pieces", "a meaning, in other words than the code's"
    ),
)
"""Questions about Ragstone's own code and documents."""

MODES: Final[tuple[tuple[Mode, str], ...]] = (
    ("words", "by words"),
    ("vectors", "by meaning"),
    ("hybrid", "by both"),
)


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone demo",
        "ragstone demo -C ~/notes",
    ),
)
@yes_option
@common_options
def demo(folder: Path | None, as_json: bool, yes: bool) -> int:
    """Index a folder, ask it a few questions, show the cited hits."""
    with open_engine(folder) as engine:
        confirm_first_sync(engine, yes=yes)
        print_note(f"indexing {printable(str(engine.folder))}")
        report = run_sync(engine)
        questions = list(islice(_choose_questions(engine), _MAX_QUESTIONS))
        if as_json:
            answers = [_answer_json(engine, question) for question in questions]
            print_json(
                {"success": report.ok, "sync": sync_report_json(report), "questions": answers}
            )
        else:
            print_ledger(report)
            for question in questions:
                _print_answer(engine, question)
            print_notes(report.notes)
            _print_next_steps(engine)
    return completion_code(is_complete=report.ok)


def _choose_questions(engine: Engine) -> Iterator[DemoQuestion]:
    """Yield prepared questions for Ragstone's own folder, titles of documents for any other."""
    if (engine.folder / "src" / "ragstone" / "engine" / "__init__.py").is_file():
        yield from RAGSTONE_QUESTIONS
        return
    seen = set()
    for document in engine.sources():
        title = document.title or Path(document.uri).stem
        if len(title) > 3 and title not in seen:
            seen.add(title)
            origin = "title" if document.title else "name"
            yield DemoQuestion(title, f"the {origin} of {document.uri}")


def _search(engine: Engine, question: DemoQuestion, mode: Mode) -> list[Hit]:
    """Return the best hits without this file, which contains the questions."""
    hits = engine.search(question.text, _MAX_HITS + 1, mode=mode)
    return [hit for hit in hits if not hit.source_doc_id.endswith(_THIS_FILE)][:_MAX_HITS]


def _answer_json(engine: Engine, question: DemoQuestion) -> Json:
    answer: Json = {"query": question.text, "shows": question.shows}
    for mode, _ in MODES:
        answer[mode] = [hit_json(hit) for hit in engine.search(question.text, 3, mode=mode)]
    return answer


def _print_answer(engine: Engine, question: DemoQuestion) -> None:
    print_line()
    print_line(
        (f"? {printable(question.text)}", "bold"), (f"   {printable(question.shows)}", "dim")
    )
    hits: list[Hit] = []
    for mode, label in MODES:
        hits = _search(engine, question, mode)
        places = ", ".join(f"{printable(hit.citation)} {hit.score:.2f}" for hit in hits)
        print_line((f"{label:>12}  ", "dim"), places or "nothing")
    print_line()
    print_hits(hits[:1], question.text, max_lines=_MAX_LINES)


def _print_next_steps(engine: Engine) -> None:
    program = Path(sys.argv[0])
    command = f"{sys.executable} -m ragstone"
    if program.name.startswith("ragstone"):
        command = str(program)
    print_line()
    print_line(
        f"The index is in {printable(str(engine.home))}, the command is {printable(command)}. Try:"
    )
    print_line('  ragstone search "your own question"        in any folder')
    print_line('  ragstone explain "your own question"       how the hits were ranked')
    print_line("  ragstone status                            the state of the index")
