"""Cutting code by its definitions, in any language whose symbols are known.

Small definitions share a chunk. A big class becomes a header and its methods, a long function is
parted between lines. The header of a type shares no chunk with a part of a long function. A file
without symbols is cut by lines; if its grammar could not read it, its chunks are of kind
`code_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.chunk.lines import UNPARSED_KIND, chunk_by_lines, cut_lines
from ragstone.chunk.packing import check_sizes
from ragstone.chunk.sizes import CODE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks, join_closings
from ragstone.text.tokens import weigh
from ragstone.types import Chunk, Document, Symbol

_BLOCK_KINDS: Final = frozenset(
    {
        "class",
        "interface",
        "trait",
        "enum",
        "struct",
        "module",
        "function",
        "method",
        "constructor",
    }
)
"""Kinds of symbols that are pieces of their own; the others are only names inside a piece."""
_TYPE_KINDS: Final = frozenset({"class", "interface", "trait", "enum", "struct"})
_MAX_DEPTH: Final = 8
"""Definitions that are nested more deeply are not cut apart."""
_SMALL_SHARE: Final = 2
"""Neighbours below 1 / 2 of the size share a chunk. Code search by words: .801 with a third, .803 with a half,
.802 if everything that fits is joined."""
_TINY_SHARE: Final = 8
"""A piece below 1 / 8 of the size is joined with any neighbour that it fits with."""
_MAX_NAMES: Final = 40
_WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class _Block:
    """A definition, with the definitions inside it and its other symbols."""

    symbol: Symbol
    start: int
    end: int
    inner: list[_Block] = field(default_factory=list)
    others: list[Symbol] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the definition and of the definitions directly inside it."""
        inner_names = [_name(block.symbol) for block in self.inner]
        return _name(self.symbol), *inner_names


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A definition, or the lines between two definitions."""

    start: int
    end: int
    names: tuple[str, ...]
    header: str
    block: _Block | None = None
    opens_type: bool = False
    """Whether these are the opening lines of a type whose methods are other pieces."""

    @property
    def is_type_header(self) -> bool:
        """Return whether the piece is a type, or its opening lines."""
        return self.opens_type or (
            self.block is not None and self.block.symbol.kind in _TYPE_KINDS
        )

    @property
    def is_leaf(self) -> bool:
        """Return whether the piece is a definition without others inside it."""
        return self.block is not None and not self.block.inner


class DefinitionChunker:
    """Cuts code between its definitions."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = format_recipe("definitions", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        if document.symbols is None:
            return chunk_by_lines(document, size=self.size, kind=UNPARSED_KIND)
        if not document.symbols:
            return chunk_by_lines(document, size=self.size)
        root = _nest_symbols(document.symbols, len(text))
        pieces = _split_pieces(text, (0, len(text)), root.inner, root.others)
        cutter = PieceCutter(text, self.size)
        return build_chunks(document, join_closings(text, cutter.cut(pieces)))


@dataclass(frozen=True, slots=True)
class PieceCutter:
    """Turns neighbouring pieces of code into slices of at most a size."""

    text: str
    size: int

    def cut(self, pieces: Iterable[CodePiece]) -> Iterator[TextSlice]:
        """Yield the slices of pieces: small neighbours are joined, a piece above the size is parted."""
        group: list[CodePiece] = []
        group_weight = 0
        for piece in pieces:
            weight = weigh(self.text, piece.start, piece.end, self.size)
            is_big = weight > self.size
            is_tiny = group_weight <= self.size // _TINY_SHARE
            if group and is_big and is_tiny and not _is_header_before(group, piece):
                piece = _prepend(group, piece)
                group, group_weight = [], 0
            if group and not self._fits_together(group_weight, weight):
                yield _join(group)
                group, group_weight = [], 0
            if is_big:
                yield from self._part(piece)
            else:
                group.append(piece)
                group_weight += weight
        if group:
            yield _join(group)

    def _fits_together(self, group_weight: int, weight: int) -> bool:
        if group_weight + weight > self.size:
            return False
        small = self.size // _SMALL_SHARE
        are_small = group_weight <= small and weight <= small
        is_one_tiny = min(group_weight, weight) <= self.size // _TINY_SHARE
        return are_small or is_one_tiny

    def _part(self, piece: CodePiece) -> Iterator[TextSlice]:
        """Yield the slices of a piece above the size."""
        if piece.block is not None and piece.block.inner:
            inner_pieces = _split_class(self.text, piece, piece.block)
            yield from self.cut(inner_pieces)
            return
        later_header = piece.header
        if piece.block is not None:
            later_header = _join_headers(piece.header, piece.block.symbol.signature)
        by_word = _index_by_last_word(piece.names)
        header = piece.header
        ranges = cut_lines(self.text, piece.start, piece.end, size=self.size)
        for start, end in ranges:
            names: Sequence[str] = piece.names
            if piece.block is None:
                names = _names_in(self.text[start:end], by_word)
            yield TextSlice(start, end, symbol=_list_names(names), header=header)
            header = later_header


def _nest_symbols(symbols: Iterable[Symbol], length: int) -> _Block:
    """Return a block for the whole text, with the blocks and the other symbols of the top level."""
    module = Symbol("", "", "module", 0, length, 0, 0)
    root = _Block(module, 0, length)
    stack = [root]
    for symbol in sorted(symbols, key=lambda each: (each.start, -each.end)):
        start = max(symbol.start, 0)
        end = min(symbol.end, length)
        block = _Block(symbol, start, end)
        while len(stack) > 1 and stack[-1].end <= block.start:
            stack.pop()
        parent = stack[-1]
        if len(stack) <= _MAX_DEPTH and _fits_inside(block, parent):
            parent.inner.append(block)
            stack.append(block)
        else:
            parent.others.append(symbol)
    return root


def _fits_inside(block: _Block, parent: _Block) -> bool:
    """Return whether a definition has text, lies in its parent and after its last neighbour."""
    if block.symbol.kind not in _BLOCK_KINDS or block.start >= block.end:
        return False
    if block.end > parent.end:
        return False
    return not parent.inner or parent.inner[-1].end <= block.start


def _split_pieces(
    text: str,
    span: tuple[int, int],
    blocks: Sequence[_Block],
    others: Iterable[Symbol],
    *,
    header: str = "",
) -> list[CodePiece]:
    """Return the pieces of a file or of a definition's body; together they are all text of the span."""
    position, last = span
    pieces: list[CodePiece] = []
    pending = sorted(others, key=lambda each: each.start, reverse=True)
    limits = [block.start for block in blocks[1:]]
    for block, limit in zip(blocks, [*limits, last], strict=False):
        start = max(_line_start(text, block.start), position)
        names_before = _take_names(pending, start)
        if text[position:start].strip():
            pieces.append(CodePiece(position, start, names_before, header))
        end = _line_end(text, block.end, min(limit, last))
        position = max(end, start)
        names_inside = _take_names(pending, block.end)
        names = (*block.names, *names_inside)
        # A method may be outside its type, as in Go; the parent is then its header.
        block_header = header or block.symbol.parent
        pieces.append(CodePiece(start, position, names, block_header, block))
    if position < last:
        names_after = _take_names(pending, last)
        pieces.append(CodePiece(position, last, names_after, header))
    return pieces


def _split_class(text: str, piece: CodePiece, block: _Block) -> list[CodePiece]:
    """Return the pieces of a class: its opening lines, its methods, and the lines between them."""
    header = _join_headers(piece.header, block.symbol.signature)
    span = (piece.start, piece.end)
    pieces = _split_pieces(text, span, block.inner, block.others, header=header)
    opening = pieces[0]
    if opening.block is None:
        own_name = block.symbol.qualified
        other_names = [name for name in piece.names if name != own_name]
        names_before = other_names[len(block.inner) :]
        names = (own_name, *names_before, *opening.names)
        is_type = block.symbol.kind in _TYPE_KINDS
        pieces[0] = replace(opening, names=names, header=piece.header, opens_type=is_type)
    return pieces


def _is_header_before(group: Sequence[CodePiece], piece: CodePiece) -> bool:
    """Return whether pieces have the header of a type, which stays apart from the start of a long method after it."""
    return piece.is_leaf and any(before.is_type_header for before in group)


def _prepend(group: Sequence[CodePiece], piece: CodePiece) -> CodePiece:
    """Return the piece, extended to start with the tiny pieces before it."""
    names = list(piece.names)
    for before in group:
        names += before.names
    return replace(piece, start=group[0].start, names=tuple(names))


def _join(pieces: Sequence[CodePiece]) -> TextSlice:
    """Return one slice of neighbouring pieces."""
    names: dict[str, None] = {}
    for piece in pieces:
        names.update(dict.fromkeys(piece.names))
    return TextSlice(
        pieces[0].start,
        pieces[-1].end,
        symbol=_list_names(list(names)),
        header=pieces[-1].header,
    )


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def _name(symbol: Symbol) -> str:
    return symbol.qualified.replace(" ", "")


def _take_names(pending: list[Symbol], end: int) -> tuple[str, ...]:
    """Remove the symbols that start before `end` from the pending ones and return their names."""
    names = []
    while pending and pending[-1].start < end:
        names.append(_name(pending.pop()))
    return tuple(names)


def _list_names(names: Sequence[str]) -> str:
    return " ".join(names[:_MAX_NAMES])


def _index_by_last_word(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names by the word after their last dot, without the signs that languages put around it."""
    index: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        word = name.rpartition(".")[2].strip("$@?!=")
        index.setdefault(word, []).append(name)
    return index


def _names_in(text: str, by_word: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names whose last word is in a text."""
    names: list[str] = []
    for word in dict.fromkeys(_WORD.findall(text)):
        names += by_word.get(word, ())
    return names


def _join_headers(*headers: str) -> str:
    return " > ".join(filter(None, headers))


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────


def _line_start(text: str, position: int) -> int:
    """Return the start of the line; the position itself if the line has text before it."""
    start = text.rfind("\n", 0, position) + 1
    return position if text[start:position].strip() else start


def _line_end(text: str, position: int, limit: int) -> int:
    """Return the end of the line; the position itself if the line ends after the limit."""
    line_break = text.find("\n", position)
    end = len(text) if line_break < 0 else line_break + 1
    return end if end <= limit else position
