"""Cutting code by its definitions, in any language whose symbols were found.

Small definitions share a chunk, a big class is a header and its methods, a long function is parted between lines.
Nothing is said twice. A file without symbols is cut by lines; where its grammar could not read it, its chunks are of
kind `code_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ragstone.chunk.gather import Gather, Piece, by_last_part, listed
from ragstone.chunk.lines import UNPARSED_KIND, cut_lines
from ragstone.chunk.pack import check_sizes
from ragstone.chunk.recipes import CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document, Symbol

_BLOCKS: Final = frozenset(
    {"class", "interface", "trait", "enum", "struct", "module", "function", "method", "constructor"}
)
"""Kinds that are cut around; the others are names in what stands between these."""
_DEEPEST: Final = 8
"""What stands deeper in others than that is not cut around: no person nests so."""
_SMALL: Final = 2
"""Neighbours below size / SMALL share a chunk. Code search by words:
.801 with a third, .803 with a half, .802 where all that fits is put together."""
_WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class _Block:
    """A definition that is cut around, with those inside of it and the names of what else it defines."""

    symbol: Symbol
    start: int
    end: int
    inner: list[_Block] = field(default_factory=list)
    names: list[Symbol] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Piece(Piece):
    """A definition, or a run of other lines."""

    block: _Block | None = None


class Definitions:
    """Definitions: small ones together, a big class as a header and its methods, a long function in parts."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = named("definitions", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        if not document.symbols:
            kind = UNPARSED_KIND if document.symbols is None else ""
            return chunks_of(document, (Cut(*cut, kind=kind) for cut in cut_lines(text, 0, len(text), size=self.size)))
        blocks, names = _nested(text, document.symbols)
        pieces = _pieces(text, (0, len(text)), blocks, names)
        return chunks_of(document, self._gather(text).cuts(pieces, partial(self._parted, text)))

    def _gather(self, text: str) -> Gather:
        return Gather(text, self.size, _SMALL)

    def _parted(self, text: str, piece: _Piece) -> Iterator[Cut]:
        """Yield the cuts of a piece that is too big for one chunk."""
        block = piece.block
        if block and block.inner:
            below = _chain(piece.header, block.symbol.signature)
            own = (block.symbol.qualified, *(name for name in piece.names if name != block.symbol.qualified))
            inside = _pieces(text, (piece.start, piece.end), block.inner, block.names, header=below)
            first = inside[0]
            if first.block is None:
                led = own[len(_all_names(block)) :]
                inside[0] = replace(first, names=(block.symbol.qualified, *led, *first.names), header=piece.header)
            yield from self._gather(text).cuts(inside, partial(self._parted, text))
            return
        below = _chain(piece.header, block.symbol.signature) if block else piece.header
        known = {} if block else by_last_part(piece.names)
        for at, (start, end) in enumerate(cut_lines(text, piece.start, piece.end, size=self.size)):
            names = piece.names if block else _said(text[start:end], known)
            yield Cut(start, end, symbol=listed(names), header=below if at else piece.header)


def _nested(text: str, symbols: Sequence[Symbol]) -> tuple[list[_Block], list[Symbol]]:
    """Return the blocks of a text, each with those inside of it, and the symbols that stand in none."""
    top: list[_Block] = []
    names: list[Symbol] = []
    around: list[_Block] = []
    for symbol in sorted(symbols, key=lambda each: (each.start, -each.end)):
        start, end = max(symbol.start, 0), min(symbol.end, len(text))
        while around and around[-1].end <= start:
            around.pop()
        inner, others = (around[-1].inner, around[-1].names) if around else (top, names)
        crossing = bool(around and end > around[-1].end) or bool(inner and inner[-1].end > start)
        if symbol.kind not in _BLOCKS or crossing or len(around) >= _DEEPEST or start >= end:
            others.append(symbol)
            continue
        block = _Block(symbol, start, end)
        inner.append(block)
        around.append(block)
    return top, names


def _pieces(
    text: str, span: tuple[int, int], blocks: Sequence[_Block], names: Sequence[Symbol], *, header: str = ""
) -> list[_Piece]:
    """Return the pieces of a file or of what is in a definition; together they are all text of the span."""
    at, last = span
    found: list[_Piece] = []
    pending = sorted(names, key=lambda each: each.start, reverse=True)
    for number, block in enumerate(blocks):
        following = blocks[number + 1].start if number + 1 < len(blocks) else last
        start = max(_line_start(text, block.start), at)
        between = _until(pending, start)
        if text[at:start].strip():
            found.append(_Piece(at, start, between, header))
        at = max(_line_end(text, block.end, min(following, last)), start)
        held = _until(pending, block.end)
        above = header or _owner(block.symbol)
        found.append(_Piece(start, at, (*_all_names(block), *held), above, block))
    if at < last:
        found.append(_Piece(at, last, _until(pending, last), header))
    return found


def _until(pending: list[Symbol], end: int) -> tuple[str, ...]:
    """Return the names of those that begin before a place, and take them off."""
    names = []
    while pending and pending[-1].start < end:
        names.append(_name(pending.pop()))
    return tuple(names)


def _all_names(block: _Block) -> tuple[str, ...]:
    """Return the name of a definition and of what it is directly made of."""
    return _name(block.symbol), *(_name(each.symbol) for each in block.inner)


def _name(symbol: Symbol) -> str:
    return symbol.qualified.replace(" ", "")


def _owner(symbol: Symbol) -> str:
    """Return what a definition belongs to that it does not stand in, such as the type of a Go method."""
    return symbol.parent


def _line_start(text: str, place: int) -> int:
    """Return where the line of a definition begins, or its own place where something stands before it."""
    start = text.rfind("\n", 0, place) + 1
    return place if text[start:place].strip() else start


def _line_end(text: str, place: int, limit: int) -> int:
    """Return where the line that a definition ends on ends; its own place where the next one begins there."""
    end = text.find("\n", place) + 1 or len(text)
    return end if end <= limit else place


def _chain(*parts: str) -> str:
    return " > ".join(filter(None, parts))


def _said(part: str, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return those of a run's names that a part of it has as words."""
    return [name for word in dict.fromkeys(_WORD.findall(part)) for name in known.get(word, ())]
