"""Splits code at signs outside of brackets and finds closing brackets."""

from __future__ import annotations


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators that are in no brackets."""
    if separator not in text:
        return [text]
    parts: list[str] = []
    depth = start = 0
    for position, sign in enumerate(text):
        if sign in "([{<":
            depth += 1
        elif sign in ")]}>":
            depth -= 1
        elif sign == separator and depth <= 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def find_closing_bracket(text: str, start: int) -> int:
    """Return the offset of the bracket that closes the bracket at `start`, or -1. Brackets in quotes do not count."""
    if text[start : start + 1] not in ("(", "[", "{"):
        return -1
    depth, quote, position = 0, "", start
    while position < len(text):
        sign = text[position]
        if quote:
            if sign == "\\":
                position += 1
            elif sign == quote:
                quote = ""
        elif sign in "\"'`":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return -1
