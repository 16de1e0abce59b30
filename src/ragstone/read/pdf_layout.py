"""Turning the lines of a page into running text: wrapped lines are joined, broken words are made whole.

Headings, list items and rows keep their lines. Nothing is left out, not even headers and footers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

SOFT_HYPHEN: Final = "\u00ad"
"""In a line: a hyphen that may only break a word."""
_LIGATURES: Final = str.maketrans(
    {
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "st",
        "ﬆ": "st",
        "\u00a0": " ",
        "\u200b": "",
    }
)
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_ITEM: Final = re.compile(
    r"(?:[-*+•◦▪‣–—·●○■□✓]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|\[[0-9]{1,3}\])\s"
)
# Possessive, and only from the start of a word: a page may be one word.
_BROKEN_WORD: Final = re.compile(r"(?<!\w)\w++(?:\u00ad\s*+\w++)++")
_BREAK: Final = re.compile(r"\u00ad\s*")
_COMPOUND: Final = re.compile(r"(?<!\w)\w++-\w++")
_WORD: Final = re.compile(r"\w++")
_DOT_LEADER: Final = re.compile(r"(?:[.·…]\s?){4}")
_SPARSE: Final = 0.75
"""Width of a character, in heights of the line, above which the line has gaps inside."""
_MIN_CONTINUED: Final = 20
_SENTENCE_ENDS: Final = (".", "!", "?", ":", "。", "！", "？", "…")
_HYPHENS: Final = (SOFT_HYPHEN, "-")


class PdfLine(NamedTuple):
    """A line of text and its box; coordinates grow to the right and upwards."""

    text: str
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0

    @property
    def height(self) -> float:
        """Return the height of the line."""
        return self.top - self.bottom

    @property
    def has_box(self) -> bool:
        """Return whether the position of the line is known."""
        return self.right > self.left and self.top > self.bottom


def clean_text(text: str) -> str:
    """Return text with ligatures as letters and a space for each character that is none."""
    return _CONTROL.sub(" ", text.translate(_LIGATURES))


# ── wrapped lines ─────────────────────────────────────────────────────────────────────────────────


def join_lines(lines: Iterable[PdfLine]) -> str:
    """Return the text of ordered lines: wrapped lines joined, a blank line between paragraphs."""
    parts: list[str] = []
    last: PdfLine | None = None
    for block in _split_blocks(_join_neighbours(lines)):
        if last is not None and _continues_in_next_column(last, block[0]):
            _join_words(parts, is_broken=last.text.endswith(_HYPHENS))
        elif parts:
            parts.append("\n\n")
        parts.append(_join_block(block))
        last = block[-1]
    return "".join(parts)


def _join_neighbours(lines: Iterable[PdfLine]) -> list[PdfLine]:
    """Return the lines with those joined that continue at the same height, such as a power after its base."""
    joined: list[PdfLine] = []
    for line in lines:
        before = joined[-1] if joined else None
        if before is None or not _continues_to_the_right(before, line):
            joined.append(line)
            continue
        is_close = line.left - before.right < 0.12 * before.height
        separator = "" if is_close else " "
        taller = before if before.height >= line.height else line
        joined[-1] = PdfLine(
            before.text + separator + line.text,
            before.left,
            max(before.right, line.right),
            taller.bottom,
            taller.top,
        )
    return joined


def _continues_to_the_right(before: PdfLine, line: PdfLine) -> bool:
    """Return whether a line is at the height of the line before it, and starts after its end."""
    if not (before.has_box and line.has_box):
        return False
    top = min(before.top, line.top)
    bottom = max(before.bottom, line.bottom)
    smaller = min(before.height, line.height)
    is_at_same_height = top - bottom > 0.4 * smaller
    return is_at_same_height and line.left > before.right - 0.5 * smaller


def _continues_in_next_column(last: PdfLine, first: PdfLine) -> bool:
    """Return whether a paragraph at the end of a column continues at the top of the next one."""
    if not (last.has_box and first.has_box):
        return False
    is_above = first.bottom > last.top
    starts_lower = first.text[:1].islower()
    if not (is_above and starts_lower and _have_same_size(last, first)):
        return False
    return len(last.text) > _MIN_CONTINUED and not last.text.endswith(_SENTENCE_ENDS)


def _have_same_size(line: PdfLine, other: PdfLine) -> bool:
    smaller, larger = sorted((line.height, other.height))
    return larger < 1.2 * smaller


def _split_blocks(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """Return runs of lines that follow each other downwards in one column and one size."""
    blocks: list[list[PdfLine]] = []
    pitch = _usual_pitch(lines)
    for line in lines:
        if blocks and _belongs_to_block(blocks[-1][-1], line, pitch):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _usual_pitch(lines: Sequence[PdfLine]) -> float:
    """Return the usual distance from line to line; 0 if unknown."""
    steps = []
    for above, below in pairwise(lines):
        step = above.bottom - below.bottom
        is_usual = 0.7 * below.height < step < 3 * below.height
        if is_usual and above.has_box and below.has_box:
            steps.append(step)
    return median(steps) if steps else 0.0


def _belongs_to_block(last: PdfLine, line: PdfLine, pitch: float) -> bool:
    """Return whether a line belongs to the block that ends with the line before it."""
    if not (last.has_box and line.has_box):
        return last.has_box == line.has_box
    step = last.bottom - line.bottom
    usual_step = max(pitch, 0.9 * line.height)
    if not 0 < step <= 1.45 * usual_step:
        return False
    margin = max(last.height, line.height)
    is_beside = line.left >= last.right + margin or last.left >= line.right + margin
    return not is_beside and _have_same_size(last, line)


def _join_block(block: Sequence[PdfLine]) -> str:
    """Return the text of a block: one paragraph or several, or rows."""
    right = max(line.right for line in block)
    parts = [block[0].text]
    is_paragraph = False
    for above, below in pairwise(block):
        if not _is_wrapped(above, below, right):
            # The short last line of a paragraph ends it; short lines after each other are rows.
            ends_paragraph = is_paragraph and not _ITEM.match(below.text)
            parts.append("\n\n" if ends_paragraph else "\n")
            is_paragraph = False
        else:
            is_paragraph = True
            _join_words(parts, is_broken=_is_broken_word(above, below))
        parts.append(below.text)
    return "".join(parts)


def _join_words(parts: list[str], *, is_broken: bool) -> None:
    """Add a space to the text; after a broken word turn its hyphen into a soft one."""
    if is_broken:
        parts[-1] = parts[-1][:-1] + SOFT_HYPHEN
    else:
        parts.append(" ")


def _is_broken_word(above: PdfLine, below: PdfLine) -> bool:
    before_hyphen = above.text[-2:-1]
    after_break = below.text[:1]
    if not above.text.endswith(_HYPHENS):
        return False
    return before_hyphen.isalpha() and after_break.isalpha()


def _is_wrapped(above: PdfLine, below: PdfLine, right: float) -> bool:
    """Return whether a line ends because the next word had no room in it."""
    if not (above.has_box and below.has_box):
        return False
    if _ITEM.match(below.text) or _is_row(above):
        return False
    if above.text.endswith(_HYPHENS) and below.text[:1].islower():
        return True
    words = below.text.split(maxsplit=1)
    first_word = words[0] if words else ""
    width = below.right - below.left
    character_width = width / max(1, len(below.text))
    needed_width = (len(first_word) + 1) * character_width
    if above.right + needed_width <= right - 0.3 * character_width:
        return False
    is_indented = below.left > above.left + 0.9 * below.height
    return not (is_indented and above.text.rstrip().endswith(_SENTENCE_ENDS))


def _is_row(line: PdfLine) -> bool:
    """Return whether a line has dot leaders or wide gaps, as in a table of contents or a table."""
    width = line.right - line.left
    usual_width = line.height * len(line.text)
    if width > _SPARSE * usual_width:
        return True
    return _DOT_LEADER.search(line.text) is not None


# ── broken words ──────────────────────────────────────────────────────────────────────────────────


def rejoin_words(pages: Sequence[str]) -> list[str]:
    """Return pages with broken words made whole; a hyphen stays if the document writes it elsewhere."""
    if not any(SOFT_HYPHEN in page for page in pages):
        return list(pages)
    compounds = _find_words(_COMPOUND, pages)
    words = _find_words(_WORD, pages) if compounds else set()

    def rejoin(match: re.Match[str]) -> str:
        word, *rest = _BREAK.split(match[0])
        for part in rest:
            compound = f"{word}-{part}"
            joined = word + part
            is_compound = compound.lower() in compounds and joined.lower() not in words
            is_one_word = word[-1].isalpha() and part[0].islower()
            word = joined if is_one_word and not is_compound else compound
        return word

    rejoined = [_BROKEN_WORD.sub(rejoin, page) for page in pages]
    return [page.replace(SOFT_HYPHEN, "-") for page in rejoined]


def _find_words(pattern: re.Pattern[str], pages: Iterable[str]) -> set[str]:
    words: set[str] = set()
    for page in pages:
        words.update(word.lower() for word in pattern.findall(page))
    return words
