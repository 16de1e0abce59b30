"""`ragstone demo`: index a folder, ask it a few questions in each way, and say what to try next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

import click

from ragstone.engine import Engine
from ragstone.surfaces import present
from ragstone.surfaces.cli import hits
from ragstone.surfaces.cli.folder import ask_first, open_engine, run_sync
from ragstone.surfaces.cli.shell import Part, emit, note, remark, safe, say, shared
from ragstone.surfaces.cli.sync import ledger
from ragstone.types import Hit

_LINES: Final = 3
_PLACES: Final = 2
_THIS_FILE: Final = "surfaces/cli/demo.py"

Mode = Literal["words", "vectors", "hybrid"]


class Question(NamedTuple):
    """Something to ask, and what it shows."""

    text: str
    shows: str


OWN: Final = (
    Question("FileLock", "an exact name"),
    Question("wal_autocheckpoint", "a setting deep in the code"),
    Question("do I lose my work if the machine crashes?", "a meaning, in other words than the text's"),
    Question("cut a long page into smaller pieces", "a meaning, in other words than the code's"),
)
"""Asked of Ragstone's own code and documents."""

WAYS: Final[tuple[tuple[Mode, str], ...]] = (
    ("words", "by words"),
    ("vectors", "by meaning"),
    ("hybrid", "by both"),
)


@click.command()
@click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever the folder is.")
@shared
def demo(folder: Path | None, as_json: bool, yes: bool) -> int:
    """Index a folder, ask it a few questions, show the cited hits."""
    with open_engine(folder) as engine:
        ask_first(engine, yes=yes)
        note(f"indexing {safe(str(engine.folder))}")
        report = run_sync(engine)
        questions = list(islice(_questions(engine), 4))
        if as_json:
            asked = [_asked(engine, question) for question in questions]
            emit({"success": report.ok, "sync": present.sync_report(report), "questions": asked})
        else:
            ledger(report)
            for question in questions:
                _show(engine, question)
            remark(report.notes)
            _farewell(engine)
    return present.OK if report.ok else present.PARTIAL


def _questions(engine: Engine) -> Iterator[Question]:
    """Yield what is worth asking here: prepared questions about Ragstone itself, titles of documents elsewhere."""
    if (engine.folder / "src" / "ragstone" / "engine" / "__init__.py").is_file():
        yield from OWN
        return
    seen = set()
    for document in engine.sources():
        title = document.title or Path(document.uri).stem
        if len(title) > 3 and title not in seen:
            seen.add(title)
            yield Question(title, f"the title of {document.uri}" if document.title else f"the name of {document.uri}")


def _found(engine: Engine, question: Question, mode: Mode) -> list[Hit]:
    """Return the best hits, less the file that the questions themselves stand in."""
    found = engine.search(question.text, _PLACES + 1, mode=mode)
    return [hit for hit in found if not hit.source_doc_id.endswith(_THIS_FILE)][:_PLACES]


def _asked(engine: Engine, question: Question) -> present.Json:
    found: present.Json = {
        mode: [present.hit(hit) for hit in engine.search(question.text, 3, mode=mode)] for mode, _ in WAYS
    }
    return {"query": question.text, "shows": question.shows, **found}


def _show(engine: Engine, question: Question) -> None:
    say()
    say(("? ", "bold"), (safe(question.text), "bold"), (f"   {safe(question.shows)}", "dim"))
    best: list[Hit] = []
    for mode, name in WAYS:
        found = _found(engine, question, mode)
        best = found[:1]
        say((f"{name:>12}  ", "dim"), *_places(found))
    say()
    hits.show(best, question.text, lines=_LINES)


def _places(found: list[Hit]) -> list[Part]:
    if not found:
        return [("nothing", "dim")]
    parts: list[Part] = []
    for hit in found:
        parts += ["" if not parts else ", ", (safe(hit.place), "cyan"), (f" {hit.score:.2f}", "green")]
    return parts


def _farewell(engine: Engine) -> None:
    say()
    called = Path(sys.argv[0])
    command = str(called) if called.name.startswith("ragstone") else f"{sys.executable} -m ragstone"
    say(f"The index is in {safe(str(engine.home))}, the command is {safe(command)}. Try:")
    say('  ragstone search "your own question"        in any folder')
    say('  ragstone explain "your own question"       why these hits, and what was left out')
    say("  ragstone status                            what is indexed")
