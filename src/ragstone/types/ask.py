"""What a language model said, and what of it was found in the sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation of a source: the piece it names, the words, and whether they stand there."""

    number: int
    words: str
    place: str
    found: bool


@dataclass(frozen=True, slots=True)
class Spoken:
    """An answer in words; `found` is False where the sources do not bear it out."""

    text: str
    found: bool
    quotes: tuple[Quote, ...] = ()
    model: str = ""
    notes: tuple[str, ...] = ()
