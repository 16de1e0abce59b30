"""A structured file that does not parse says so in the report, with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.read.plain import describe_syntax_error

BROKEN = {
    "a.json": ('{"a": 1,, "b": 2}', "no sound JSON"),
    "b.yaml": ("a: 1\nb: [1, 2\nc: 3\n", "no sound YAML: line 3"),
    "c.toml": ('a = 1\nb = "x\n', "no sound TOML: line 2"),
    "d.ipynb": ('{"cells": [', "no sound JSON"),
    "e.py": ("def a(:\n  ((((\nclass\n", "could be parsed"),
    "f.php": ("<?php\nclass { function ((( }\n}}}}\n", "could be parsed"),
    "g.ts": ("class {{{ function (((\n", "could be parsed"),
    "h.go": ("package a\nfunc ((( {\n}}}\n", "could be parsed"),
    "i.rs": ("fn (((( {\n", "could be parsed"),
    "j.java": ("class {{{ void (((\n", "could be parsed"),
    "k.rb": ("class def def ((((\n", "could be parsed"),
    "l.cs": ("class {{{ void (((\n", "could be parsed"),
    "m.kt": ("class {{{ fun (((\n", "could be parsed"),
    "n.swift": ("class {{{ func (((\n", "could be parsed"),
    "o.c": ("int (((( {\n", "could be parsed"),
    "p.cpp": ("class {{{ void (((\n", "could be parsed"),
    "q.js": ("class {{{ function (((\n", "could be parsed"),
    "r.sh": ("if then (((( fi fi\n", "could be parsed"),
    "s.lua": ("function (((( end end\n", "could be parsed"),
    "t.ex": ("defmodule do (((( end end\n", "could be parsed"),
    "u.zig": ("fn (((( {\n", "could be parsed"),
    "v.hs": ("module where (((( =\n= = =\n", "could be parsed"),
    "w.scala": ("class {{{ def (((\n", "could be parsed"),
    "x.tsx": ("const a = <div {{{ (((\n", "could be parsed"),
    "y.jsx": ("const a = <div {{{ (((\n", "could be parsed"),
}


def test_every_file_that_does_not_parse_is_named_in_the_report(tmp_path: Path) -> None:
    for name, (text, _) in BROKEN.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "sound.yaml").write_text("a: !Ref x\nb: &c [1]\nd: *c\n", encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        report = engine.sync()
    reasons = {skip.uri: skip.reason for skip in (*report.remarks, *report.failed)}
    assert reasons.keys() == BROKEN.keys()
    for name, (_, expected) in BROKEN.items():
        assert expected in reasons[name], (name, reasons[name])


def test_a_report_names_the_first_line_that_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a\n\nfunc ((( {\n}}}\n", encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        (remark,) = engine.sync().remarks
    assert re.search(r"the parser failed on \d+ of 5 lines, first on line [34]$", remark.reason)


@pytest.mark.parametrize("language", ["yaml", "toml"])
def test_a_text_of_brackets_is_checked_in_bounded_time(language: str) -> None:
    describe_syntax_error(language, "[" * 20_000)
    assert describe_syntax_error(language, "[" * 400_000) == ""
