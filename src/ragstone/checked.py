"""What callers hand in, looked at before anything happens: wrong types are told in a sentence, not in a traceback."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from ragstone.errors import InputError
from ragstone.types import Document, Fusion, Mode, SearchOptions

MAX_TOP_K: Final = 1000
_SWITCHES: Final = ("hybrid", "mmr", "compress", "merge")
_CHOICES: Final = {"mode": get_args(Mode), "fusion": get_args(Fusion)}


def documents(given: Document | Iterable[Document]) -> Iterator[Document]:
    """Yield the documents given, one or many, or raise `InputError` at the first that is none."""
    if isinstance(given, str | bytes | Mapping):
        raise InputError("add takes documents", hint='add(Document(uri="notes/today", text="…"))')
    for document in [given] if isinstance(given, Document) else given:
        if not isinstance(document, Document):
            raise InputError(
                f"a {type(document).__name__} is no document", hint='Document(uri="notes/today", text="…")'
            )
        if not isinstance(document.uri, str) or not document.uri.strip():
            raise InputError("a document needs a uri", hint='Document(uri="notes/today", text="…")')
        if not isinstance(document.text, str):
            raise InputError(f"the text of {document.uri} is no string", hint="decode bytes first")
        _metadata(document)
        yield document


def _metadata(document: Document) -> None:
    hint = 'metadata={"team": "search", "year": 2026, "tags": ["a", "b"]}'
    if not isinstance(document.metadata, Mapping) or not all(isinstance(key, str) for key in document.metadata):
        raise InputError(f"the metadata of {document.uri} must map names to values", hint=hint)
    try:
        json.dumps(dict(document.metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the metadata of {document.uri} cannot be stored: {error}", hint=hint) from error


def search(query: object, top_k: object, options: Mapping[str, Any]) -> int:
    """Return how many hits to look for, at most a thousand, or raise `InputError` for what makes no sense."""
    if not isinstance(query, str):
        raise InputError(f"a query is a string, not {type(query).__name__}", hint='search("what you look for")')
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise InputError(f"top_k is {top_k!r}", hint="give a number from 0 up")
    for name, value in options.items():
        _option(name, value)
    return min(top_k, MAX_TOP_K)


def _option(name: str, value: object) -> None:
    known = SearchOptions.__annotations__
    if name not in known:
        raise InputError(f"a search has no option {name!r}", hint=f"the options are {', '.join(known)}")
    if name in _SWITCHES and not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", hint="use True or False")
    if value is None:
        return
    if name in _CHOICES and value not in _CHOICES[name]:
        raise InputError(f"{name} is {value!r}", hint=f"use one of: {', '.join(_CHOICES[name])}")
    if name == "min_score" and (not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value)):
        raise InputError(f"min_score is {value!r}", hint="give a number from 0 to 1")
    if name == "filters" and not isinstance(value, Mapping):
        raise InputError(f"filters is {value!r}", hint='filters={"path": "docs/**"}')
