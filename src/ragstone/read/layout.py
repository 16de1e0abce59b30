"""From the lines of a page to text that reads on: columns in order, wrapped lines joined, broken words made whole.

Headings, list items and rows keep their lines. Nothing is left out, whatever it is: headers and footers stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

SOFT_HYPHEN: Final = "\u00ad"
"""Stands, in a line, for a hyphen that may have been put there only to break a word."""
_LIGATURES: Final = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00a0": " ", "\u200b": ""}
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_ODD: Final = re.compile(f"{_CONTROLS.pattern[:-1]}{''.join(map(chr, _LIGATURES))}]")
_ITEM: Final = re.compile(r"(?:[-*+•◦▪‣–—·●○■□✓]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|\[[0-9]{1,3}\])\s")
# Possessive, and only from a word's start: a page may be one word.
_BROKEN: Final = re.compile(r"(?<!\w)\w++(?:\u00ad\s*+\w++)++")
_PIECES: Final = re.compile(r"\u00ad\s*")
_COMPOUND: Final = re.compile(r"(?<!\w)\w++-\w++")
_WORD: Final = re.compile(r"\w++")
_LEADER: Final = re.compile(r"(?:[.·…]\s?){4}")
_SPARSE: Final = 0.75
"""Times its height: what a letter of a line takes on average where the line has gaps inside."""
_SHORT: Final = 20
_FINISHED: Final = (".", "!", "?", ":", "。", "！", "？", "…")


class Line(NamedTuple):
    """A line of text and the box it stands in; coordinates grow to the right and upwards."""

    text: str
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0

    @property
    def height(self) -> float:
        """Return how tall the line is."""
        return self.top - self.bottom

    @property
    def placed(self) -> bool:
        """Return whether it is known where the line stands."""
        return self.right > self.left and self.top > self.bottom


def cleaned(text: str) -> str:
    """Return text without ligatures, and with a space for what is no character."""
    if not _ODD.search(text):
        return text
    return _CONTROLS.sub(" ", text.translate(_LIGATURES))


# ── wrapped lines ─────────────────────────────────────────────────────────────────────────────────


def flowed(lines: Sequence[Line]) -> str:
    """Return the text of lines in order: wrapped ones joined, blank lines between paragraphs."""
    pieces: list[str] = []
    last: Line | None = None
    for block in _blocks(_whole(lines)):
        text = _flowed_block(block)
        if last is not None and _continues(last, block[0]):
            broken = last.text.endswith((SOFT_HYPHEN, "-"))
            pieces[-1] = pieces[-1][:-1] + SOFT_HYPHEN if broken else pieces[-1]
            pieces.append("" if broken else " ")
        elif pieces:
            pieces.append("\n\n")
        pieces.append(text)
        last = block[-1]
    return "".join(pieces)


def _continues(last: Line, first: Line) -> bool:
    """Return whether a paragraph that ends a column goes on at the top of the next."""
    if not (last.placed and first.placed) or first.bottom <= last.top or not first.text[:1].islower():
        return False
    small, large = sorted((last.height, first.height))
    return large < 1.2 * small and len(last.text) > _SHORT and not last.text.endswith(_FINISHED)


def _whole(lines: Sequence[Line]) -> list[Line]:
    """Return lines of which none goes on at the same height to the right, as a power does behind its base."""
    whole: list[Line] = []
    for line in lines:
        before = whole[-1] if whole else None
        if before is None or not _goes_on(before, line):
            whole.append(line)
            continue
        near = line.left - before.right < 0.12 * before.height
        tall = max(before, line, key=lambda one: one.height)
        text = f"{before.text}{'' if near else ' '}{line.text}"
        whole[-1] = Line(text, before.left, max(before.right, line.right), tall.bottom, tall.top)
    return whole


def _goes_on(one: Line, other: Line) -> bool:
    """Return whether a line stands at another's height and begins where that ends, or behind."""
    if not (one.placed and other.placed):
        return False
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    small = min(one.height, other.height)
    return shared > 0.4 * small and other.left > one.right - 0.5 * small


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Return runs of lines that follow each other downwards in one column and one size."""
    blocks: list[list[Line]] = []
    pitch = _pitch(lines)
    for line in lines:
        if blocks and _follows(blocks[-1], line, pitch):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance from line to line."""
    steps = [
        step
        for above, below in pairwise(lines)
        if above.placed and below.placed and 0.7 * below.height < (step := above.bottom - below.bottom)
        if step < 3 * below.height
    ]
    return median(steps) if steps else 0.0


def _follows(block: Sequence[Line], line: Line, pitch: float) -> bool:
    """Return whether a line belongs to the block that the lines before it make."""
    last = block[-1]
    if not (last.placed and line.placed):
        return last.placed == line.placed
    step = last.bottom - line.bottom
    if step <= 0 or step > 1.45 * max(pitch, 0.9 * line.height):
        return False
    small, large = sorted((last.height, line.height))
    return large < 1.2 * small and line.left < last.right + large and last.left < line.right + large


def _flowed_block(block: Sequence[Line]) -> str:
    """Return the text of a block: one paragraph or several, or rows."""
    right = max(line.right for line in block)
    pieces = [block[0].text]
    prose = False
    for above, below in pairwise(block):
        if not _wraps(above, below, right):
            # The short last line of a paragraph ends it; short lines one after another are rows.
            between, prose = ("\n\n" if prose and not _ITEM.match(below.text) else "\n"), False
        elif above.text.endswith((SOFT_HYPHEN, "-")) and below.text[:1].isalpha() and above.text[-2:-1].isalpha():
            pieces[-1] = pieces[-1][:-1] + SOFT_HYPHEN
            between, prose = "", True
        else:
            between, prose = " ", True
        pieces += [between, below.text]
    return "".join(pieces)


def _wraps(above: Line, below: Line, right: float) -> bool:
    """Return whether a line was ended because the next word had no room in it, not because somebody meant it to."""
    if not (above.placed and below.placed) or _ITEM.match(below.text) or _is_row(above):
        return False
    if above.text.endswith((SOFT_HYPHEN, "-")) and below.text[:1].islower():
        return True
    word = below.text.split(maxsplit=1)[0] if below.text.strip() else ""
    letter = (below.right - below.left) / max(1, len(below.text))
    if above.right + (len(word) + 1) * letter <= right - 0.3 * letter:
        return False
    indented = below.left > above.left + 0.9 * below.height and above.text.rstrip().endswith(_FINISHED)
    return not indented


def _is_row(line: Line) -> bool:
    """Return whether a line has dots or wide gaps inside, as in a table of contents or a table."""
    return bool(_LEADER.search(line.text)) or line.right - line.left > _SPARSE * line.height * len(line.text)


# ── broken words ──────────────────────────────────────────────────────────────────────────────────


def rejoined(pages: Sequence[str]) -> list[str]:
    """Return pages with broken words made whole; a hyphen that the document writes elsewhere stays."""
    if not any(SOFT_HYPHEN in page for page in pages):
        return list(pages)
    compounds = {word.lower() for page in pages for word in _COMPOUND.findall(page)}
    whole = {word.lower() for page in pages for word in _WORD.findall(page)} if compounds else set()

    def mended(found: re.Match[str]) -> str:
        word, *rest = _PIECES.split(found[0])
        for piece in rest:
            kept = not (word[-1].isalpha() and piece[0].islower())
            if f"{word}-{piece}".lower() in compounds:
                kept = kept or (word + piece).lower() not in whole
            word = f"{word}-{piece}" if kept else word + piece
        return word

    return [_BROKEN.sub(mended, page).replace(SOFT_HYPHEN, "-") if SOFT_HYPHEN in page else page for page in pages]
