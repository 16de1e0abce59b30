"""The supported languages: their parsers, and the queries in `.scm` files.

The package of a grammar is imported for the first file in that language. All threads share the queries, which never
change; each thread has its own parsers.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Final

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
    "scala": ("tree_sitter_scala", "language"),
    "elixir": ("tree_sitter_elixir", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "shell": ("tree_sitter_bash", "language"),
    "haskell": ("tree_sitter_haskell", "language"),
    "zig": ("tree_sitter_zig", "language"),
}
LANGUAGES: Final = tuple(_GRAMMARS)
"""The names of the languages; `tsx` is TypeScript with JSX elements."""

_QUERY_FILES: Final = {
    "javascript": ("script", "javascript", "elements"),
    "typescript": ("script", "typescript"),
    "tsx": ("script", "typescript", "elements"),
    "cpp": ("c", "cpp"),
}
"""The query files of a language, if it has more than the file of its name."""

MAX_BYTES: Final = 1_000_000
"""Longer files are not parsed: they are generated, or no code."""
_PIECE: Final = 1 << 13
_UNTRIED: Final = 1 << 15
"""Texts of this many bytes are parsed without a trial: random bytes of this size took no grammar over 0.3 s."""
_MAX_SECONDS_PER_BYTE: Final = 8e-6
"""Code that people write takes a fiftieth of this time."""
_MIN_SECONDS: Final = 0.25
_NESTED_COMMENTS: Final = frozenset({"swift", "kotlin", "rust"})
"""Languages with nested comments. The scan for the end of each open comment makes parsing quadratic."""
_SIGNS: Final = bytes(
    code for code in range(33, 127) if not chr(code).isalnum() and chr(code) != "_"
)
_SIGNS_PIECE: Final = 1 << 16
_MAX_SIGNS: Final = 0.6
"""Share of signs in a piece of `_SIGNS_PIECE` bytes. Code has 20 to 33 per cent."""
_COMMENT_SIGNS: Final = re.compile(rb"/\*|\*/")
_MAX_OPEN_COMMENTS: Final = 50
_MAX_ERROR_CHILDREN: Final = 10_000
_MAX_VISITED_NODES: Final = 10_000
_UNSTABLE_GRAMMARS: Final = frozenset({"kotlin"})
"""Grammars that do not recover from a sign that is no part of the language, such as a no-break space or an emoji.
Such signs are replaced by blanks of the same length before parsing."""
_FOREIGN_SIGN: Final = re.compile(
    rb"[\x00-\x08\x0e-\x1f\x7f]|[\xc2-\xf4][\x80-\xbf]{1,3}|[\x80-\xff]|#(?!!)"
    rb"|(?P<allowed>\\[tbnr'\"\\$u]|`[^`\n]+`)|[\\`]"
)
_CAPTURE_GROUP: Final = re.compile(rb"@(\w+)")
_GROUPS_OF_USES: Final = frozenset(("import", "reference", "binding"))
_GROUPS_OF_DEFINITIONS: Final = frozenset(
    ("definition", "scope", "attached", "around", "docstring", "namespace", "broken")
)
_local: Final = threading.local()


@cache
def grammar_of(language: str) -> Language:
    """Return the grammar of a language; `KeyError` if it has none, or if its optional package is not installed."""
    package, function = _GRAMMARS[language]
    try:
        module = import_module(package)
    except ModuleNotFoundError as error:
        raise KeyError(language) from error
    return Language(getattr(module, function)())


@cache
def query_of(language: str) -> Query:
    """Return the query with the captures of a language; `KeyError` if it has none."""
    return Query(grammar_of(language), _query_text(language))


@cache
def definitions_query_of(language: str) -> Query:
    """Return the query of a language without its uses of names: a search needs the definitions only."""
    text = _query_text(language).encode()
    query = Query(grammar_of(language), text.decode())
    for pattern in range(query.pattern_count):
        start, end = query.start_byte_for_pattern(pattern), query.end_byte_for_pattern(pattern)
        groups = {capture.decode() for capture in _CAPTURE_GROUP.findall(text[start:end])}
        if groups & _GROUPS_OF_USES and not groups & _GROUPS_OF_DEFINITIONS:
            query.disable_pattern(pattern)
    return query


def _query_text(language: str) -> str:
    """Return the text of a language's query, with the patterns of every language first."""
    folder = files("ragstone.code") / "languages"
    names = ("every", *_QUERY_FILES.get(language, (language,)))
    return "\n".join((folder / f"{name}.scm").read_text("utf-8") for name in names)


def parser_for(language: str) -> Parser:
    """Return this thread's parser for a language; `KeyError` if it has no grammar."""
    parsers: dict[str, Parser] | None = getattr(_local, "parsers", None)
    if parsers is None:
        parsers = _local.parsers = {}
    if language not in parsers:
        parsers[language] = Parser(grammar_of(language))
    return parsers[language]


def tree_of(data: bytes, language: str) -> Tree | None:
    """Return the syntax tree of a text, or None if the text is too long or would take too long to parse."""
    if len(data) > MAX_BYTES:
        return None
    if language in _UNSTABLE_GRAMMARS:
        data = _FOREIGN_SIGN.sub(_blank_foreign_sign, data)
    if _is_too_slow(data, language):
        return None
    tree = parser_for(language).parse(data)
    if tree.root_node.has_error and _has_huge_error(tree.root_node):
        return None
    return tree


def _blank_foreign_sign(match: re.Match[bytes]) -> bytes:
    """Return letters, digits, quoted names and escapes unchanged, and blanks for other signs."""
    sign = match[0]
    is_allowed = match["allowed"] or sign.decode("utf-8", "ignore").isalnum()
    return sign if is_allowed else b" " * len(sign)


def _is_too_slow(data: bytes, language: str) -> bool:
    """Return whether parsing would take far longer than the length explains.

    For a text that is no program, parsing can take quadratic or cubic time, and it cannot be interrupted. So parts of
    long texts are parsed first: a part takes a few milliseconds, or hundreds if the grammar does not fit.
    """
    if language in _NESTED_COMMENTS:
        signs = _COMMENT_SIGNS.findall(data)
        if signs.count(b"/*") > signs.count(b"*/") + _MAX_OPEN_COMMENTS:
            return True
    for start in range(0, len(data) - _SIGNS_PIECE + 1, _SIGNS_PIECE):
        if _is_noise(data[start : start + _SIGNS_PIECE]):
            return True
    parser = parser_for(language)
    for start, end in _trial_ranges(len(data)):
        began = time.thread_time()
        parser.parse(data[start:end])
        seconds = time.thread_time() - began
        if seconds > max(_MAX_SECONDS_PER_BYTE * (end - start), _MIN_SECONDS):
            return True
    return False


def _is_noise(piece: bytes) -> bool:
    """Return whether most of a piece is signs."""
    sign_count = len(piece) - len(piece.translate(None, _SIGNS))
    return sign_count > _MAX_SIGNS * len(piece)


def _trial_ranges(size: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a long text to try: each piece, then longer and longer beginnings."""
    if size > _UNTRIED:
        for start in range(0, size, _PIECE):
            yield start, start + _PIECE
    end = 4 * _PIECE
    while 2 * end < size:
        yield 0, end
        end *= 4


def _has_huge_error(root: Node) -> bool:
    """Return whether an error node has so many children that the query would take too long."""
    pending = [root]
    visited = 0
    while pending and visited < _MAX_VISITED_NODES:
        node = pending.pop()
        visited += 1
        if node.is_error and node.child_count > _MAX_ERROR_CHILDREN:
            return True
        pending.extend(child for child in node.children if child.has_error)
    return False
