"""Secrets in texts: where they are, and texts without them.

`scan` says where, `redact` puts `[SECRET:kind]` in their place, `without_secrets` does that to a document. No line is
added or taken away, so what stands on a line still does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from ragstone.sources.secrets import rules as secret_rules
from ragstone.sources.secrets.finders import Seen, find
from ragstone.types import Document, Mark, Metadata, Scalar, Value

_LISTED: Final = 12
_ENV_NAME: Final = re.compile(r"(?:^|/)(?:\.envrc|[^/]*\.env(?:\.[^/]*)?)$", re.IGNORECASE)
_KEY_SIGNS: Final = re.compile(r"[A-Za-z0-9+/=\\,:;.\-_*$%()]+")
"""What is taken out of the further lines of a block: line ends, white space and quotes stay."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret: its kind, where it stands, in characters, and its line, from 1."""

    kind: str
    start: int
    end: int
    line: int


def scan(text: str, *, uri: str = "") -> list[Found]:
    """Return the secrets in a text, in order; its uri tells whether it is an `.env` file."""
    data = text.encode("utf-8", "surrogatepass")
    seen = find(data, secret_rules.rules(), env=_ENV_NAME.search(uri) is not None)
    return _in_characters(text, data, seen) if seen else []


def redact(text: str, *, uri: str = "") -> tuple[str, list[Found]]:
    """Return a text with `[SECRET:kind]` in place of each secret, and what was taken out."""
    found = scan(text, uri=uri)
    return (_without(text, found), found) if found else (text, found)


def without_secrets(document: Document) -> Document:
    """Return a document without secrets in anything that is stored of it, and with a remark on what was taken out."""
    text, found = redact(document.text, uri=document.uri)
    beside, besides = redact(document.beside)
    title, titles = redact(document.title)
    metadata, about = _metadata(document.metadata)
    if not (found or besides or titles or about):
        return document
    told = [f"{one.kind} (line {one.line})" for one in found]
    told += [f"{one.kind} ({where})" for where, many in (("title", titles), ("beside", besides)) for one in many]
    told += [f"{kind} (metadata)" for kind in about]
    return replace(
        document,
        text=text,
        title=title,
        metadata=metadata,
        beside=beside,
        marks=_moved(document.marks, document.text, found),
        remarks=(*document.remarks, _remark(told)),
    )


def _remark(told: Sequence[str]) -> str:
    more = f" and {len(told) - _LISTED} more" if len(told) > _LISTED else ""
    return f"{len(told)} {'secret' if len(told) == 1 else 'secrets'} taken out: {', '.join(told[:_LISTED])}{more}"


def _in_characters(text: str, data: bytes, seen: Sequence[Seen]) -> list[Found]:
    """Return what was seen in bytes as places in the text."""
    found: list[Found] = []
    at = byte = 0
    line = 1
    plain = text.isascii()
    for one in seen:
        line += data.count(b"\n", byte, one.start)
        # A value that was cut at its greatest length may end inside a character.
        start = one.start if plain else at + len(data[byte : one.start].decode("utf-8", "surrogatepass"))
        end = one.end if plain else start + len(_whole(data, one).decode("utf-8", "surrogatepass"))
        found.append(Found(one.kind, start, end, line))
        at, byte = start, one.start
    return found


def _whole(data: bytes, one: Seen) -> bytes:
    end = one.end
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return data[one.start : end]


def _placeholder(text: str, one: Found) -> str:
    taken = text[one.start : one.end]
    return f"[SECRET:{one.kind}]" + (_KEY_SIGNS.sub("", taken) if "\n" in taken else "")


def _without(text: str, found: Sequence[Found]) -> str:
    pieces: list[str] = []
    at = 0
    for one in found:
        pieces += (text[at : one.start], _placeholder(text, one))
        at = one.end
    return "".join((*pieces, text[at:]))


def _moved(marks: tuple[Mark, ...], text: str, found: Sequence[Found]) -> tuple[Mark, ...]:
    """Return marks where their places are now; one inside a secret moves to its placeholder's end."""
    if not marks or not found:
        return marks
    starts = [one.start for one in found]
    grown = list(accumulate(len(_placeholder(text, one)) - (one.end - one.start) for one in found))

    def moved(mark: Mark) -> Mark:
        before = bisect_right(starts, mark.start - 1) - 1
        if before < 0:
            return mark
        return replace(mark, start=max(mark.start, found[before].end) + grown[before])

    return tuple(map(moved, marks))


def _metadata(given: Metadata) -> tuple[Metadata, list[str]]:
    """Return what is known about a document without secrets, and the kinds that were taken out."""
    kinds: list[str] = []

    def cleaned(text: str, name: str = "") -> str:
        # What a value is called may be what gives it away.
        head = f'{name} = "' if name else ""
        clean, found = redact(f'{head}{text}"' if head else text)
        if found and head and found[0].start < len(head):
            return cleaned(text)
        kinds.extend(one.kind for one in found)
        return clean[len(head) : -1] if head else clean

    def one_cleaned(name: str, value: Scalar) -> Scalar:
        return cleaned(value, name) if isinstance(value, str) else value

    def all_cleaned(name: str, value: Value) -> Value:
        if isinstance(value, (list, tuple)):
            return [one_cleaned(name, one) for one in value]
        return one_cleaned(name, value)

    about = {cleaned(name): all_cleaned(name, value) for name, value in given.items()}
    return (about, kinds) if kinds else (given, kinds)
