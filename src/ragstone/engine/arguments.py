"""Checks the arguments of callers before anything happens: a wrong type is one sentence, not a traceback."""

from __future__ import annotations

import json
import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast, get_args

from ragstone.chunk import sizes as chunk_sizes
from ragstone.chunk.packing import check_sizes
from ragstone.config import Settings
from ragstone.config.validation import (
    HIT_RANGE,
    SCORE_RANGE,
    check_number,
    suggest,
)
from ragstone.errors import ConfigError, InputError
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.types import (
    SUMMARY_PREFIX,
    Document,
    Fusion,
    Metadata,
    Mode,
    Scalar,
    SearchOptions,
    TurnOptions,
)

MAX_TOP_K: Final = 1000
SYSTEM_PREFIX: Final = "system:"
NO_TEXT: Final = "has no text, so nothing was stored"
_RESERVED_URIS: Final = (SUMMARY_PREFIX, "memory:")
_BIDI_CONTROLS: Final = frozenset(
    ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
)
"""Classes of characters that turn the direction of the text around them."""
_FIRST_MOMENT, _LAST_MOMENT = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
_MOMENT_HINT: Final = (
    "give seconds since 1970 in the years 1 to 9999, for example 1767225600 for 2026-01-01"
)
_METADATA_HINT: Final = 'metadata={"team": "search", "year": 2026, "tags": ["a", "b"]}'
_SIZE_UNITS: Final = (("chunk_size", "max_tokens"), ("chunk_overlap", "overlap_tokens"))
_SIZE_PAIRS: Final = (("chunk_size", "chunk_overlap"), ("max_tokens", "overlap_tokens"))
_DOCUMENT_HINT: Final = 'Document(uri="notes/today", text="…")'


def check_documents(
    documents: str | Document | Iterable[Document],
    uri: str | None,
    metadata: Metadata | None,
) -> Iterator[Document]:
    """Yield the documents, one or many, or a text with its uri and metadata; `InputError` at the first that is none.

    A single document must have text. Of many, the caller leaves out those without.
    """
    if isinstance(documents, str):
        documents = _document_of_text(documents, uri, metadata)
    elif uri is not None or metadata is not None:
        message = f"uri and metadata go with a text, not with {type(documents).__name__}"
        raise InputError(message, hint='add("Some text.", uri="notes/today")')
    if isinstance(documents, Document):
        _check_document(documents)
        if not has_text(documents):
            raise InputError(f"{documents.uri} {NO_TEXT}", hint="give its text")
        documents = [documents]
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise InputError("add takes documents", hint=f"add({_DOCUMENT_HINT})")
    for document in documents:
        _check_document(document)
        yield document


def has_text(document: Document) -> bool:
    """Return whether a document has more than white space."""
    return bool(document.text.strip())


def _document_of_text(text: str, uri: str | None, metadata: Metadata | None) -> Document:
    if uri is None:
        raise InputError("a text needs a uri", hint='add("Some text.", uri="notes/today")')
    if metadata is not None:
        _check_metadata(metadata, uri)
    return Document(uri=uri, text=text, metadata=metadata or {})


def _check_document(document: object) -> None:
    if not isinstance(document, Document):
        raise InputError(f"a {type(document).__name__} is no document", hint=_DOCUMENT_HINT)
    if not isinstance(document.uri, str) or not document.uri.strip():
        raise InputError("a document needs a uri", hint=_DOCUMENT_HINT)
    _check_free_uri(document.uri)
    for field in ("text", "kind", "language", "title"):
        if not isinstance(getattr(document, field), str):
            message = f"the {field} of {document.uri} is no string"
            raise InputError(message, hint="decode bytes first")
    _check_metadata(document.metadata, document.uri)


def _check_free_uri(uri: str) -> None:
    """Raise `InputError` for a uri that would let a document pose as a summary or as a conversation."""
    prefix = next((name for name in _RESERVED_URIS if uri.startswith(name)), None)
    if prefix is not None:
        message = (
            f"a document cannot be named {uri!r}: names that begin with {prefix!r} are reserved"
        )
        raise InputError(message, hint="choose another name")


def check_name(value: object, noun: str) -> str:
    """Return a name; `InputError` if it is no text."""
    if not isinstance(value, str) or not value.strip():
        message = f"{noun} is named by a string, not by {value!r}"
        raise InputError(message, hint='for example "notes/today"')
    return value


def check_plain_name(value: object, noun: str) -> str:
    """Return the name of a project or collection; `InputError` if it is no text or has control characters."""
    name = check_name(value, noun)
    if any(_is_control_character(character) for character in name):
        message = f"{noun} {name!r} has control characters in its name"
        raise InputError(message, hint="use letters, digits and signs")
    return name


def _is_control_character(character: str) -> bool:
    """Return whether a character ends a line, steers a terminal, or turns the direction of text."""
    if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
        return True
    return unicodedata.bidirectional(character) in _BIDI_CONTROLS


def check_free_name(value: object, noun: str) -> str:
    """Return the name of a user's project or collection; `InputError` if it is one of the system's."""
    name = check_plain_name(value, noun)
    if is_system_name(name):
        raise InputError(
            f"{noun} cannot be named {name!r}: names that begin with {SYSTEM_PREFIX!r} are reserved",
            hint="choose another name",
        )
    return name


def is_system_name(name: object) -> bool:
    """Return whether a name is reserved for the system's collections."""
    return isinstance(name, str) and name.lower().startswith(SYSTEM_PREFIX)


def system_collection(options: Mapping[str, object]) -> str | None:
    """Return the system collection that a search names, None if it names none; it is searched alone."""
    collection = options.get("collection")
    names = [collection] if isinstance(collection, str) else collection
    if not isinstance(names, Sequence) or not any(map(is_system_name, names)):
        return None
    if len(names) > 1 or options.get("memory", False) is not False:
        raise InputError("a system collection is searched alone", hint="name no other one")
    return str(names[0])


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


def check_files(values: object, uri: str | None) -> list[str]:
    """Return the paths of files to add as a list; `InputError` if several of them are to have one uri."""
    if isinstance(values, str | os.PathLike):
        values = [values]
    if not isinstance(values, Iterable):
        raise InputError(f"{values!r} is no path", hint="give a path, or a list of paths")
    paths = [os.fspath(check_path(path)) for path in values]
    if uri is not None:
        _check_free_uri(check_name(uri, "a uri"))
        if len(paths) > 1:
            raise InputError("a uri names a single file", hint="add the files separately")
    return paths


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


def check_chunking(
    settings: Settings, *, chunker: str | None, **sizes: int | None
) -> dict[str, Scalar]:
    """Return the given chunker and sizes of a collection; raise `InputError` if no document could be cut so.

    A size that makes no sense is refused now, not at the first sync.
    """
    given = {name: value for name, value in sizes.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"{name} is {value!r}", hint="give a whole number")
    _check_units(given)
    own: dict[str, Scalar] = {}
    if chunker is not None:
        own["chunker"] = chunker
    own |= given
    chunking = ChunkingConfig.from_settings(settings, own)
    chunk_sizes.check_chunking(chunking.chunker, chunking.size, chunking.overlap)
    return own


def check_settings(settings: Settings) -> None:
    """Raise `ConfigError` if the settings allow no chunk: now, and not at the first document."""
    rag, chunk = settings.rag, settings.chunk
    size = chunk_sizes.size_in_unit(rag.chunker, rag.chunk_size, chunk.max_tokens)
    overlap = chunk_sizes.overlap_in_unit(rag.chunker, rag.chunk_overlap, chunk.overlap_tokens)
    try:
        chunk_sizes.describe_recipe(rag.chunker, size, overlap)
    except InputError as error:
        raise ConfigError(
            f"The chunker {rag.chunker!r} cannot use these sizes. {error.message}",
            hint="set rag.chunk_size and rag.chunk_overlap, or chunk.max_tokens and chunk.overlap_tokens",
        ) from error


def _check_units(sizes: Mapping[str, int]) -> None:
    """Raise `InputError` if a size is given in two units, or an overlap is not smaller than its size."""
    for in_characters, in_tokens in _SIZE_UNITS:
        if in_characters in sizes and in_tokens in sizes:
            raise InputError(
                f"{in_characters} and {in_tokens} set the same thing in two units",
                hint=f"keep {in_tokens}",
            )
    for size, overlap in _SIZE_PAIRS:
        if size in sizes and overlap in sizes:
            check_sizes(sizes[size], sizes[overlap])


def check_moments(**moments: object) -> None:
    """Raise `InputError` if a time is given and is no number of seconds since 1970."""
    for name, value in moments.items():
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not _FIRST_MOMENT <= float(str(value)) <= _LAST_MOMENT:
            raise InputError(f"{name} is {value!r}", hint=_MOMENT_HINT)


def check_turn_options(options: TurnOptions) -> None:
    """Raise `InputError` if the optional fields of a turn make no sense."""
    names = TurnOptions.__annotations__
    for name in options:
        if name not in names:
            raise InputError(f"a turn has no {name!r}", hint=f"it has {', '.join(names)}")
    check_moments(at=options.get("at"))
    if not isinstance(options.get("speaker", ""), str):
        raise InputError(f"speaker is {options['speaker']!r}", hint="give a name")
    _check_metadata(options.get("metadata") or {}, "the turn")


def check_kinds(kinds: object) -> list[str] | None:
    """Return kinds of nodes or links as a list; None means all."""
    if kinds is None:
        return None
    if isinstance(kinds, Sequence) and not isinstance(kinds, str):
        if all(isinstance(kind, str) for kind in kinds):
            return list(kinds)
    raise InputError(f"kinds is {kinds!r}", hint='give a list, such as ["table", "model"]')


def check_search(query: object, top_k: object, options: Mapping[str, object]) -> int:
    """Return the number of hits to search for, at most a thousand; `InputError` if an option makes no sense."""
    if not isinstance(query, str):
        message = f"a query is a string, not {type(query).__name__}"
        raise InputError(message, hint='search("what you look for")')
    check_number("top_k", top_k, HIT_RANGE)
    check_option_names("a search", options, SearchOptions.__annotations__)
    for name, value in options.items():
        _check_search_option(name, value)
    return min(cast(int, top_k), MAX_TOP_K)


def check_option_names(noun: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Raise `InputError` with the nearest name for an option that there is not."""
    names = list(known)
    for name in options:
        if name not in names:
            hint = suggest(name, names) or f"the options are {', '.join(names)}"
            raise InputError(f"{noun} has no option {name!r}", hint=hint)


def _check_search_option(name: str, value: object) -> None:
    if value is None and name not in _NEVER_NONE:
        return
    if name == "min_score":
        check_number(name, value, SCORE_RANGE)
        return
    is_valid, hint = _OPTION_CHECKS[name]
    if not is_valid(value):
        raise InputError(f"{name} is {value!r}", hint=hint)


def _names_sessions(value: object) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, Sequence) and all(isinstance(name, str) for name in value)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_mode(value: object) -> bool:
    return value in get_args(Mode)


def _is_fusion(value: object) -> bool:
    return value in get_args(Fusion)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _names_collections(value: object) -> bool:
    return isinstance(value, str | Iterable)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


_SWITCH_HINT: Final = "use True or False"
_NEVER_NONE: Final = ("hybrid", "mmr", "compress", "compress_results", "merge", "memory")
_OPTION_CHECKS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "mode": (_is_mode, f"use one of: {', '.join(get_args(Mode))}"),
    "fusion": (_is_fusion, f"use one of: {', '.join(get_args(Fusion))}"),
    "hybrid": (_is_switch, _SWITCH_HINT),
    "mmr": (_is_switch, _SWITCH_HINT),
    "compress": (_is_switch, _SWITCH_HINT),
    "compress_results": (_is_switch, _SWITCH_HINT),
    "merge": (_is_switch, _SWITCH_HINT),
    "fresh": (_is_switch, _SWITCH_HINT),
    "memory": (_names_sessions, "use True, the name of a session, or a list of names"),
    "rerank": (_is_text, "give the name of a reranker"),
    "embedder": (_is_text, 'give the name of an embedder, such as "minilm"'),
    "collection": (_names_collections, "give a name, or a list of names"),
    "filters": (_is_mapping, 'filters={"path": "docs/**"}'),
}
"""The check of every search option, and the hint for a wrong value."""


def _check_metadata(metadata: object, owner: str) -> None:
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InputError(
            f"the metadata of {owner} must map names to values", hint=_METADATA_HINT
        )
    try:
        json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the metadata of {owner} cannot be stored: {error}"
        raise InputError(message, hint=_METADATA_HINT) from error
