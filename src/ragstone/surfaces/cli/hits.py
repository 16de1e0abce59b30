"""Hits for a person: the citation, the score, and the lines that match the query."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ragstone.retrieval.context.passages import exact_slices
from ragstone.retrieval.ranking.compression import is_cut_by_lines
from ragstone.surfaces.cli.excerpts import crop_line, find_matches, page_heading
from ragstone.surfaces.cli.output import Styled, print_line, printable
from ragstone.surfaces.present.excerpt_lines import choose_lines
from ragstone.text import query_terms, terms

if TYPE_CHECKING:
    from ragstone.types import Hit

MAX_LINES: Final = 6
MIN_LINES: Final = 4
"""Lines that are shown of a hit without matching lines below its first one."""
_PIPE_WIDTH: Final = 240
_MARGIN: Final = 9
"""Columns for the line number and the space around it."""
_MAX_SYMBOLS: Final = 3
_MAX_DUPLICATES: Final = 3
_MAX_TITLE: Final = 70
_FRESHNESS: Final = {"refreshed": "just indexed", "unverifiable": "not checked"}
"""States of a hit in other words than in the library."""
_GAP: Final = "…"
"""Stands between two lines if text between them is not shown."""

NumberedLine = tuple[int, str]


def print_hits(hits: Sequence[Hit], query: str, *, full_text: bool = False) -> None:
    """Print hits, best first, with a blank line between them."""
    wanted_terms = frozenset(query_terms(query))
    for position, hit in enumerate(hits):
        if position:
            print_line()
        _print_hit(hit, wanted_terms, full_text=full_text)


def matching_lines(
    hit: Hit, wanted_terms: frozenset[str], max_lines: int = MAX_LINES
) -> list[NumberedLine]:
    """Return the lines that share most terms with the query, in order; the first lines if none matches.

    A line of Markdown comes with its heading. A short text is returned whole.
    If only the first line matches, the next ones are added: it may be a heading.
    """
    numbered = [(number, line) for number, line in _number_lines(hit) if line.strip()]
    if len(numbered) <= min(max_lines, MIN_LINES):
        return numbered
    counts: dict[int, int] = {}
    for number, line in numbered:
        common_terms = wanted_terms.intersection(terms(line))
        if common_terms:
            counts[number] = len(common_terms)
    best = sorted(counts, key=lambda number: (-counts[number], number))
    if not best:
        return numbered[: min(max_lines, MIN_LINES)]
    if best == [numbered[0][0]]:
        return numbered[: min(max_lines, MIN_LINES)]
    lines = dict(numbered)
    is_markdown = hit.language == "markdown"
    chosen = choose_lines(lines, best, max_lines, has_headings=is_markdown)
    return [(number, lines[number]) for number in chosen]


def _print_hit(hit: Hit, wanted_terms: frozenset[str], *, full_text: bool) -> None:
    print_line(*_header(hit, wanted_terms))
    shown = dict(_number_lines(hit))
    if not full_text:
        width = _line_width(hit)
        lines = matching_lines(hit, wanted_terms)
        shown = {number: crop_line(line, wanted_terms, width) for number, line in lines}
    # A page, a slide, a sheet or a summary has no numbers of lines that a reader could look up.
    has_numbers = hit.span.page is None and not hit.is_summary
    margin = max((len(str(number)) for number in shown if has_numbers), default=0)
    gaps = _numbers_after_gaps(hit, frozenset(shown))
    for number, line in shown.items():
        if number in gaps:
            print_line((f"  {_GAP:>{margin}}", "dim"))
        label = f"  {number:>{margin}}  " if has_numbers else "  "
        print_line((label, "dim"), *_highlight(line, wanted_terms))
    if hit.duplicates:
        places = ", ".join(map(printable, hit.duplicates[:_MAX_DUPLICATES]))
        print_line((f"  same text at {places}", "dim"))


def _numbers_after_gaps(hit: Hit, shown: frozenset[int]) -> set[int]:
    """Return the shown lines that follow a hidden line with text or a gap, without the first shown line."""
    numbers = set()
    is_gap = False
    for number, line in _number_lines(hit):
        if number not in shown:
            is_gap = is_gap or bool(line.strip())
        else:
            if is_gap:
                numbers.add(number)
            is_gap = False
    for previous, following in pairwise(hit.slices):
        first_line = following.span.line_start
        if first_line in shown and first_line > previous.span.line_end:
            numbers.add(first_line)
    return numbers - {min(shown, default=0)}


def _line_width(hit: Hit) -> int:
    """Return the characters of a line that are shown; a line of prose may be a paragraph, so it takes some rows."""
    if not sys.stdout.isatty():
        return _PIPE_WIDTH
    columns = max(20, shutil.get_terminal_size().columns - _MARGIN)
    if is_cut_by_lines(hit.kind):
        return columns
    return max(columns, _PIPE_WIDTH)


def _number_lines(hit: Hit) -> list[NumberedLine]:
    """Return the lines of a hit with their numbers; sentences of one line have a gap mark between them."""
    numbered: dict[int, str] = {}
    for part in exact_slices(hit):
        lines = part.text.split("\n")
        if len(lines) > 1 and not lines[-1].strip():
            lines.pop()
        for number, line in enumerate(lines, part.span.line_start):
            before = numbered.get(number)
            line_text = line.rstrip()
            numbered[number] = line_text if before is None else f"{before} {_GAP} {line_text}"
    return list(numbered.items())


def _header(hit: Hit, wanted_terms: frozenset[str]) -> list[Styled]:
    """Return the place, the score and the symbols of a hit, those with words of the query first."""
    parts: list[Styled] = [
        (printable(hit.citation), "bold cyan"),
        (f"  {hit.score:.2f}", "green"),
    ]
    symbols = sorted(
        hit.symbol.split(), key=lambda symbol: -len(wanted_terms.intersection(terms(symbol)))
    )
    title = " ".join(symbols[:_MAX_SYMBOLS]) or _find_title(hit)
    if title and not hit.source_doc_id.endswith(title):
        is_shortened = len(symbols) > _MAX_SYMBOLS or len(title) > _MAX_TITLE
        ellipsis = " …" if is_shortened else ""
        parts.append((f"  {printable(title[:_MAX_TITLE])}{ellipsis}", "magenta"))
    parts.append((f"  {describe_kind(hit)}", "dim"))
    if hit.freshness != "fresh":
        parts.append((f"  {_FRESHNESS.get(hit.freshness, hit.freshness)}", "dim"))
    return parts


def _find_title(hit: Hit) -> str:
    """Return the heading of a hit: of its page, of its section, or the title of its document."""
    if hit.is_summary:  # its header has words for finding it
        return hit.title
    is_page = hit.span.page is not None and not hit.span.unit
    heading = page_heading(hit) if is_page else hit.header.rpartition("\n")[2]
    return heading or hit.title


def describe_kind(hit: Hit) -> str:
    """Return the kind and language of a hit: `code, python`, or `text`."""
    if hit.language in ("", hit.kind):
        return printable(hit.kind)
    return printable(f"{hit.kind}, {hit.language}")


def _highlight(line: str, wanted_terms: frozenset[str]) -> list[Styled]:
    """Return the line in pieces, with the words that match the query in bold."""
    parts: list[Styled] = []
    end = 0
    for word in find_matches(line, wanted_terms):
        parts.append(printable(line[end : word.start()]))
        parts.append((printable(word[0]), "bold yellow"))
        end = word.end()
    return [*parts, printable(line[end:])]
