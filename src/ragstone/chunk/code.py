"""Cutting Python: by its definitions, as `ast` sees them.

What functions do does not matter for that, so an outline without it is parsed where there is one. A file that cannot be
parsed is cut by lines and says so: its chunks are of kind `code_text`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.chunk.gather import Gather, Piece, by_last_part, listed
from ragstone.chunk.lines import UNPARSED_KIND, cut_lines
from ragstone.chunk.outline import outline
from ragstone.chunk.pack import check_sizes
from ragstone.chunk.recipes import CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

_LARGEST_PARSED: Final = 4_000_000
"""Characters. A tree takes some hundred times its text's memory; what is larger was not written by a person."""
_OPENING: Final = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def[ \t]+|class[ \t]+)?(\w+)", re.MULTILINE)
_SMALL: Final = 3
"""Neighbours below size / SMALL share a chunk."""
_LONGEST_SIGNATURE: Final = 200
_SIGNATURE_LINES: Final = 12

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Piece(Piece):
    """A definition, or a run of other statements, with the comments above it."""

    node: _Definition | None = None


class Python:
    """Definitions: small ones together, a big class as a header and its methods, a long function in parts."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = named("python", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        module = _parse(text)
        if module is None:
            cuts = cut_lines(text, 0, len(text), size=self.size)
            return chunks_of(document, (Cut(*cut, kind=UNPARSED_KIND) for cut in cuts))
        source = _Source(text)
        pieces = source.pieces(module.body, start=0, end=len(text))
        return chunks_of(document, self._gather(source).cuts(pieces, partial(self._parted, source)))

    def _gather(self, source: _Source) -> Gather:
        return Gather(source.text, self.size, _SMALL)

    def _parted(self, source: _Source, piece: _Piece) -> Iterator[Cut]:
        """Yield the cuts of a piece that is too big for one chunk."""
        if isinstance(piece.node, ast.ClassDef):
            yield from self._gather(source).cuts(source.members(piece), partial(self._parted, source))
            return
        signature = source.signature(piece.node) if piece.node else ""
        below = " > ".join(filter(None, (piece.header, signature)))
        known = by_last_part(piece.names)
        for at, (start, end) in enumerate(cut_lines(source.text, piece.start, piece.end, size=self.size)):
            names = piece.names if piece.node else _defined_in(source.text[start:end], known)
            yield Cut(start, end, symbol=listed(names), header=below if at else piece.header)


class _Source:
    """A module's text with the offsets of its lines: definitions are cut between lines, so columns are not needed."""

    def __init__(self, text: str) -> None:
        """Find where every line begins, counting as the parser does."""
        self.text = text
        self._lines = [0, *accumulate(map(len, StringIO(text, newline="")))]

    def pieces(self, body: Sequence[ast.stmt], *, start: int, end: int, inside: _Piece | None = None) -> list[_Piece]:
        """Return the pieces of a module's or a class's body; together they are all text from `start` to `end`."""
        owner = inside.names[0] if inside else ""
        outer = inside.header if inside else ""
        header = " > ".join(filter(None, (outer, self.signature(inside.node)))) if inside and inside.node else ""
        names = [owner] if owner else []
        found: list[_Piece] = []
        at, last = start, 0
        for statement in body:
            own = [f"{owner}.{name}" if owner else name for name in _names(statement)]
            below, last = last, statement.end_lineno or statement.lineno
            if not isinstance(statement, _DEFINITIONS):
                names += own
                continue
            begins = max(self._begins(statement, below), at)
            if self.text[at:begins].strip():
                found.append(_Piece(at, begins, tuple(names), outer if at == start else header))
            at = self._after(last)
            found.append(_Piece(begins, at, tuple(own), header, statement))
            names = []
        if at < end:
            found.append(_Piece(at, end, tuple(names), outer if at == start else header))
        return found

    def members(self, piece: _Piece) -> list[_Piece]:
        """Return the pieces of a class: what stands before its first method, its methods, and what is between them."""
        body = piece.node.body if piece.node else []
        return self.pieces(body, start=piece.start, end=piece.end, inside=piece)

    def signature(self, node: _Definition) -> str:
        """Return the line that opens a definition, written over several or not, without its colon."""
        parts: list[str] = []
        for number in range(node.lineno, min(node.lineno + _SIGNATURE_LINES, len(self._lines) + 1)):
            line = self._line(number).partition(" #")[0].rstrip()
            parts.append(line)
            if line.endswith(":"):
                break
        return " ".join(parts)[:_LONGEST_SIGNATURE].rstrip(": ")

    def _begins(self, node: _Definition, below: int) -> int:
        """Return where a definition begins, with its decorators and the comments right above, all below a line."""
        number = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        while number - 1 > below and self._line(number - 1).startswith("#"):
            number -= 1
        return self._lines[number - 1]

    def _line(self, number: int) -> str:
        return self.text[self._lines[number - 1] : self._after(number)].strip()

    def _after(self, number: int) -> int:
        """Return where the line after this one begins."""
        return self._lines[number] if number < len(self._lines) else len(self.text)


def _parse(text: str) -> ast.Module | None:
    """Return the tree of a module, or None where this Python cannot parse it."""
    if len(text) > _LARGEST_PARSED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a compiler would say about the file is not for our caller
        text = text.removeprefix("\ufeff")
        for source in (outline(text), text):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                if source is not None:
                    return ast.parse(source)
    return None


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names a statement defines, those of a class's methods and of a conditional's branches among them."""
    if isinstance(statement, ast.ClassDef):
        yield statement.name
        yield from (f"{statement.name}.{member.name}" for member in statement.body if isinstance(member, _DEFINITIONS))
    elif isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.If | ast.Try):
        for inner in statement.body:
            if isinstance(inner, _DEFINITIONS):
                yield inner.name


def _defined_in(part: str, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return those of a run's names that a part of it defines: they open a line there."""
    return [name for opening in dict.fromkeys(_OPENING.findall(part)) for name in known.get(opening, ())]
