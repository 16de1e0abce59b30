"""What the process that reads answers: a document without its uri, or why there is none.

The answer comes from a process that a hostile file may have taken over, so it is believed no more than the file is.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from ragstone.errors import ReadError, Reason
from ragstone.types import Document, Mark
from ragstone.types.documents import Metadata, Scalar

HELLO: Final = "ragstone read 1"
READ: Final = "read"
MOST_TEXT: Final = 64 << 20
"""Bytes that the text of one file may have."""
_REASONS: Final = frozenset(get_args(Reason))
_LONGEST_TITLE: Final = 1_000
_LONGEST_REMARK: Final = 2_000


def tell_failure(reason: Reason, message: str) -> tuple[list[Any], bytes]:
    """Return an answer without a document."""
    return [reason, message[:_LONGEST_REMARK]], b""


def tell_document(document: Document) -> tuple[list[Any], bytes]:
    """Return an answer with a document: its fields, and its text, in which what is no character is a question mark."""
    text = document.text.encode("utf-8", "replace")
    if len(text) > MOST_TEXT:
        return tell_failure("too-big", f"its text is larger than {MOST_TEXT >> 20} MB")
    marks = [(mark.start, mark.number, mark.label, mark.unit) for mark in document.marks]
    about = [document.kind, document.language, document.title, dict(document.metadata)]
    return [READ, *about, marks, document.beside, document.remarks], text


def hear_failure(reason: object, fields: list[Any]) -> ReadError:
    """Return the error that an answer tells of; `ValueError` if it makes no sense."""
    for known in _REASONS:
        if reason == known and len(fields) == 1 and isinstance(fields[0], str):
            return ReadError(_sound(fields[0])[:_LONGEST_REMARK], reason=known)
    raise ValueError("a failure that is none")


def hear_document(uri: str, text: str, fields: list[Any]) -> Document:
    """Return the document that an answer tells of; `ValueError` and its like if it makes no sense."""
    kind, language, title, metadata, marks, beside, remarks = fields
    words = [kind, language, title, beside, *remarks]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a document that is none")
    kind, language, title, beside, *remarks = map(_sound, words)
    return Document(
        uri,
        text,
        kind,
        language,
        title[:_LONGEST_TITLE],
        _metadata(metadata),
        _marks(marks, len(text)),
        beside,
        tuple(remark[:_LONGEST_REMARK] for remark in remarks),
    )


def _marks(told: list[Any], end: int) -> tuple[Mark, ...]:
    marks = tuple(Mark(start, number, _sound(label), _sound(unit)) for start, number, label, unit in told)
    if not all(type(mark.start) is type(mark.number) is int for mark in marks):
        raise ValueError("a mark that is none")
    starts = [0, *(mark.start for mark in marks), end]
    if starts != sorted(starts):
        raise ValueError("marks out of order, or outside the text")
    return marks


def _metadata(told: dict[str, Any]) -> Metadata:
    return {
        _sound(key): [_scalar(one) for one in value] if isinstance(value, list) else _scalar(value)
        for key, value in told.items()
    }


def _scalar(value: object) -> Scalar:
    if value is None or isinstance(value, (int, float, bool)):
        return value
    if isinstance(value, str):
        return _sound(value)
    raise ValueError("metadata that is none")


def _sound(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no store can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
