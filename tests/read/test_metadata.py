"""Status, date, name and version in a file become metadata."""

from __future__ import annotations

import json

import pytest

from ragstone.read.document_kinds import extract_metadata, is_json, parse_front_matter
from ragstone.read.plain import PlainReader
from ragstone.types import Document


def read(uri: str, text: str) -> Document:
    return PlainReader().read(text.encode(), uri)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# 1. Use it\n\nDate: 2024-03-05\n\n## Status\n\nAccepted\n",
            {"status": "accepted", "date": "2024-03-05"},
        ),
        (
            "# Use it\n\n* Status: superseded by [ADR-5](5.md)\n* Date: 2024/3/5\n",
            {"status": "superseded", "date": "2024-03-05"},
        ),
        (
            "---\nstatus: proposed\ndate: 2024-01-02\n---\n# T\n\nStatus: other\n",
            {"status": "proposed", "date": "2024-01-02"},
        ),
        ("# T\n\n**Status:** Deprecated\n", {"status": "deprecated"}),
        ("# T\n\n- **Status**: Rejected\n", {"status": "rejected"}),
        ("T\n=\n\nStatus\n------\n\nAccepted.\n", {"status": "accepted"}),
        ("# T\n\nAccepted (2026-11). Why: because.\n", {}),
        ("# T\n\nNothing is said of a status here.\n", {}),
    ],
)
def test_a_decision_tells_its_status_and_date(text: str, expected: dict[str, str]) -> None:
    document = read("docs/adr/0001-t.md", text)
    assert document.kind == "adr" and document.metadata == expected


@pytest.mark.parametrize(
    ("uri", "text", "expected"),
    [
        (
            "package.json",
            '{"name": "web", "version": "1.2", "dependencies": {"a": "1"}, "devDependencies": {"b": "1", "c": "2"}}',
            {"name": "web", "version": "1.2", "dependencies": 3},
        ),
        (
            "composer.json",
            '{"name": "a/b", "require": {"php": "8"}}',
            {"name": "a/b", "dependencies": 1},
        ),
        (
            "pyproject.toml",
            '[project]\nname = "p"\nversion = "3"\ndependencies = ["x", "y"]\n',
            {"name": "p", "version": "3", "dependencies": 2},
        ),
        (
            "Cargo.toml",
            '[package]\nname = "c"\nversion = "0.1"\n[dependencies]\nserde = "1"\n',
            {"name": "c", "version": "0.1", "dependencies": 1},
        ),
        (
            "go.mod",
            "module x.org/m\n\ngo 1.22\n\nrequire (\n\ta.org/b v1.2.3\n\tc.org/d v0.1.0 // indirect\n)\n"
            "require e.org/f v1\n",
            {"name": "x.org/m", "go": "1.22", "dependencies": 3},
        ),
        (
            "Podfile",
            "target 'App' do\n  pod 'A'\n  pod \"B\", '~> 1'\nend\n",
            {"dependencies": 2},
        ),
        (
            "Package.swift",
            'let p = Package(name: "Kit", dependencies: [.package(url: "u", from: "1")])',
            {"name": "Kit", "dependencies": 1},
        ),
        ("package.json", "{broken", {}),
        ("pyproject.toml", "= broken", {}),
        ("package.json", "[1]", {}),
        ("package.json", '{"name": 5, "dependencies": 5}', {"dependencies": 0}),
    ],
)
def test_a_manifest_tells_name_version_and_dependencies(
    uri: str, text: str, expected: dict[str, object]
) -> None:
    document = read(uri, text)
    assert (
        document.kind == "package" and document.metadata == expected and document.text == text
    )


def test_a_rule_has_its_description_and_globs() -> None:
    document = read(
        ".cursor/rules/a.mdc",
        "---\ndescription: Style of tests\nglobs: tests/**\n---\nWrite sentences.\n",
    )
    assert document.metadata == {"description": "Style of tests", "globs": "tests/**"}
    assert read("AGENTS.md", "# Agents\n\nBe kind.\n").metadata == {}


def test_an_api_is_titled_as_it_calls_itself() -> None:
    assert read("api.yaml", "openapi: 3.0.0\ninfo:\n  title: Pet Store\n").title == "Pet Store"
    assert (
        read(
            "api.json", json.dumps({"openapi": "3.0.0", "info": {"title": "Pets"}}, indent=1)
        ).title
        == "Pets"
    )


def test_broken_json_is_remarked_on_and_json_with_comments_is_not() -> None:
    assert read("a.json", '{"a": 1').remarks == ("no sound JSON: cut by lines",)
    assert read("tsconfig.json", '{\n // c\n "a": [1, 2,], /* d */\n}\n').remarks == ()
    assert is_json('{"a": "//", "b": ",]"}')
    assert not is_json("[" * 100_000)
    assert read("empty.json", "").remarks == read("a.yaml", "{}").remarks == ()


def test_front_matter_is_read_only_at_the_top() -> None:
    assert parse_front_matter("---\ntitle: 'x'\n---\n") == {"title": "x"}
    assert (
        parse_front_matter("text\n---\ntitle: x\n---\n")
        == parse_front_matter("---\ntitle: x\n")
        == {}
    )
    assert extract_metadata("code", "python", "---\nstatus: x\n---\n") == {}
