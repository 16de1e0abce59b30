"""Checks the arguments of callers before anything happens: a wrong type is one sentence, not a traceback."""

from __future__ import annotations

import json
import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from ragstone.errors import InputError
from ragstone.types import Document, Fusion, Mode, SearchOptions, TurnOptions

MAX_TOP_K: Final = 1000
_FIRST_MOMENT, _LAST_MOMENT = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
_SWITCHES: Final = ("hybrid", "mmr", "compress", "merge")
_CHOICES: Final = {"mode": get_args(Mode), "fusion": get_args(Fusion)}
_METADATA_HINT: Final = 'metadata={"team": "search", "year": 2026, "tags": ["a", "b"]}'
_DOCUMENT_HINT: Final = 'Document(uri="notes/today", text="…")'


def check_documents(documents: Document | Iterable[Document]) -> Iterator[Document]:
    """Yield the documents, one or many; `InputError` at the first that is none."""
    if isinstance(documents, str | bytes | Mapping) or not isinstance(
        documents, Document | Iterable
    ):
        raise InputError("add takes documents", hint=f"add({_DOCUMENT_HINT})")
    if isinstance(documents, Document):
        documents = [documents]
    for document in documents:
        _check_document(document)
        yield document


def _check_document(document: object) -> None:
    if not isinstance(document, Document):
        raise InputError(f"a {type(document).__name__} is no document", hint=_DOCUMENT_HINT)
    if not isinstance(document.uri, str) or not document.uri.strip():
        raise InputError("a document needs a uri", hint=_DOCUMENT_HINT)
    for field in ("text", "kind", "language", "title"):
        if not isinstance(getattr(document, field), str):
            raise InputError(
                f"the {field} of {document.uri} is no string", hint="decode bytes first"
            )
    _check_metadata(document.metadata, document.uri)


def check_name(value: object, noun: str) -> str:
    """Return a name; `InputError` if it is no text."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{noun} is named by a string, not by {value!r}", hint='for example "notes/today"'
        )
    return value


def check_plain_name(value: object, noun: str) -> str:
    """Return the name of a project or collection; `InputError` if it is no text or has control characters."""
    name = check_name(value, noun)
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise InputError(
            f"{noun} {name!r} has control characters in its name",
            hint="use letters, digits and signs",
        )
    return name


def check_names(uri: object, ids: object) -> list[str]:
    """Return the uri or the ids as a list."""
    if uri is not None:
        return [check_name(uri, "a document")]
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InputError("ids is a list of names", hint='remove(ids=["docs/a.md"])')
    return [check_name(name, "a document") for name in ids]


def check_path(value: object) -> str | os.PathLike[str]:
    """Return a path; `InputError` if it is none."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise InputError(f"{value!r} is no path", hint="give a string or a Path")
    return value


def check_paths(values: object) -> list[str | Path] | None:
    """Return the paths of a sync as a list; None is the whole folder."""
    if values is None:
        return None
    if isinstance(values, str | os.PathLike) or not isinstance(values, Iterable):
        raise InputError("sync takes a list of paths", hint='sync(["docs", "README.md"])')
    return [Path(check_path(path)) for path in values]


def check_lines(values: object) -> Iterable[str]:
    """Return lines of an export; `InputError` if they are none."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError("load takes lines of text", hint="an open file, or a list of strings")
    return values


def check_embed(value: object) -> None:
    """Raise `InputError` if the value is neither a switch nor a number of seconds."""
    if not isinstance(value, bool | int | float) or value < 0 or math.isnan(value):
        raise InputError(f"embed is {value!r}", hint="use True, False, or a number of seconds")


def check_count(name: str, value: object) -> None:
    """Raise `InputError` if the value is no whole number from 0 up."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name} is {value!r}", hint="give a number from 0 up")


def check_sizes(**sizes: object) -> None:
    """Raise `InputError` if a size is given and is no whole number."""
    for name, value in sizes.items():
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise InputError(f"{name} is {value!r}", hint="give a whole number")


def check_moments(**moments: object) -> None:
    """Raise `InputError` if a time is given and is no number of seconds since 1970."""
    for name, value in moments.items():
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not _FIRST_MOMENT <= float(str(value)) <= _LAST_MOMENT:
            raise InputError(f"{name} is {value!r}", hint="give a time in seconds since 1970")


def check_turn_options(options: TurnOptions) -> None:
    """Raise `InputError` if the optional fields of a turn make no sense."""
    known = TurnOptions.__annotations__
    for name in options:
        if name not in known:
            raise InputError(f"a turn has no {name!r}", hint=f"it has {', '.join(known)}")
    check_moments(at=options.get("at"))
    if not isinstance(options.get("speaker", ""), str):
        raise InputError(f"speaker is {options['speaker']!r}", hint="give a name")
    _check_metadata(options.get("metadata") or {}, "the turn")


def check_kinds(kinds: object) -> list[str] | None:
    """Return kinds of nodes or links as a list; None means all."""
    if kinds is None:
        return None
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        raise InputError(f"kinds is {kinds!r}", hint='give a list, such as ["table", "model"]')
    if not all(isinstance(kind, str) for kind in kinds):
        raise InputError(f"kinds is {kinds!r}", hint='give a list, such as ["table", "model"]')
    return list(kinds)


def check_search(query: object, top_k: object, options: Mapping[str, object]) -> int:
    """Return the number of hits to search for, at most a thousand; `InputError` if an option makes no sense."""
    if not isinstance(query, str):
        raise InputError(
            f"a query is a string, not {type(query).__name__}", hint='search("what you look for")'
        )
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise InputError(f"top_k is {top_k!r}", hint="give a number from 0 up")
    for name, value in options.items():
        _check_search_option(name, value)
    return min(top_k, MAX_TOP_K)


def _check_search_option(name: str, value: object) -> None:
    known = SearchOptions.__annotations__
    if name not in known:
        raise InputError(
            f"a search has no option {name!r}", hint=f"the options are {', '.join(known)}"
        )
    if name in _SWITCHES and not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", hint="use True or False")
    if name == "memory" and not _names_sessions(value):
        raise InputError(
            f"memory is {value!r}", hint="use True, the name of a session, or a list of names"
        )
    if value is None:
        return
    if name in _CHOICES and value not in _CHOICES[name]:
        raise InputError(f"{name} is {value!r}", hint=f"use one of: {', '.join(_CHOICES[name])}")
    check = _OPTION_CHECKS.get(name)
    if check is not None and not check[0](value):
        raise InputError(f"{name} is {value!r}", hint=check[1])


def _names_sessions(value: object) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, Sequence) and all(isinstance(name, str) for name in value)


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


_OPTION_CHECKS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "rerank": (lambda value: isinstance(value, str), "give the name of a reranker"),
    "collection": (
        lambda value: isinstance(value, str | Iterable),
        "give a name, or a list of names",
    ),
    "min_score": (_is_score, "give a number from 0 to 1"),
    "filters": (lambda value: isinstance(value, Mapping), 'filters={"path": "docs/**"}'),
    "fresh": (lambda value: isinstance(value, bool), "use True or False"),
}


def _check_metadata(metadata: object, owner: str) -> None:
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InputError(f"the metadata of {owner} must map names to values", hint=_METADATA_HINT)
    try:
        json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the metadata of {owner} cannot be stored: {error}", hint=_METADATA_HINT
        ) from error
