"""What the store keeps and hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ragstone.types.documents import Chunk, Document, Mark, Metadata, Scalar, Stamp


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose rows a call may touch: one project, and some of its collections (None: all of them)."""

    project: str = "default"
    collections: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents in a project."""

    uuid: str
    project: str
    name: str
    description: str = ""
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    documents: int = 0
    chunks: int = 0
    updated_at: float | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut and ready for one transaction."""

    document: Document
    chunks: tuple[Chunk, ...]
    source: str = ""
    stamp: Stamp | None = None
    recipe: str = ""
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the store remembers of a source's item, enough to see whether to look again."""

    content_hash: str
    stamp: Stamp | None
    recipe: str


@dataclass(frozen=True, slots=True)
class PutResult:
    """What storing one document changed."""

    uri: str
    added: int
    kept: int
    removed: int
    remarks: tuple[str, ...] = ()
    """What a person should know about the document, such as secrets that were taken out of it."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the store lists it, without its text."""

    uri: str
    collection: str
    kind: str
    language: str
    title: str
    metadata: Metadata
    source: str
    chunks: int
    characters: int
    hash: str
    stamp: Stamp | None
    added_at: float
    marks: tuple[Mark, ...] = ()
    beside: str = ""


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the store keeps it, with the document it belongs to."""

    id: int
    text_id: int
    collection: str
    uri: str
    title: str
    document_kind: str
    language: str
    metadata: Metadata
    chunk: Chunk


class Outline(NamedTuple):
    """What ranking looks at of a chunk: most of a shortlist is never shown, so its texts are not read."""

    id: int
    text_id: int
    collection: str
    uri: str
    document_kind: str
    order: int
    symbol: str
    start: int
    end: int


class Scored(NamedTuple):
    """A row's number and its score in one list; higher is better."""

    id: int
    score: float
