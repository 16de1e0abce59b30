"""Files of real projects. Set REAL_PROJECTS to a folder of checked-out projects to run these tests."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path

import pytest

from ragstone.chunk.chunkers import chunker_for
from ragstone.code.file_languages import language_of
from ragstone.code.grammars import LANGUAGES
from ragstone.code.symbols import read_facts
from ragstone.types import Document, Symbol

PER_LANGUAGE = 40
COMMENT = {"python": "#", "ruby": "#"}


def _files() -> dict[str, list[Path]]:
    """Return some files of each language, the same in each run."""
    root = os.environ.get("REAL_PROJECTS", "")
    paths_by_language: dict[str, list[Path]] = defaultdict(list)
    for folder, _, names in os.walk(root, followlinks=True) if root else ():
        for name in sorted(names):
            path = Path(folder, name)
            language = language_of(name)
            if language and 500 < path.stat().st_size < 200_000:
                paths_by_language[language].append(path)
    chosen = random.Random(7)
    return {
        name: chosen.sample(sorted(paths), min(PER_LANGUAGE, len(paths)))
        for name, paths in paths_by_language.items()
    }


FILES = _files()


def symbols_of(text: str, path: Path) -> tuple[Symbol, ...]:
    facts = read_facts(text, path.name)
    assert facts is not None
    return facts.symbols


def cut(text: str, path: Path) -> list[str]:
    language = {"tsx": "typescript"}.get(language_of(path.name), language_of(path.name))
    document = Document(
        path.name, text, kind="code", language=language, symbols=symbols_of(text, path)
    )
    return [chunk.text for chunk in chunker_for(document).chunk(document)]


def edited(text: str, path: Path, symbol: Symbol) -> str:
    """Return the text with a comment in front of the last line of a function."""
    lines = text.split("\n")
    sign = COMMENT.get(language_of(path.name), "//")
    last = lines[symbol.line_end - 1]
    indentation = last[: len(last) - len(last.lstrip())]
    lines.insert(symbol.line_end - 1, f"{indentation}{sign} looked at again")
    return "\n".join(lines)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_edit_in_a_real_file_changes_one_symbol_and_its_chunks(
    language: str,
) -> None:
    paths = FILES.get(language)
    if not paths:
        pytest.skip("no files of it: REAL_PROJECTS=DIR names a folder of checked-out projects")
    edits = elsewhere = 0
    for path in paths:
        text = path.read_text("utf-8", "replace").replace("\r\n", "\n")
        facts = read_facts(text, path.name)
        assert facts is not None, path
        lines = text.split("\n")
        for symbol in facts.symbols:
            assert symbol.name.rpartition(".")[2] in lines[symbol.line - 1], (path, symbol)
        functions = [
            symbol
            for symbol in facts.symbols
            if symbol.kind in ("function", "method") and symbol.line_end - symbol.line > 2
        ]
        if facts.broken or not functions:
            continue
        function = functions[len(functions) // 2]
        after = edited(text, path, function)
        new_symbols = symbols_of(after, path)
        assert [(s.qualified, s.kind) for s in new_symbols] == [
            (s.qualified, s.kind) for s in facts.symbols
        ], path
        for old, new in zip(facts.symbols, new_symbols, strict=True):
            around = old.start <= function.start and function.end <= old.end
            same = text[old.start : old.end] == after[new.start : new.end]
            assert (
                same or around or (function.start <= old.start and old.end <= function.end)
            ), (
                path,
                old.qualified,
            )
        new_chunks = set(cut(after, path))
        recut = [piece for piece in cut(text, path) if piece not in new_chunks]
        elsewhere += any(not _overlap(text, piece, function) for piece in recut)
        edits += 1
    assert edits
    # An edited function that no longer fits into the chunk of its small neighbours moves their border.
    assert elsewhere <= edits / 10


def _overlap(text: str, piece: str, symbol: Symbol) -> bool:
    at = text.find(piece)
    while at >= 0:
        if at < symbol.end and symbol.start < at + len(piece):
            return True
        at = text.find(piece, at + 1)
    return False
