from __future__ import annotations

import pytest

from ragstone.errors import ReadError
from ragstone.read.choose import reader_for, refusal
from ragstone.read.kinds import kind_of, suffix_of


@pytest.mark.parametrize(
    ("uri", "kind", "language"),
    [
        ("src/a.py", "code", "python"),
        ("src/A.PY", "code", "python"),
        ("a.tsx", "code", "typescript"),
        ("a.php", "code", "php"),
        ("a.swift", "code", "swift"),
        ("a.hpp", "code", "cpp"),
        ("docs/guide.md", "doc", "markdown"),
        (".cursor/rules/a.mdc", "doc", "markdown"),
        ("guide.rst", "doc", "rst"),
        ("notes.txt", "doc", "text"),
        ("README.md", "readme", "markdown"),
        ("sub/readme", "readme", "text"),
        ("README.de.md", "readme", "markdown"),
        ("readmes.py", "code", "python"),
        ("pyproject.toml", "config", "toml"),
        ("a.yml", "config", "yaml"),
        ("package.json", "config", "json"),
        ("requirements.txt", "config", "text"),
        ("Dockerfile", "config", "docker"),
        ("Dockerfile.dev", "config", "docker"),
        (".env.example", "config", "dotenv"),
        (".gitignore", "config", "gitignore"),
        ("rows.csv", "data", "csv"),
        ("rows.jsonl", "data", "jsonl"),
        ("LICENSE", "doc", "text"),
        ("whatever.unknown", "text", "text"),
        ("no-suffix", "text", "text"),
    ],
)
def test_the_name_says_what_a_file_is(uri: str, kind: str, language: str) -> None:
    assert kind_of(uri) == (kind, language)


@pytest.mark.parametrize(
    ("first", "found"),
    [
        (b"#!/bin/sh\n", ("code", "shell")),
        (b"#!/usr/bin/env python3.11\n", ("code", "python")),
        (b"#! /usr/bin/env -S node --flag\n", ("code", "javascript")),
        (b"#!/opt/strange\n", ("text", "text")),
        (b"#!", ("text", "text")),
        (b"no shebang #!/bin/sh\n", ("text", "text")),
    ],
)
def test_the_first_line_speaks_where_the_name_does_not(first: bytes, found: tuple[str, str]) -> None:
    assert kind_of("bin/tool", first) == found
    assert kind_of("bin/tool.py", first) == ("code", "python")


@pytest.mark.parametrize("name", ["a.png", "d.docx", "e.zip", "f.mp4", "g.ipynb", "h.pyc", "i.sqlite"])
def test_types_without_a_reader_are_refused_in_one_sentence(name: str) -> None:
    suffix = name.rpartition(".")[2].lower()
    assert str(refusal(name)).startswith(f"unsupported type .{suffix} (")
    with pytest.raises(ReadError, match="unsupported type"):
        reader_for(name)


def test_a_leading_dot_is_not_a_suffix() -> None:
    assert suffix_of(".png") == "" and refusal("dir/.png") is None
    assert suffix_of("a.tar.gz") == "gz"
