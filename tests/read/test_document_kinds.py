from __future__ import annotations

import pytest

from ragstone.errors import ReadError
from ragstone.read.choose_reader import reader_for
from ragstone.read.document_kinds import kind_of
from ragstone.read.file_formats import explain_refusal, suffix_of


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
        (".cursor/rules/a.mdc", "cursor_rule", "markdown"),
        ("app/.cursor/rules/sub/b.md", "cursor_rule", "markdown"),
        (".cursorrules", "cursor_rule", "markdown"),
        (".claude/commands/review.md", "claude_rule", "markdown"),
        ("CLAUDE.md", "claude_rule", "markdown"),
        ("pkg/AGENTS.md", "agent_rule", "markdown"),
        (".github/copilot-instructions.md", "agent_rule", "markdown"),
        ("docs/agents/overview.md", "doc", "markdown"),
        ("src/claude.py", "code", "python"),
        ("docs/adr/0001-one-file.md", "adr", "markdown"),
        ("docs/adr/README.md", "readme", "markdown"),
        ("docs/adr/template.md", "doc", "markdown"),
        ("docs/decisions/0007-words.md", "adr", "markdown"),
        ("docs/decisions/notes.md", "doc", "markdown"),
        ("doc/arch/adr-003.md", "adr", "markdown"),
        ("doc/architecture/decisions/0001-x.rst", "adr", "rst"),
        ("src/adr/loader.py", "code", "python"),
        ("docs/KNOWN_BUGS.md", "known_bug", "markdown"),
        ("known-issues.txt", "known_bug", "text"),
        ("docs/known_bugs/upload.md", "known_bug", "markdown"),
        ("src/known_bugs.py", "code", "python"),
        ("web/composer.json", "package", "json"),
        ("Cargo.toml", "package", "toml"),
        ("go.mod", "package", "text"),
        ("ios/Podfile", "package", "ruby"),
        ("Package.swift", "package", "swift"),
        ("a.docx", "doc", "docx"),
        ("a.pptx", "doc", "pptx"),
        ("a.xlsx", "data", "xlsx"),
        ("a.epub", "doc", "epub"),
        ("guide.rst", "doc", "rst"),
        ("notes.txt", "doc", "text"),
        ("README.md", "readme", "markdown"),
        ("sub/readme", "readme", "text"),
        ("README.de.md", "readme", "markdown"),
        ("readmes.py", "code", "python"),
        ("pyproject.toml", "package", "toml"),
        ("a.yml", "config", "yaml"),
        ("package.json", "package", "json"),
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
def test_the_name_decides_kind_and_language(uri: str, kind: str, language: str) -> None:
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
def test_the_first_line_decides_if_the_name_is_unknown(
    first: bytes, found: tuple[str, str]
) -> None:
    assert kind_of("bin/tool", first) == found
    assert kind_of("bin/tool.py", first) == ("code", "python")


@pytest.mark.parametrize(
    "name", ["a.png", "d.doc", "e.zip", "f.mp4", "g.xls", "h.pyc", "i.sqlite"]
)
def test_types_without_a_reader_are_refused_in_one_sentence(name: str) -> None:
    suffix = name.rpartition(".")[2].lower()
    assert str(explain_refusal(name)).startswith(f"unsupported type .{suffix} (")
    with pytest.raises(ReadError, match="unsupported type"):
        reader_for(name)


def test_a_leading_dot_is_not_a_suffix() -> None:
    assert suffix_of(".png") == "" and explain_refusal("dir/.png") is None
    assert suffix_of("a.tar.gz") == "gz"


@pytest.mark.parametrize(
    ("uri", "data", "kind"),
    [
        ("api/spec.yaml", b"# pets\nopenapi: 3.1.0\ninfo: {}\n", "openapi"),
        ("spec.json", b'{"swagger": "2.0", "paths": {}}', "openapi"),
        ("openapi.json", b'{"info": {},' + b" " * 5000 + b'\n"openapi": "3.0.0"}', "openapi"),
        ("spec.json", b'{"name": "openapi", "x": "openapi: 3.0"}', "config"),
        ("openapi.yaml", b"generator: x\n", "config"),
        ("config/app.php", b"<?php\n\nreturn [\n    'a' => 1,\n];\n", "config"),
        ("config/Loader.php", b"<?php\nclass Loader {}\n", "code"),
        ("src/app.php", b"<?php\nreturn [];\n", "code"),
    ],
)
def test_the_first_lines_tell_an_api_and_a_settings_file(
    uri: str, data: bytes, kind: str
) -> None:
    assert kind_of(uri, data)[0] == kind
