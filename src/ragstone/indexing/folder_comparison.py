"""Compares a folder with its collection, without indexing anything: which files wait, and the state of each file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.errors import ReadError
from ragstone.indexing.collection import folder_source
from ragstone.sources.folder.source import fingerprint
from ragstone.types import FolderLedger, Item, KnownFile, Skip, UnreadFile

if TYPE_CHECKING:
    from ragstone.indexing.collection import IndexedCollection
    from ragstone.sources.folder.source import FolderSource

_MAX_NEW_FILES_READ: Final = 500
"""`count_waiting` reads at most this many new files to see if they are text."""


def has_changes(collection: IndexedCollection) -> bool:
    """Return whether the folder differs, by names, sizes and times, from the last sync of the collection."""
    return collection.state.fingerprint != fingerprint(
        folder_source(collection.settings).scan()
    )


def count_waiting(collection: IndexedCollection) -> int:
    """Return how many files were changed, created or removed since they were last indexed."""
    source = folder_source(collection.settings)
    stored = collection.components.store.known_files(collection.key, source.name)
    unread = collection.unread_files(collection.writer().chunking.recipe)
    items = {item.uri: item for item in source.scan() if isinstance(item, Item)}
    absent = [uri for uri in stored if uri not in items]
    count = sum(source.covers(uri) for uri in absent)
    new_items = []
    for uri, item in items.items():
        if _is_known_unread(item, unread):
            continue
        if uri not in stored:
            new_items.append(item)
        elif _has_changed(source, item, stored[uri]):
            count += 1
    return count + _count_texts(source, new_items)


def compare_folder(collection: IndexedCollection) -> FolderLedger:
    """Return every file of the folder with its state in the index; a file is read only if its stamp differs."""
    source = folder_source(collection.settings)
    stored = collection.components.store.known_files(collection.key, source.name)
    unread = collection.unread_files(collection.writer().chunking.recipe)
    skipped: list[Skip] = []
    failed: list[Skip] = []
    present: set[str] = set()
    states: dict[str, list[str]] = {"current": [], "changed": [], "new": []}
    for entry in source.scan():
        present.add(entry.uri)
        if isinstance(entry, Skip):
            skipped.append(entry)
        elif _is_known_unread(entry, unread):
            file = unread[entry.uri]
            (failed if file.failed else skipped).append(Skip(entry.uri, file.reason))
        else:
            states[_state_of(source, entry, stored.get(entry.uri))].append(entry.uri)
    absent = [uri for uri in stored if uri not in present]
    return FolderLedger(
        files=len(present),
        current=len(states["current"]),
        changed=tuple(states["changed"]),
        new=tuple(states["new"]),
        gone=tuple(uri for uri in absent if source.covers(uri)),
        skipped=tuple(skipped),
        failed=tuple(failed),
    )


def _is_known_unread(item: Item, unread: Mapping[str, UnreadFile]) -> bool:
    """Return whether a file gave no text before and did not change since."""
    file = unread.get(item.uri)
    return file is not None and file.stamp == item.stamp


def _state_of(source: FolderSource, item: Item, stored: KnownFile | None) -> str:
    """Return whether a file is current, changed or new in the index."""
    if stored is None:
        return "new"
    return "changed" if _has_changed(source, item, stored) else "current"


def _has_changed(source: FolderSource, item: Item, stored: KnownFile) -> bool:
    """Return whether a file differs from its stored document: by its stamp, or else by its content."""
    if item.stamp == stored.stamp:
        return False
    try:
        data = source.load(item).data
    except ReadError:
        return True
    return hashlib.sha256(data).hexdigest() != stored.content_hash


def _count_texts(source: FolderSource, new_items: Sequence[Item]) -> int:
    """Return how many new files may have text; all of them if there are too many to read."""
    if len(new_items) > _MAX_NEW_FILES_READ:
        return len(new_items)
    return sum(_may_have_text(source, item) for item in new_items)


def _may_have_text(source: FolderSource, item: Item) -> bool:
    from ragstone.read.choose_reader import explain_no_text  # readers load here only

    try:
        return explain_no_text(source.load(item).data, item.uri) is None
    except ReadError:
        return True
