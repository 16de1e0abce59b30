"""Captured help in a collection: found by its words, replaced when captured again, no orphans."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import ReadError
from ragstone.sources.command_help.help import HelpLimits

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="programs are asked on Linux and macOS only"
)

SOURCE = """
import sys
words = [word for word in sys.argv[1:] if word != "--help"]
about = {about!r}
print("Usage: quarry", *words, "[OPTIONS]\\n\\n  ", about[" ".join(words)], "\\n")
below = [name for name in about if name.rpartition(" ")[0] == " ".join(words) and name]
if below:
    print("Commands:")
for name in below:
    print(f"  {{name.split()[-1]}}   {{about[name]}}")
"""
FIRST = {
    "": "Works with stones.",
    "dig": "Digs a hole.",
    "cart": "Moves a wagon.",
    "cart push": "Shoves it along.",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "bin" / "quarry"


def written(program: Path, about: dict[str, str]) -> str:
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable}\n{SOURCE.format(about=about)}", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def uris(engine: Engine) -> list[str]:
    return [document.uri for document in engine.sources(collection="help")]


def test_help_is_found_by_its_words(engine: Engine, program: Path) -> None:
    report = engine.external.capture(written(program, FIRST))
    assert (report.found, report.indexed, report.ok) == (4, 4, True)
    assert uris(engine) == [
        "help:quarry",
        "help:quarry/cart",
        "help:quarry/cart/push",
        "help:quarry/dig",
    ]
    hit = engine.search(
        "shoves", mode="words", filters={"kind": "help", "command": "quarry cart push"}
    )[0]
    assert (hit.source_doc_id, hit.title, hit.collection) == (
        "help:quarry/cart/push",
        "quarry cart push",
        "help",
    )
    assert (engine.admin.text("help:quarry/dig", collection="help") or "").startswith(
        "# quarry dig\n\nWhat `quarry dig --help`"
    )


def test_capturing_again_replaces_and_leaves_no_orphan(engine: Engine, program: Path) -> None:
    engine.external.capture(written(program, FIRST))
    assert engine.external.capture(str(program)).unchanged == 4
    second = {"": "Works with stones.", "dig": "Digs deeper.", "blast": "Uses powder."}
    report = engine.external.capture(written(program, second))
    assert (report.indexed, report.unchanged, report.removed) == (3, 0, 2)
    assert uris(engine) == ["help:quarry", "help:quarry/blast", "help:quarry/dig"]
    assert engine.search("shoves", mode="words") == []


def test_help_that_was_not_captured_this_time_stays(engine: Engine, program: Path) -> None:
    engine.external.capture(written(program, FIRST))
    shallow = engine.external.capture(str(program), limits=HelpLimits(depth=1))
    assert (shallow.removed, shallow.skipped[0].uri) == (0, "help:quarry/cart/push")
    few = engine.external.capture(str(program), limits=HelpLimits(commands=1))
    assert (few.removed, few.ok) == (0, False)
    assert len(uris(engine)) == 4


def test_other_programs_and_a_sync_do_not_change_captured_help(
    engine: Engine, program: Path
) -> None:
    engine.external.capture(written(program, FIRST), collection="default")
    other = written(
        program.with_name("quarry-two"), {"": "Another program, whose name begins alike."}
    )
    engine.external.capture(other, collection="default")
    engine.sync(full=True)
    engine.external.capture(str(program), collection="default")
    assert sum(document.source == "help" for document in engine.sources()) == 5


def test_a_program_that_gives_no_help_changes_nothing(engine: Engine, program: Path) -> None:
    engine.external.capture(written(program, FIRST))
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    with pytest.raises(ReadError):
        engine.external.capture(str(program))
    assert len(uris(engine)) == 4


def test_vectors_of_help_may_wait_and_report_progress(engine: Engine, program: Path) -> None:
    steps: list[str] = []
    report = engine.external.capture(
        written(program, FIRST), embed=False, progress=lambda step, done, of: steps.append(step)
    )
    assert (report.embedded, steps) == (0, [])
    again = engine.external.capture(
        str(program), progress=lambda step, done, of: steps.append(step)
    )
    assert (again.embedded, again.pending) == (report.chunks_added, 0)
    assert set(steps) == {"embed"}
