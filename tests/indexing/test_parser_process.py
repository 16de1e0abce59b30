"""What may never end is parsed where it can be stopped."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragstone.code.symbols import read
from ragstone.indexing.parser_process import UNSURE, Beside, facts_of, main
from ragstone.indexing.prepare import Cut, prepared
from ragstone.types import Document

KOTLIN = (Path(__file__).parent.parent / "code" / "samples" / "Library.kt").read_text("utf-8")
ENDLESS = KOTLIN.replace("output.send(track)", 'output.send(track)\n*\n$\ufeff\ud800"a')


def test_the_same_is_said_as_in_this_process() -> None:
    assert facts_of(KOTLIN, "a/Library.kt") == read(KOTLIN, "a/Library.kt")
    assert facts_of("def f(): ...", "a.py") == read("def f(): ...", "a.py")
    assert facts_of("text", "a.txt") is None


def test_a_text_that_would_keep_its_grammar_for_ever_is_given_up_and_the_next_is_read() -> None:
    beside = Beside(seconds=1.0)
    begun = time.monotonic()
    assert beside.ask(ENDLESS, "a.kt", "") is None
    assert time.monotonic() - begun < 30
    assert beside.ask("class Song", "b.kt", "") == read("class Song", "b.kt")
    beside.close()


def test_a_file_whose_parser_was_stopped_is_cut_by_lines_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(seconds=1.0)
    monkeypatch.setattr("ragstone.indexing.parser_process._BESIDE", beside)
    cut = prepared(Document("a.kt", ENDLESS, kind="code", language="kotlin"), Cut())
    assert " ".join(chunk.text for chunk in cut.chunks).split() == ENDLESS.split()
    assert any("cut by lines" in remark for remark in cut.document.remarks)
    beside.close()


def test_a_process_that_died_is_started_again() -> None:
    beside = Beside()
    assert beside.ask("class A", "a.kt", "") is not None
    assert beside._process is not None
    beside._process.kill()
    beside._process.wait()
    assert beside.ask("class B", "b.kt", "") is not None
    beside.close()


def test_only_what_needs_it_is_asked_elsewhere() -> None:
    assert {"kotlin"} == UNSURE
    assert callable(main)
