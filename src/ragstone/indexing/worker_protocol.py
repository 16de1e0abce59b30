"""The request that a sync sends to its worker process, and the reply."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.read.messages import decode
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """Items to prepare, and the settings of their source. Paths are bytes read as Latin-1: they may not be UTF-8."""

    root: str
    databases: tuple[str, ...]
    limits: tuple[int, int]
    documents: tuple[int, tuple[str, ...]]
    source_name: str
    chunking: ChunkingConfig
    items: tuple[Item, ...]
    known_hashes: dict[str, str]
    keep_facts: bool


@dataclass(frozen=True, slots=True)
class BatchReply:
    """One outcome for each item; None if the parent should prepare the item itself."""

    outcomes: tuple[Outcome | None, ...]


def build_request(preparer: ItemPreparer, items: Sequence[Item]) -> BatchRequest:
    """Return the request to prepare these items."""
    source = preparer.source
    if not isinstance(source, FolderSource):
        raise TypeError("a worker process can only read a folder")
    limits = source.limits
    hashes = {item.uri: preparer.known_hashes.get(item.uri, "") for item in items}
    return BatchRequest(
        root=_encode_path(source.root),
        databases=tuple(map(_encode_path, source.databases)),
        limits=(limits.max_file_bytes, limits.max_files),
        documents=(limits.max_document_bytes, tuple(sorted(limits.document_suffixes))),
        source_name=source.name,
        chunking=preparer.chunking,
        items=tuple(items),
        known_hashes={
            uri: content_hash for uri, content_hash in hashes.items() if content_hash
        },
        keep_facts=preparer.keep_facts,
    )


def build_preparer(request: BatchRequest) -> ItemPreparer:
    """Return the preparer that a request describes."""
    max_document_bytes, suffixes = request.documents
    source = FolderSource(
        _decode_path(request.root),
        limits=FileLimits(*request.limits, max_document_bytes, frozenset(suffixes)),
        databases=list(map(_decode_path, request.databases)),
        name=request.source_name,
    )
    return ItemPreparer(source, request.chunking, request.known_hashes, request.keep_facts)


def decode_outcomes(header: object, items: Sequence[Item]) -> list[Outcome | None]:
    """Return the outcomes in a reply, in the order of the items. Raise `ValueError` if they do not match."""
    outcomes = decode(BatchReply, header).outcomes
    for item, outcome in zip(items, outcomes, strict=True):
        if outcome is None:
            continue
        if outcome.uri != item.uri or (outcome.prepared is None) == (
            outcome.verdict == "ready"
        ):
            raise ValueError("an outcome does not match its item")
    return list(outcomes)


def _encode_path(path: Path) -> str:
    return os.fsencode(path).decode("latin-1")


def _decode_path(text: str) -> Path:
    return Path(os.fsdecode(text.encode("latin-1")))
