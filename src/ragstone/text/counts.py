"""Counts with their nouns, for sentences."""

from __future__ import annotations


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: `1 file`, `2,000 files`; `nouns` is an irregular plural."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {nouns or noun + 's'}"
