"""Cutting structured text by its keys: neighbours share a chunk if they fit, a big value is parted.

In a configuration file every top-level key has a chunk of its own.

A chunk's symbol lists its keys as dotted paths; its header is the path above them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from ragstone.chunk.lines import chunk_by_lines, cut_lines
from ragstone.chunk.packing import check_sizes, pack_units
from ragstone.chunk.setting_parsers import (
    KeyParser,
    KeyPart,
    parse_ini,
    parse_json,
    parse_php,
    parse_toml,
    parse_yaml,
)
from ragstone.chunk.sizes import CODE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks, common_start
from ragstone.text.json_comments import blank_comments
from ragstone.text.tokens import weigh
from ragstone.text.units import Unit
from ragstone.types import Chunk, Document

PARSERS: Final[dict[str, KeyParser]] = {
    "json": parse_json,
    "yaml": parse_yaml,
    "toml": parse_toml,
    "ini": parse_ini,
    "dotenv": parse_ini,
    "php": parse_php,
}
_CONFIG: Final = "config"
_MAX_DEPTH: Final = 12
_TOP_BORDER: Final = 100
_MAX_NAMES: Final = 40
_MAX_SYMBOL: Final = 1000

Path = tuple[str, ...]


class KeyChunker:
    """Cuts whole keys up to a size in tokens; text without keys is cut by lines."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = format_recipe("keys", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text, parts = parse_top_level(document)
        if not parts:
            return chunk_by_lines(document, size=self.size)
        parser = PARSERS[document.language]
        prefix = _key_prefix(document)
        groups = _group_by_key(parts) if document.kind == _CONFIG else [parts]
        slices: list[TextSlice] = []
        for group in groups:
            slices += cut_keys(text, group, parser, size=self.size, prefix=prefix)
        return build_chunks(document, slices)


def _group_by_key(parts: Sequence[KeyPart]) -> list[list[KeyPart]]:
    """Return a group for each key; text without a key, such as `---`, goes with the key after it."""
    groups: list[list[KeyPart]] = []
    for part in parts:
        if groups and not groups[-1][-1].key:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def parse_top_level(document: Document) -> tuple[str, list[KeyPart]]:
    """Return the text to parse, as long as the document's, and its top-level keys; no keys if it cannot be parsed."""
    text = document.text
    parser = PARSERS.get(document.language)
    if parser is None:
        return text, []
    variants = [text]
    if parser is parse_json:
        variants.append(blank_comments(text))
    for variant in variants:
        try:
            return variant, parser(variant, KeyPart(0, len(variant)))
        except (ValueError, RecursionError):
            continue
    return text, []


def cut_keys(
    text: str,
    parts: Sequence[KeyPart],
    parser: KeyParser,
    *,
    size: int,
    prefix: str = "",
) -> Iterator[TextSlice]:
    """Yield the slices of neighbouring parts."""
    units: list[Unit] = []
    paths: list[Path] = []
    for part in parts:
        for unit, path in _split_part(text, part, parser, size=size):
            units.append(unit)
            paths.append(path)
    starts = [unit.start for unit in units]
    for start, end in pack_units(units, parts[-1].end, size=size):
        first = bisect_left(starts, start)
        stop = bisect_left(starts, end)
        inside = paths[first:stop]
        parents = [path[:-1] for path in inside]
        header = " > ".join(common_start(parents))
        yield TextSlice(start, end, symbol=_list_keys(inside, prefix), header=header)


def _split_part(
    text: str,
    part: KeyPart,
    parser: KeyParser,
    *,
    size: int,
    depth: int = 0,
) -> Iterator[tuple[Unit, Path]]:
    """Yield the units of a part with their paths: the part itself if it is small, or the parts inside it."""
    weight = weigh(text, part.start, part.end, size)
    border = _TOP_BORDER - depth
    inner: list[KeyPart] = []
    can_be_split = part.inside >= 0 and depth < _MAX_DEPTH
    if can_be_split and weight > size // 2:
        inner = parser(text, part)
    if inner:
        for child in inner:
            for unit, path in _split_part(text, child, parser, size=size, depth=depth + 1):
                stronger = max(border, unit.border)
                yield unit._replace(border=stronger), path
                border = 0  # only the first one starts where this part starts
        return
    ranges = [(part.start, part.end)]
    if weight > size:
        ranges = cut_lines(text, part.start, part.end, size=size)
    for start, end in ranges:
        yield (
            Unit(start, min(weigh(text, start, end, size), size), border),
            part.path,
        )
        border = 0


def _list_keys(paths: Sequence[Path], prefix: str) -> str:
    """Return the dotted keys of paths, each once, as many as a symbol may have."""
    names: dict[str, None] = {}
    for path in paths:
        keys = filter(None, (prefix, *path))
        dotted = ".".join(keys)
        names["_".join(dotted.split())] = None
    listed = list(filter(None, names))[:_MAX_NAMES]
    return " ".join(listed)[:_MAX_SYMBOL].rstrip()


def _key_prefix(document: Document) -> str:
    """Return the name that keys of a PHP configuration file are prefixed with: the name of the file."""
    if document.language != "php":
        return ""
    file_name = document.uri.rpartition("/")[2]
    return file_name.partition(".")[0]
