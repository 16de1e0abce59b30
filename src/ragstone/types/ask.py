"""The answer of a language model, and its quotations checked against the sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation in an answer: the number of the source, the words, and whether the source has them."""

    number: int
    words: str
    citation: str
    found: bool


@dataclass(frozen=True, slots=True)
class Spoken:
    """A written answer; `found` is False if the sources do not support it."""

    text: str
    found: bool
    quotes: tuple[Quote, ...] = ()
    model: str = ""
    notes: tuple[str, ...] = ()
