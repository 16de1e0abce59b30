"""The demo: its sample folder, its output, and the README that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import make_sample_pdf
import pytest
import record_demo

from ragstone.surfaces.cli.commands.demo import SAMPLE

Command = Callable[..., Any]


@pytest.fixture(scope="module")
def output() -> str:
    """Return the output of one run, with the built-in model."""
    return record_demo.record()


def test_the_readme_shows_the_output_of_the_demo(output: str) -> None:
    shown = record_demo.normalise(record_demo.readme_output())
    assert shown == record_demo.normalise(output), "run `make readme`"


def test_the_picture_shows_the_output_of_the_demo(output: str) -> None:
    picture = record_demo.PICTURE.read_text(encoding="utf-8")
    drawn = [
        unescape(re.sub(r"<[^>]+>", "", line))
        for line in re.findall(r"<text[^>]*>(.*)</text>", picture)
    ]
    assert len(drawn) > 30
    lines = {line.rstrip() for line in record_demo.normalise(output).splitlines()}
    for line in record_demo.normalise("\n".join(drawn)).splitlines():
        text = line.rstrip()
        is_shown = text in lines or any(whole.startswith(text[:-1]) for whole in lines)
        assert is_shown, f"run `make readme`: {text}"


def test_new_chunks_and_summaries_are_as_many_as_new_vectors(output: str) -> None:
    numbers = re.search(
        r"^(\d+) chunks new, 0 kept, (\d+) summaries of the code graph,.*\nvectors: (\d+) new,",
        output,
        re.MULTILINE,
    )
    assert numbers is not None, output
    chunks, summaries, vectors = map(int, numbers.groups())
    assert chunks + summaries == vectors


def test_the_readme_shows_the_whole_output(output: str) -> None:
    assert output.startswith("A sample folder: code, Markdown and a PDF of a small shop.\n")
    assert "(1 passage, " in output and "left out: --verbose lists them)" in output
    assert output.endswith('Now in a folder of yours: ragstone "your question"\n')


def test_the_demo_shows_a_meaning_a_name_a_page_a_route_and_a_context(output: str) -> None:
    steps = re.split(r"^# ", output, flags=re.MULTILINE)
    by_title = {step.partition("\n")[0].split(",")[0]: step for step in steps}
    assert "docs/adr/0001-whole-cents.md:1" in by_title["A meaning"]
    assert "app/Services/Stock.php:" in by_title["An exact name"]
    assert "docs/saw-manual.pdf p.3" in by_title["A page of a PDF"]
    route = by_title["A route and its guard"]
    assert "auth:sanctum and can:cancel,order (routes/api.php:10)" in route
    context = by_title["A context for a prompt"]
    assert "<<<retrieved " in context and "File: app/Policies/OrderPolicy.php" in context


def test_the_default_finds_more_than_words_or_vectors_alone(output: str) -> None:
    match = re.search(
        r"^right at place 1, of (\d+) +(\d+) +(\d+) +(\d+)$", output, re.MULTILINE
    )
    assert match is not None
    total, words, vectors, both = map(int, match.groups())
    assert max(words, vectors) < both <= total


def test_the_pdf_of_the_sample_is_the_one_that_the_tool_writes() -> None:
    assert make_sample_pdf.TARGET.read_bytes() == make_sample_pdf.make_pdf()
    assert make_sample_pdf.TARGET == SAMPLE / "docs" / "saw-manual.pdf"


def test_the_demo_leaves_nothing_behind_unless_a_folder_is_named(
    quick: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    data = quick("demo", "--json").json
    assert data["sync"]["failed"] == []
    assert set(data["first"]) == {"words", "vectors", "both"}
    assert list(temporary.iterdir()) == []
    assert not (project / ".ragstone").exists()
    kept = tmp_path / "kept"
    assert quick("demo", "-C", str(kept), "--json").code == 0
    assert (kept / "docs" / "saw-manual.pdf").exists()


def test_the_demo_does_not_write_into_a_folder_with_files(
    quick: Command, project: Path
) -> None:
    before = sorted(project.rglob("*"))
    ran = quick("demo", "-C", ".")
    assert (ran.code, "not empty" in ran.err) == (2, True)
    assert sorted(project.rglob("*")) == before
