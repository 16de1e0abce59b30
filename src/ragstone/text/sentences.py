"""Where the sentences, paragraphs and words of a text begin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from ragstone.text.tokens import estimate, estimate_lines, weigh
from ragstone.text.units import Unit

# The strength of the border before a unit.
WORD, LINE, SENTENCE, ITEM, PARAGRAPH, TITLED = range(6)

_CLOSERS: Final = "[\"'”’»)\\]}」』）】〉》]*+"
_FULL_STOPS: Final = (
    "。！？｡．‼⁇⁈⁉"  # Chinese, Japanese
    "।॥"  # Hindi and other scripts of India
    "؟۔؝"  # Arabic, Urdu
    "։՜՞"  # Armenian
    "።፧፨"  # Ethiopic
    "။"  # Burmese
    "។៕"  # Khmer
    "༎༏"  # Tibetan
    "᠃᠉"  # Mongolian
)
"""Characters that end a sentence by themselves (STerm of Unicode's UAX #29): no space or capital has to follow."""
_BORDER: Final = re.compile(
    rf"(?<![.!?…])[.!?…]++{_CLOSERS}(?P<stop>\s++)(?=[^\sa-z])"  # a full stop, space, and no lower-case letter after it
    rf"|(?<![{_FULL_STOPS}])[{_FULL_STOPS}]++{_CLOSERS}\s*+"  # a full stop that needs no space
    r"|\n(?:[^\S\n]*+\n)++"  # blank lines
    r"|\n(?=[ \t]*+(?:[-*+•]|[0-9]{1,3}[.)])[ \t])"  # a list item
)
_THAI: Final = "\u0e01-\u0e3a\u0e40-\u0e4f\u0e5a\u0e5b\u0e81-\u0ecf\u0edc-\u0edf"
_THAI_SPACE: Final = re.compile(rf"(?<=[{_THAI}])[ \u00a0]++(?=[{_THAI}])")
"""Thai and Lao have no full stop: a space between two of their letters ends a sentence or a clause."""
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|al|Fig|Figs|Eq|No|Nos|Vol|pp|ca|approx|Inc|Ltd|Co"
    r"|Corp|Gen|Col|Sgt|Capt|Rep|Sen|Gov|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|U\.S|U\.K)\.$"
    r"|(?:^|\n)[ \t]*[0-9]{1,3}\.$"  # the number of a list item
)
_ITEM: Final = re.compile(r"[ \t]*+(?:[-*+•]|[0-9]{1,3}[.)])[ \t]")
_MAX_ABBREVIATION: Final = 8
_PARAGRAPH: Final = re.compile(r"\n(?:[^\S\n]*+\n)++")
_SPACE: Final = re.compile(r"\s++")
_RUNS: Final = 8
"""A line without sentences is split into runs of words, about this many for one chunk."""
_SENTENCE_ENDINGS: Final = (
    ".",
    "!",
    "?",
    ":",
    ";",
    ",",
    *_FULL_STOPS,
    '"',
    "”",
    ")",
    "|",
    "`",
)
_MAX_TITLE: Final = 80


def sentence_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the starts of the sentences of a slice; the first one is `start`."""
    if end is None:
        end = len(text)
    if start >= end:
        return []
    starts = [start]
    for border in _BORDER.finditer(text, start, end):
        if border["stop"] and _is_abbreviation(text, start, border.start("stop")):
            continue
        if border.end() < end:
            starts.append(border.end())
    if not text.isascii():
        starts += [space.end() for space in _THAI_SPACE.finditer(text, start, end)]
        starts.sort()
    return starts


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Return whether the full stop before `stop` belongs to an abbreviation or an initial."""
    if text[stop - 1] != ".":
        return False
    first = max(start, stop - _MAX_ABBREVIATION)
    return _ABBREVIATION.search(text, first, stop) is not None


def prose_units(
    text: str, start: int, end: int, *, size: int, fine: bool = False
) -> Iterator[Unit]:
    """Yield the paragraphs of a slice; paragraphs above the size, or with `fine` all of them, in sentences."""
    border = PARAGRAPH
    place = start
    gaps = [gap.span() for gap in _PARAGRAPH.finditer(text, start, end)]
    for stop, following in [*gaps, (end, end)]:
        weight = weigh(text, place, stop, size)
        is_title = _is_title(text, place, stop)
        if is_title and border:
            border = TITLED
        if weight <= size and not fine and stop > place:
            yield Unit(place, weight, border)
        else:
            yield from sentence_units(text, place, stop, size=size, border=border)
        border = PARAGRAPH
        if is_title:
            border = WORD
        place = following


def _is_title(text: str, start: int, end: int) -> bool:
    """Return whether a paragraph is the title of the next one, and should not be separated from it."""
    if end - start > _MAX_TITLE * 2:
        return False
    line = text[start:end].strip()
    if not line or len(line) > _MAX_TITLE or "\n" in line:
        return False
    return not line.endswith(_SENTENCE_ENDINGS)


def sentence_units(
    text: str, start: int, end: int, *, size: int, border: int = SENTENCE
) -> Iterator[Unit]:
    """Yield the sentences of a slice; sentences above the size in lines, words or characters."""
    starts = sentence_starts(text, start, end)
    for place, stop in pairwise([*starts, end]):
        weight = weigh(text, place, stop, size)
        if weight <= size:
            yield Unit(place, weight, border)
        else:
            yield from line_units(text, place, stop, size=size, border=border)
        border = _sentence_border(text, stop)


def _sentence_border(text: str, place: int) -> int:
    """Return the strength of the border before a sentence."""
    if text[place - 1] != "\n":
        return SENTENCE
    before = text[max(0, place - 4) : place]
    if before.endswith(("\n\n", "\r\n\r\n")):
        return PARAGRAPH
    if _ITEM.match(text, place):
        return ITEM
    return SENTENCE


def line_units(
    text: str, start: int, end: int, *, size: int, border: int = LINE
) -> Iterator[Unit]:
    """Yield the lines of a slice; lines above the size in words or characters."""
    place = start
    for weight in estimate_lines(text[start:end]):
        stop = text.find("\n", place, end) + 1 or end
        if stop == place:  # the slice ends with a line break
            return
        if weight <= size:
            yield Unit(place, weight, border)
        else:
            words = _word_units(text, place, stop, weight=weight, size=size)
            yield from with_border(border, words)
        border = LINE
        place = stop


def with_border(border: int, units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield the units, the first with another border before it."""
    for number, unit in enumerate(units):
        if number == 0:
            unit = unit._replace(border=border)
        yield unit


def _word_units(text: str, start: int, end: int, *, weight: int, size: int) -> Iterator[Unit]:
    """Yield runs of whole words of a line above the size; a word above the size is split into characters."""
    step = max(1, (end - start) * size // (_RUNS * weight))
    place = start
    while place < end:
        stop = _word_end(text, place + step, end)
        run_weight = estimate(text[place:stop])
        if run_weight <= size:
            yield Unit(place, run_weight)
            place = stop
            continue
        last_word = _last_word_start(text, place, min(place + step, end))
        if last_word is None:
            yield from _character_units(place, stop, weight=run_weight, size=size)
            place = stop
        else:
            weight_before = estimate(text[place:last_word])
            yield Unit(place, min(weight_before, size))
            place = last_word


def _word_end(text: str, place: int, end: int) -> int:
    """Return the start of the first word after a place."""
    space = _SPACE.search(text, min(place, end), end)
    if space is None:
        return end
    return space.end()


def _last_word_start(text: str, start: int, end: int) -> int | None:
    """Return the start of the last word of a slice; None if the slice has one word or ends with a space."""
    words = text[start:end].rsplit(maxsplit=1)
    if len(words) < 2 or text[end - 1].isspace():
        return None
    return end - len(words[1])


def _character_units(start: int, end: int, *, weight: int, size: int) -> Iterator[Unit]:
    """Yield runs of equally many characters of a word above the size, each with about the weight of the size."""
    step = max(1, (end - start) * size // weight)
    for place in range(start, end, step):
        yield Unit(place, size)
