"""Hits for a person: where it stands, how good it is, and the lines that match."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.surfaces.cli.shell import Part, safe, say
from ragstone.text import query_terms, terms

if TYPE_CHECKING:
    from ragstone.types import Hit

MOST_LINES: Final = 6
FIRST_LINES: Final = 4
_WIDEST: Final = 240
_NAMES: Final = 3
_LONGEST_NAME: Final = 70
_WORD: Final = re.compile(r"\w+")


def show(hits: Sequence[Hit], query: str, *, full_text: bool = False, lines: int = MOST_LINES) -> None:
    """Print hits, best first, a blank line between them."""
    wanted = frozenset(query_terms(query))
    width = _columns() if sys.stdout.isatty() else _WIDEST
    for position, hit in enumerate(hits):
        if position:
            say()
        say(*_header(hit))
        chosen = _all_lines(hit) if full_text else matching_lines(hit, wanted, lines)
        margin = len(str(chosen[-1][0])) if chosen else 0
        for line_number, line in chosen:
            room = len(line) if full_text else max(20, width - margin - 4)
            say((f"  {line_number:>{margin}}  ", "dim"), *_marked(_fitted(line, wanted, room), wanted))
        if hit.also_at:
            say((f"  same text at {', '.join(safe(place) for place in hit.also_at[:3])}", "dim"))


def _columns() -> int:
    import shutil  # only where somebody looks

    return shutil.get_terminal_size().columns


def matching_lines(hit: Hit, wanted: frozenset[str], most: int = MOST_LINES) -> list[tuple[int, str]]:
    """Return the lines that share most with the query, by number; the first ones where none does."""
    numbered = [(at, line) for at, line in _all_lines(hit) if line.strip()]
    shared = {at: len(wanted.intersection(terms(line))) for at, line in numbered}
    best = sorted((at for at, count in shared.items() if count), key=lambda at: (-shared[at], at))[:most]
    if not best:
        return numbered[: min(most, FIRST_LINES)]
    return [(at, line) for at, line in numbered if at in best]


def _all_lines(hit: Hit) -> list[tuple[int, str]]:
    lines = hit.text.split("\n")
    if len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return [(hit.span.line_start + i, line.rstrip()) for i, line in enumerate(lines)]


def _header(hit: Hit) -> list[Part]:
    parts: list[Part] = [(safe(hit.place), "bold cyan"), (f"  {hit.score:.2f}", "green")]
    names = hit.symbol.split()
    about = " ".join(names[:_NAMES]) or hit.header.rpartition("\n")[2] or hit.title
    if about and not hit.source_doc_id.endswith(about):
        more = " …" if len(names) > _NAMES or len(about) > _LONGEST_NAME else ""
        parts.append((f"  {safe(about[:_LONGEST_NAME])}{more}", "magenta"))
    if hit.freshness != "fresh":
        parts.append((f"  {hit.freshness}", "dim"))
    return parts


def _fitted(line: str, wanted: frozenset[str], room: int) -> str:
    """Return as much of a line as fits, from a little before its first match on."""
    line = line.expandtabs(4)
    if len(line) <= room:
        return line
    first = next((word.start() for word in _WORD.finditer(line) if wanted.intersection(terms(word[0]))), 0)
    start = 0 if first < room - 10 else min(first - room // 4, len(line) - room + 1)
    end = start + room - (1 if start == 0 else 2)
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _marked(line: str, wanted: frozenset[str]) -> list[Part]:
    """Return the line in pieces, those that match the query in bold."""
    parts: list[Part] = []
    at = 0
    for word in _WORD.finditer(line):
        if wanted.intersection(terms(word[0])):
            parts += [safe(line[at : word.start()]), (safe(word[0]), "bold yellow")]
            at = word.end()
    return [*parts, safe(line[at:])]
