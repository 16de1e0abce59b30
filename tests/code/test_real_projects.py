"""Files of real projects, where somebody has them: REAL_PROJECTS names a folder of checked-out ones."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path

import pytest

from ragstone.chunk.chunkers import chunker_for
from ragstone.code.grammars import LANGUAGES, language_of
from ragstone.code.symbols import read_facts
from ragstone.types import Document, Symbol

PER_LANGUAGE = 40
COMMENT = {"python": "#", "ruby": "#"}


def _files() -> dict[str, list[Path]]:
    """Return some files of each language, the same ones each time."""
    root = os.environ.get("REAL_PROJECTS", "")
    found: dict[str, list[Path]] = defaultdict(list)
    for folder, _, names in os.walk(root, followlinks=True) if root else ():
        for name in sorted(names):
            path = Path(folder, name)
            language = language_of(name)
            if language and 500 < path.stat().st_size < 200_000:
                found[language].append(path)
    chosen = random.Random(7)
    return {
        name: chosen.sample(sorted(paths), min(PER_LANGUAGE, len(paths)))
        for name, paths in found.items()
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
def test_real_files_have_their_symbols_and_an_edit_changes_one_of_them_and_its_chunks(
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
        for one in facts.symbols:
            assert one.name.rpartition(".")[2] in lines[one.line - 1], (path, one)
        functions = [
            one
            for one in facts.symbols
            if one.kind in ("function", "method") and one.line_end - one.line > 2
        ]
        if facts.broken or not functions:
            continue
        one = functions[len(functions) // 2]
        after = edited(text, path, one)
        told = symbols_of(after, path)
        assert [(s.qualified, s.kind) for s in told] == [
            (s.qualified, s.kind) for s in facts.symbols
        ], path
        for old, new in zip(facts.symbols, told, strict=True):
            around = old.start <= one.start and one.end <= old.end
            same = text[old.start : old.end] == after[new.start : new.end]
            assert same or around or (one.start <= old.start and old.end <= one.end), (
                path,
                old.qualified,
            )
        kept = set(cut(after, path))
        recut = [piece for piece in cut(text, path) if piece not in kept]
        elsewhere += any(not _overlap(text, piece, one) for piece in recut)
        edits += 1
    assert edits
    # A function that no longer fits beside its small neighbours moves the border between them.
    assert elsewhere <= edits / 10


def _overlap(text: str, piece: str, symbol: Symbol) -> bool:
    at = text.find(piece)
    while at >= 0:
        if at < symbol.end and symbol.start < at + len(piece):
            return True
        at = text.find(piece, at + 1)
    return False
