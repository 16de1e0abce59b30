"""The languages whose grammar is known: which a file is in, its parser, and the captures of its `.scm` file.

Each grammar is a package of its own, imported when the first file in that language comes. Queries are shared by all
threads, for they never change; parsers are not, for they do.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree

_GRAMMARS: Final = {
    "python": ("tree_sitter_python", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "swift": ("tree_sitter_swift", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
}
LANGUAGES: Final = tuple(_GRAMMARS)
"""All of them, by the names that documents have; `tsx` is TypeScript with elements in it."""

_SUFFIXES: Final = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".php", ".phtml"), "php"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".swift": "swift",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hxx", ".hh", ".ipp"), "cpp"),
    **dict.fromkeys((".cs", ".csx"), "csharp"),
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
}
_NAMES: Final = dict.fromkeys(("rakefile", "gemfile", "vagrantfile", "podfile"), "ruby")
_SCM: Final = {
    "javascript": ("script", "javascript", "elements"),
    "typescript": ("script", "typescript"),
    "tsx": ("script", "typescript", "elements"),
    "cpp": ("c", "cpp"),
}
"""Where a language's captures are more than the file of its name: what it shares with others comes first."""

LARGEST: Final = 1_000_000
"""Bytes that are parsed: what is longer was made by a program, or is no program."""
_PIECE: Final = 1 << 13
_UNTRIED: Final = 1 << 15
"""Bytes that need no trial: 24,000 of random signs, words or letters took no grammar longer than 0.3 s."""
_SLOWEST: Final = 8e-6
"""Seconds of work a byte. Code as people write it takes a fiftieth of that."""
_LEAST_SECONDS: Final = 0.25
_NESTING: Final = frozenset({"swift", "kotlin", "rust"})
"""Where comments stand in comments: each that is left open is looked for to the end of the text, by each before it."""
_SIGNS: Final = bytes(
    code for code in range(33, 127) if not chr(code).isalnum() and chr(code) != "_"
)
_SIGNS_PIECE: Final = 1 << 16
_MOST_SIGNS: Final = 0.6
"""Of so long a piece: code has a fifth to a third of signs, what is nearly all signs is none."""
_COMMENT_SIGNS: Final = re.compile(rb"/\*|\*/")
_MOST_OPEN: Final = 50
_MOST_PARTS: Final = 10_000
_MOST_LOOKED_AT: Final = 10_000
_LOST: Final = frozenset({"kotlin"})
"""Grammars that never come back from a sign that stands outside of texts and is no part of the language: a space that
is not broken, a mark of byte order, a picture. It is parsed as blanks, which take the same room."""
_STRANGE: Final = re.compile(
    rb"[\x00-\x08\x0e-\x1f\x7f]|[\xc2-\xf4][\x80-\xbf]{1,3}|[\x80-\xff]|#(?!!)"
    rb"|(?P<kept>\\[tbnr'\"\\$u]|`[^`\n]+`)|[\\`]"
)
_local: Final = threading.local()


def language_of(uri: str) -> str:
    """Return the language of a file by its name, nothing where no grammar is known for it."""
    name = uri.rpartition("/")[2].lower()
    if name.endswith(".blade.php"):  # a template, whose PHP is no PHP
        return ""
    at = name.rfind(".")
    return _NAMES.get(name, "") or (_SUFFIXES.get(name[at:], "") if at >= 0 else "")


@cache
def grammar_of(language: str) -> Language:
    """Return a language's grammar; `KeyError` for a language that has none."""
    package, function = _GRAMMARS[language]
    from tree_sitter import Language

    return Language(getattr(import_module(package), function)())


def parser_for(language: str) -> Parser:
    """Return this thread's parser for a language; `KeyError` for a language that has none."""
    parsers: dict[str, Parser] | None = getattr(_local, "parsers", None)
    if parsers is None:
        parsers = _local.parsers = {}
    if language not in parsers:
        from tree_sitter import Parser

        parsers[language] = Parser(grammar_of(language))
    return parsers[language]


def tree_of(data: bytes, language: str) -> Tree | None:
    """Return the tree of a text, or None where it is too long to be a person's, or its grammar loses itself in it."""
    if len(data) > LARGEST:
        return None
    if language in _LOST:
        data = _STRANGE.sub(_blanked, data)
    if _is_maze(data, language):
        return None
    tree = parser_for(language).parse(data)
    return None if tree.root_node.has_error and _sprawls(tree.root_node) else tree


def _blanked(found: re.Match[bytes]) -> bytes:
    """Return a letter or digit of any alphabet, a quoted name and an escape as they are, anything else as blanks."""
    whole = found["kept"] or found[0].decode("utf-8", "ignore").isalnum()
    return found[0] if whole else b" " * len(found[0])


def _is_maze(data: bytes, language: str) -> bool:
    """Return whether parsing would take far longer than its length explains.

    What is no program can take a parser the square of its length, or the cube, and once begun it cannot be stopped. So
    long texts are tried in parts first: a part takes some milliseconds, or hundreds where the grammar is lost.
    """
    if language in _NESTING:
        signs = _COMMENT_SIGNS.findall(data)
        if signs.count(b"/*") > signs.count(b"*/") + _MOST_OPEN:
            return True
    if any(
        _is_noise(data[at : at + _SIGNS_PIECE])
        for at in range(0, len(data) - _SIGNS_PIECE + 1, _SIGNS_PIECE)
    ):
        return True
    parser = parser_for(language)
    for start, end in _tried(len(data)):
        began = time.thread_time()
        parser.parse(data[start:end])
        if time.thread_time() - began > max(_SLOWEST * (end - start), _LEAST_SECONDS):
            return True
    return False


def _is_noise(piece: bytes) -> bool:
    return len(piece) - len(piece.translate(None, _SIGNS)) > _MOST_SIGNS * len(piece)


def _sprawls(root: Node) -> bool:
    """Return whether something that could not be read has so many parts that looking through them would take long."""
    pending, seen = [root], 0
    while pending and seen < _MOST_LOOKED_AT:
        node = pending.pop()
        seen += 1
        if node.is_error and node.child_count > _MOST_PARTS:
            return True
        pending.extend(child for child in node.children if child.has_error)
    return False


def _tried(size: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a long text that are tried: each piece by itself, then beginnings that get longer."""
    if size > _UNTRIED:
        yield from ((start, start + _PIECE) for start in range(0, size, _PIECE))
    end = 4 * _PIECE
    while 2 * end < size:
        yield 0, end
        end *= 4


@cache
def query_of(language: str) -> Query:
    """Return the captures of a language; `KeyError` for a language that has none."""
    from tree_sitter import Query

    grammar = grammar_of(language)
    folder = files("ragstone.code") / "languages"
    parts = [
        (folder / f"{name}.scm").read_text("utf-8")
        for name in ("every", *_SCM.get(language, (language,)))
    ]
    return Query(grammar, "\n".join(parts))
