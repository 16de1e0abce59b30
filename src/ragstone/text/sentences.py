"""Where sentences, paragraphs and words begin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from ragstone.text.tokens import estimate, estimate_lines, estimate_up_to
from ragstone.text.units import Unit

# How strong the border before a unit is.
WORD, LINE, SENTENCE, ITEM, PARAGRAPH, TITLED = range(6)

_CLOSERS: Final = "[\"'”’»)\\]}」』）】]*+"
_BORDER: Final = re.compile(
    rf"(?<![.!?…])[.!?…]++{_CLOSERS}(?P<stop>\s++)(?=[^\sa-z])"  # a full stop, space, and no small letter after it
    rf"|(?<![。！？｡])[。！？｡]++{_CLOSERS}\s*+"  # a full stop that needs no space
    r"|\n(?:[^\S\n]*+\n)++"  # blank lines
    r"|\n(?=[ \t]*+(?:[-*+•]|[0-9]{1,3}[.)])[ \t])"  # a list item
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|al|Fig|Figs|Eq|No|Nos|Vol|pp|ca|approx|Inc|Ltd|Co"
    r"|Corp|Gen|Col|Sgt|Capt|Rep|Sen|Gov|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|U\.S|U\.K)\.$"
    r"|(?:^|\n)[ \t]*[0-9]{1,3}\.$"  # the number of a list item
)
_ITEM: Final = re.compile(r"[ \t]*+(?:[-*+•]|[0-9]{1,3}[.)])[ \t]")
_LONGEST_ABBREVIATION: Final = 8
_PARAGRAPH: Final = re.compile(r"\n(?:[^\S\n]*+\n)++")
_LONGEST_TOKEN: Final = 16
_SPACE: Final = re.compile(r"\s++")
_RUNS: Final = 8
"""A line without sentences is packed in runs of words of about this part of the size."""
_FINISHED: Final = (".", "!", "?", ":", ";", ",", "。", "！", "？", '"', "”", ")", "|", "`")
_LONGEST_TITLE: Final = 80


def sentence_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return where the sentences of a slice begin, `start` first."""
    end = len(text) if end is None else end
    starts = [start] if start < end else []
    for border in _BORDER.finditer(text, start, end):
        at = border.end()
        if at < end and not (border["stop"] and _abbreviated(text, start, border.start("stop"))):
            starts.append(at)
    return starts


def _abbreviated(text: str, start: int, stop: int) -> bool:
    """Return whether the full stop before `stop` belongs to an abbreviation or an initial."""
    return text[stop - 1] == "." and bool(_ABBREVIATION.search(text, max(start, stop - _LONGEST_ABBREVIATION), stop))


def weigh(text: str, start: int, end: int, size: int) -> int:
    """Return the tokens of a slice, or just more than the size where it will be parted anyway."""
    return estimate_up_to(text[start:end], size) if end - start <= _LONGEST_TOKEN * size else size + 1


def prose_units(text: str, start: int, end: int, *, size: int, fine: bool = False) -> Iterator[Unit]:
    """Yield the paragraphs of a slice; those above the size, or with `fine` all of them, in sentences."""
    border, at = PARAGRAPH, start
    for stop, following in [*(found.span() for found in _PARAGRAPH.finditer(text, start, end)), (end, end)]:
        weight = weigh(text, at, stop, size)
        title = _is_title(text, at, stop)
        border = TITLED if title and border else border
        if weight <= size and not fine and stop > at:
            yield Unit(at, weight, border)
        else:
            yield from sentence_units(text, at, stop, size=size, border=border)
        border = WORD if title else PARAGRAPH
        at = following


def _is_title(text: str, start: int, end: int) -> bool:
    """Return whether a paragraph is a line that names what follows it, and should not be parted from it."""
    if end - start > _LONGEST_TITLE * 2:
        return False
    line = text[start:end].strip()
    return 0 < len(line) <= _LONGEST_TITLE and "\n" not in line and not line.endswith(_FINISHED)


def sentence_units(text: str, start: int, end: int, *, size: int, border: int = SENTENCE) -> Iterator[Unit]:
    """Yield the sentences of a slice; those above the size in lines, words or characters."""
    starts = sentence_starts(text, start, end)
    for at, stop in pairwise([*starts, end]):
        weight = weigh(text, at, stop, size)
        if weight <= size:
            yield Unit(at, weight, border)
        else:
            yield from line_units(text, at, stop, size=size, border=border)
        border = _sentence_border(text, stop)


def _sentence_border(text: str, at: int) -> int:
    """Return how strong the border before a sentence is."""
    if text[at - 1] != "\n":
        return SENTENCE
    if text[max(0, at - 4) : at].endswith(("\n\n", "\r\n\r\n")):
        return PARAGRAPH
    return ITEM if _ITEM.match(text, at) else SENTENCE


def line_units(text: str, start: int, end: int, *, size: int, border: int = LINE) -> Iterator[Unit]:
    """Yield the lines of a slice; those above the size in words or characters."""
    at = start
    for weight in estimate_lines(text[start:end]):
        stop = text.find("\n", at, end) + 1 or end
        if stop == at:  # nothing stands behind the last line's end
            return
        if weight <= size:
            yield Unit(at, weight, border)
        else:
            yield from with_border(border, _word_units(text, at, stop, weight=weight, size=size))
        border = LINE
        at = stop


def with_border(border: int, units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield the units, the first with another border before it."""
    for at, unit in enumerate(units):
        yield unit if at else unit._replace(border=border)


def _word_units(text: str, start: int, end: int, *, weight: int, size: int) -> Iterator[Unit]:
    """Yield runs of whole words of a line above the size; a word that alone is above it in runs of characters."""
    step = max(1, (end - start) * size // (_RUNS * weight))
    at = start
    while at < end:
        stop = _word_end(text, at + step, end)
        own = estimate(text[at:stop])
        if own > size:
            before = _last_space(text, at, at + step)
            if before is None:
                yield from _run_units(at, stop, weight=own, size=size)
            else:
                stop = before
                yield Unit(at, min(estimate(text[at:stop]), size))
        else:
            yield Unit(at, own)
        at = stop


def _word_end(text: str, at: int, end: int) -> int:
    """Return where the first word behind a place begins."""
    space = _SPACE.search(text, min(at, end), end)
    return space.end() if space else end


def _last_space(text: str, start: int, end: int) -> int | None:
    """Return where the last word of a slice begins, if that is not its first."""
    words = text[start:end].rsplit(maxsplit=1)
    return end - len(words[1]) if len(words) > 1 and not text[end - 1].isspace() else None


def _run_units(start: int, end: int, *, weight: int, size: int) -> Iterator[Unit]:
    """Yield runs of equally many characters of a word that is above the size, each about as heavy as the size."""
    step = max(1, (end - start) * size // weight)
    for at in range(start, end, step):
        yield Unit(at, size)
