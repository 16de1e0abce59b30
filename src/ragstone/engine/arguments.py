"""What callers hand in, looked at before anything happens: wrong types are told in a sentence, not in a traceback."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args
from unicodedata import category

from ragstone.errors import InputError
from ragstone.types import Document, Fusion, Mode, SearchOptions

MAX_TOP_K: Final = 1000
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
_SWITCHES: Final = ("hybrid", "mmr", "compress", "merge", "fresh")
_CHOICES: Final = {"mode": get_args(Mode), "fusion": get_args(Fusion)}


def documents(given: Document | Iterable[Document]) -> Iterator[Document]:
    """Yield the documents given, one or many, or raise `InputError` at the first that is none."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Document | Iterable):
        raise InputError("add takes documents", hint='add(Document(uri="notes/today", text="…"))')
    for document in [given] if isinstance(given, Document) else given:
        if not isinstance(document, Document):
            raise InputError(
                f"a {type(document).__name__} is no document", hint='Document(uri="notes/today", text="…")'
            )
        if not isinstance(document.uri, str) or not document.uri.strip():
            raise InputError("a document needs a uri", hint='Document(uri="notes/today", text="…")')
        for part in ("text", "kind", "language", "title"):
            if not isinstance(getattr(document, part), str):
                raise InputError(f"the {part} of {document.uri} is no string", hint="decode bytes first")
        _metadata(document)
        yield document


def name(given: object, what: str) -> str:
    """Return a name, or raise `InputError` if it is none."""
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"{what} is named by a string, not by {given!r}", hint='for example "notes/today"')
    return given


def project(name: object) -> str:
    """Return the name of a project, or raise `InputError` if it is empty or has control characters."""
    if not isinstance(name, str) or not name.strip() or any(category(one) == "Cc" for one in name):
        raise InputError(
            f"the name of a project is text without control characters, not {name!r}", hint='project="default"'
        )
    return name


def names(one: object, many: object) -> list[str]:
    """Return the uri given, or the ids given, as a list."""
    if one is not None:
        return [name(one, "a document")]
    if isinstance(many, str) or not isinstance(many, Iterable):
        raise InputError("ids is a list of names", hint='remove(ids=["docs/a.md"])')
    return [name(each, "a document") for each in many]


def path(given: object) -> str | os.PathLike[str]:
    """Return a path, or raise `InputError` if it is none."""
    if not isinstance(given, str | os.PathLike) or not str(given):
        raise InputError(f"{given!r} is no path", hint="give a string or a Path")
    return given


def paths(given: object) -> list[str | Path] | None:
    """Return the paths a sync is narrowed to, as a list; None is the whole folder."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable):
        raise InputError("sync takes a list of paths", hint='sync(["docs", "README.md"])')
    return [Path(path(each)) for each in given]


def lines(given: object) -> Iterable[str]:
    """Return lines to be read back, or raise `InputError` if they are none."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError("load takes lines of text", hint="an open file, or a list of strings")
    return given


def embed(given: object) -> None:
    """Raise `InputError` unless it says whether to embed, or for how many seconds."""
    if not isinstance(given, bool | int | float) or given < 0 or math.isnan(given):
        raise InputError(f"embed is {given!r}", hint="use True, False, or a number of seconds")


def sizes(collection: object, size: object, overlap: object) -> None:
    """Raise `InputError` unless a collection has a name and whole numbers for sizes."""
    name(collection, "a collection")
    for what, given in (("chunk_size", size), ("chunk_overlap", overlap)):
        if given is not None and (not isinstance(given, int) or isinstance(given, bool)):
            raise InputError(f"{what} is {given!r}", hint="give a whole number")


def _metadata(document: Document) -> None:
    _storable(document.metadata, document.uri)


def _storable(metadata: object, whose: str) -> None:
    hint = 'metadata={"team": "search", "year": 2026, "tags": ["a", "b"]}'
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InputError(f"the metadata of {whose} must map names to values", hint=hint)
    try:
        json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the metadata of {whose} cannot be stored: {error}", hint=hint) from error


def whole(what: str, given: object) -> None:
    """Raise `InputError` unless it is a number from 0 on."""
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise InputError(f"{what} is {given!r}", hint="give a number from 0 up")


def moments(**given: object) -> None:
    """Raise `InputError` unless each is a time, or left out."""
    for what, moment in given.items():
        if moment is None:
            continue
        if not isinstance(moment, int | float) or isinstance(moment, bool) or not _FIRST <= moment <= _LAST:
            raise InputError(f"{what} is {moment!r}", hint="give a time in seconds since 1970")


def about_turn(given: Mapping[str, Any]) -> None:
    """Raise `InputError` unless it is what may be known of a turn."""
    known = ("at", "speaker", "metadata")
    for key in given:
        if key not in known:
            raise InputError(f"a turn has no {key!r}", hint=f"it has {', '.join(known)}")
    moments(at=given.get("at"))
    if not isinstance(given.get("speaker", ""), str):
        raise InputError(f"speaker is {given['speaker']!r}", hint="give a name")
    _storable(given.get("metadata") or {}, "the turn")


def search(query: object, top_k: object, options: Mapping[str, Any]) -> int:
    """Return how many hits to look for, at most a thousand, or raise `InputError` for what makes no sense."""
    if not isinstance(query, str):
        raise InputError(f"a query is a string, not {type(query).__name__}", hint='search("what you look for")')
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise InputError(f"top_k is {top_k!r}", hint="give a number from 0 up")
    for name, value in options.items():
        _option(name, value)
    return min(top_k, MAX_TOP_K)


def _sessions(value: object) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, Sequence) and all(isinstance(one, str) for one in value)


def _option(name: str, value: object) -> None:
    known = SearchOptions.__annotations__
    if name not in known:
        raise InputError(f"a search has no option {name!r}", hint=f"the options are {', '.join(known)}")
    if name == "rerank" and value is not None and not isinstance(value, str):
        raise InputError(f"rerank is {value!r}", hint="give the name of a reranker")
    if name == "collection" and value is not None and not isinstance(value, str | Iterable):
        raise InputError(f"collection is {value!r}", hint="give a name, or a list of names")
    if name == "memory" and not _sessions(value):
        raise InputError(f"memory is {value!r}", hint="use True, the name of a session, or a list of names")
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
