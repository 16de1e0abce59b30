"""A parser that may never end runs in a process that can be stopped."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from ragstone.code.symbols import read_facts
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.parser_process import UNSAFE_LANGUAGES, ParserProcess, main, parse_facts
from ragstone.indexing.prepare import prepare_document
from ragstone.types import Document

KOTLIN = (Path(__file__).parent.parent / "code" / "samples" / "Library.kt").read_text("utf-8")
ENDLESS = KOTLIN.replace("output.send(track)", 'output.send(track)\n*\n$\ufeff\ud800"a')


def test_the_facts_are_the_same_as_in_this_process() -> None:
    assert parse_facts(KOTLIN, "a/Library.kt") == read_facts(KOTLIN, "a/Library.kt")
    assert parse_facts("def f(): ...", "a.py") == read_facts("def f(): ...", "a.py")
    assert parse_facts("text", "a.txt") is None


def test_an_endless_parse_is_stopped_and_the_next_file_is_parsed() -> None:
    parser = ParserProcess(seconds=1.0)
    begun = time.monotonic()
    assert parser.parse(ENDLESS, "a.kt", "") is None
    assert time.monotonic() - begun < 30
    assert parser.parse("class Song", "b.kt", "") == read_facts("class Song", "b.kt")
    parser.close()


def test_a_file_whose_parser_was_stopped_is_cut_by_lines_with_a_remark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser = ParserProcess(seconds=1.0)
    monkeypatch.setattr("ragstone.indexing.parser_process.PARSER", parser)
    cut, _ = prepare_document(
        Document("a.kt", ENDLESS, kind="code", language="kotlin"), ChunkingConfig()
    )
    assert " ".join(chunk.text for chunk in cut.chunks).split() == ENDLESS.split()
    assert any("cut by lines" in remark for remark in cut.document.remarks)
    parser.close()


def test_a_killed_process_is_started_again() -> None:
    parser = ParserProcess()
    assert parser.parse("class A", "a.kt", "") is not None
    assert parser.pid is not None
    os.kill(parser.pid, signal.SIGKILL)
    assert parser.parse("class B", "b.kt", "") is not None
    parser.close()


def test_only_kotlin_is_parsed_in_the_process() -> None:
    assert {"kotlin"} == UNSAFE_LANGUAGES
    assert callable(main)
