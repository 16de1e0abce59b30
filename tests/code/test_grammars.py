"""The language of a file, and the grammar and query of each language."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib.resources import files
from pathlib import Path

import pytest

from ragstone.code.file_languages import language_of
from ragstone.code.grammars import (
    LANGUAGES,
    MAX_BYTES,
    grammar_of,
    parser_for,
    query_of,
    tree_of,
)
from ragstone.code.symbols import read_facts

SAMPLES = Path(__file__).parent / "samples"

GROUPS = {"definition", "reference", "import", "binding"}
PLAIN = {
    "name",
    "body",
    "owner",
    "scope",
    "around",
    "inner",
    "attached",
    "docstring",
    "namespace",
    "broken",
}
BESIDE = {"alias", "prefix", "receiver", "type", "value"}
REFERENCES = {
    "call",
    "new",
    "extends",
    "implements",
    "uses_trait",
    "type",
    "decorates",
    "raise",
}


@pytest.mark.parametrize(
    ("uri", "language"),
    [
        ("a.py", "python"), ("src/A.PHP", "php"), ("a.jsx", "javascript"), ("a.mts", "typescript"), ("a.tsx", "tsx"),
        ("A.swift", "swift"), ("a.go", "go"), ("a.rs", "rust"), ("A.java", "java"), ("build.gradle.kts", "kotlin"),
        ("a.h", "c"), ("a.hpp", "cpp"), ("A.cs", "csharp"), ("Rakefile", "ruby"), ("lib/x.rake", "ruby"),
        ("a.txt", ""), ("noext", ""), ("", ""), ("dir.py/readme", ""), ("show.blade.php", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_file_decides_its_language(uri: str, language: str) -> None:
    assert language_of(uri) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_query_that_compiles_and_uses_known_captures(
    language: str,
) -> None:
    query = query_of(language)
    names = {query.capture_name(at) for at in range(query.capture_count)}
    for name in names:
        group, _, kind = name.partition(".")
        assert group in GROUPS | PLAIN | BESIDE or name.startswith("_"), name
        if group == "reference":
            assert kind in REFERENCES
        if group == "binding":
            assert kind in {
                "parameter",
                "local",
                "field",
                "declared",
                "made",
                "other",
                "assigned",
            }
    assert {"name", "body", "attached", "broken", "reference.call"} <= names
    assert any(name.startswith("definition.") for name in names)


def test_every_query_file_belongs_to_a_language() -> None:
    present = {
        path.name.removesuffix(".scm")
        for path in (files("ragstone.code") / "languages").iterdir()
    }
    assert present >= set(LANGUAGES) - {"tsx"}
    assert present - set(LANGUAGES) == {"every", "script", "elements"}


def test_a_language_without_a_grammar_is_refused() -> None:
    with pytest.raises(KeyError):
        parser_for("cobol")


def test_each_thread_has_its_own_parser() -> None:
    parsers: list[object] = []
    threads = [
        threading.Thread(target=lambda: parsers.append(parser_for("go"))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(parser) for parser in [*parsers, parser_for("go")]}) == 4
    assert parser_for("go") is parser_for("go")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", b"x = 1\n" * (MAX_BYTES // 6 + 1)),
        ("swift", b"/*" * 20_000),
        ("kotlin", b"/*" * 20_000),
        ("python", b"(" * 60_000),
        ("javascript", b"(" * 60_000),
    ],
)
def test_a_text_that_would_take_too_long_is_not_parsed(language: str, text: bytes) -> None:
    assert tree_of(text, language) is None


def test_a_long_program_is_parsed() -> None:
    text = b"def f(x):\n    return [x, 1, 'two']\n\n\n" * 8_000
    tree = tree_of(text, "python")
    assert tree is not None
    assert tree.root_node.end_byte == len(text)


def test_no_grammar_is_loaded_before_a_file_needs_it() -> None:
    program = (
        "import sys, ragstone, ragstone.code.symbols as symbols\n"
        "assert not [name for name in sys.modules if name.startswith('tree_sitter_')]\n"
        "symbols.read_facts('x = 1', 'a.py')\n"
        "assert {n for n in sys.modules if n.startswith('tree_sitter_')} <= "
        "{'tree_sitter_python', 'tree_sitter_python._binding'}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("sign", ["\x01", "\xa0", "\u2028", "\ufeff", "👍", "#", "\\ ", "`"])
def test_a_foreign_sign_in_kotlin_does_not_block_the_parser(sign: str) -> None:
    before, _, after = (
        (SAMPLES / "Library.kt")
        .read_text("utf-8")
        .partition("(loudness)\n        output.send(trac")
    )
    assert after
    text = f"{before}\n{sign}{after}"
    tree = tree_of(text.encode(), "kotlin")
    assert tree is not None
    assert tree.root_node.end_byte == len(text.encode())


def test_a_language_whose_optional_package_is_missing_has_no_grammar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_scala", None)
    grammar_of.cache_clear()
    query_of.cache_clear()
    try:
        with pytest.raises(KeyError):
            grammar_of("scala")
        assert read_facts("object A\n", "A.scala") is None
    finally:
        grammar_of.cache_clear()
        query_of.cache_clear()
