"""Proves hits fresh: before a hit is shown, its file is checked, and re-indexed if it changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ragstone.errors import ReadError, StoreDamaged, StoreError, StoreTooNew
from ragstone.indexing.added import added_source
from ragstone.indexing.collection import folder_source
from ragstone.indexing.sync import Changes, DocumentId, Policy, Proof, Scan
from ragstone.sources.added_files import ADDED, PATH, AddedFile
from ragstone.sources.files import from_uri, stamp_of
from ragstone.sources.folder.source import FILES
from ragstone.types import (
    Explanation,
    Freshness,
    Hit,
    Item,
    KnownFile,
    LoadedItem,
    Request,
    Stamp,
)
from ragstone.types.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ragstone.indexing.sync import CollectionSync
    from ragstone.retrieval.search import Searcher

MAX_ROUNDS: Final = 2
"""Searches after the first one: a file that changes all the time must not block the answer."""
_GRAPH_SECONDS: Final = 0.3
"""How long an update of the code graph may take while a user waits for an answer."""
_PROOFS_CACHED: Final = 10_000
"""Files whose content was compared, with the stamps at which it was the stored one."""

Verdict: TypeAlias = Literal["same", "changed", "unknown", "outdated", "gone"]
"""Of a description: `outdated` if the graph was built from an earlier text of the file, `gone` if there is no file."""


class FreshnessCheck:
    """Answers requests from the files as they are now."""

    def __init__(self, sync: CollectionSync, searcher: Searcher) -> None:
        """Take the sync that re-indexes changed files, and the searcher."""
        self._sync = sync
        self._searcher = searcher
        self._added = AddedFileCheck(sync)
        self._proofs = _ContentProofs()
        self._rooted: tuple[int, dict[str, bool]] = (-1, {})

    def answer(self, request: Request, policy: Policy | None = None) -> Explanation:
        """Update the index as the policy says, search, and return hits that are fresh or marked `unverifiable`."""
        started = time.perf_counter()
        embed = request.mode != "words"
        outcome = self._sync.ensure_current(policy or Changes(embed=embed))
        explanation = self._searcher.run(request)
        verdicts = self._verdicts(explanation.hits)
        tried: set[DocumentId] = set()
        for _ in range(MAX_ROUNDS):
            files = _changed_files(explanation.hits, verdicts)
            changed = [file for file in files if file not in tried]
            tried.update(changed)
            if changed:
                outcome += self._sync.ensure_current(Proof(changed, embed=embed))
            elif not self._update_graphs(verdicts):
                break
            explanation = self._searcher.run(request)
            verdicts = self._verdicts(explanation.hits)
        hits = _with_freshness(explanation.hits, verdicts, outcome.documents)
        return replace(
            explanation,
            hits=hits,
            notes=(*explanation.notes, *outcome.notes, *self._added.notes(hits)),
            milliseconds=(time.perf_counter() - started) * 1000,
            sync=outcome.report if isinstance(policy, Scan) else None,
        )

    def check(self, hits: tuple[Hit, ...]) -> tuple[tuple[Hit, ...], list[DocumentId]]:
        """Return hits that no search returned with their freshness, and the files that changed."""
        verdicts = self._verdicts(hits)
        return _with_freshness(hits, verdicts, frozenset()), _changed_files(hits, verdicts)

    def _verdicts(self, hits: Sequence[Hit]) -> dict[DocumentId, Verdict]:
        """Return for each document behind the hits whether its file is still the stored one."""
        described = _described_files(hits)
        read_hashes = {(hit.collection, hit.source_doc_id): hit.content_hash for hit in hits}
        uris: dict[str, set[str]] = {}
        descriptions: dict[str, dict[DocumentId, str]] = {}
        for hit in hits:
            document = (hit.collection, hit.source_doc_id)
            _, uri = described.get(document, document)
            uris.setdefault(hit.collection, set()).add(uri)
            if document in described:
                descriptions.setdefault(hit.collection, {})[document] = uri
        verdicts: dict[DocumentId, Verdict] = {}
        for name, unsorted_uris in uris.items():
            file_uris = sorted(unsorted_uris)
            stored = self._known_files(name, file_uris)
            added = self._added.verdicts(name, hits)
            for uri in file_uris:
                if uri in added:
                    verdicts[name, uri] = added[uri]
                    continue
                read_hash = read_hashes.get((name, uri), "")
                verdicts[name, uri] = self._file_verdict(
                    (name, uri), stored.get(uri), read_hash
                )
            if name in descriptions:
                verdicts |= self._description_verdicts(
                    name, descriptions[name], stored, verdicts
                )
        return verdicts

    def _description_verdicts(
        self,
        name: str,
        files: Mapping[DocumentId, str],
        stored: Mapping[str, KnownFile],
        verdicts: Mapping[DocumentId, Verdict],
    ) -> dict[DocumentId, Verdict]:
        """Return the verdicts of descriptions: that of the file, if the graph was built from its present text."""
        store = self._sync.components.store
        versions = {uri: stored[uri].text_version for uri in files.values() if uri in stored}
        current = self._sync.graph_updater().current_files(name, versions)
        result: dict[DocumentId, Verdict] = {}
        for document, uri in files.items():
            verdict = verdicts[name, uri]
            if verdict == "unknown" and store.document(self._sync.key(name), uri) is None:
                verdict = "gone"
            elif verdict == "same" and uri not in current:
                verdict = "outdated"
            result[document] = verdict
        return result

    def _update_graphs(self, verdicts: Mapping[DocumentId, Verdict]) -> bool:
        """Update graphs that are outdated, if that is quick; return whether one was updated."""
        names = {document[0] for document, verdict in verdicts.items() if verdict == "outdated"}
        if not names:
            return False
        updater = self._sync.graph_updater()
        updated = False
        for name in names:
            if not updater.is_quick(name, _GRAPH_SECONDS):
                continue
            try:
                updater.update(name, wait=_GRAPH_SECONDS)
                updated = True
            except (StoreDamaged, StoreTooNew):
                raise
            except (
                StoreError
            ):  # read-only, or another process updates it: a search does not wait
                continue
        return updated

    def _known_files(self, name: str, uris: list[str]) -> Mapping[str, KnownFile]:
        """Return the stored state of files below the folder; nothing if the files cannot be checked."""
        store = self._sync.components.store
        generation = store.generation(self._sync.scope)
        if self._rooted[0] != generation:
            self._rooted = (generation, {})
        rooted = self._rooted[1]
        if not self._sync.settings.base.is_dir():
            return {}
        if name not in rooted:
            rooted[name] = self._sync.collection(name).is_rooted_here()
        if not rooted[name]:
            return {}
        return store.known_files(self._sync.key(name), FILES, uris=uris)

    def _file_verdict(
        self, document: DocumentId, stored: KnownFile | None, read_hash: str
    ) -> Verdict:
        """Return whether a file is the one that a hit was read from; `read_hash` is empty if it is not known."""
        if stored is None:
            return "unknown"
        if read_hash and read_hash != stored.content_hash:
            return (
                "changed"  # another process has indexed the file again since the hit was read
            )
        path = os.path.join(self._sync.settings.base, from_uri(document[1]))
        try:
            stamp = stamp_of(os.lstat(path))
        except OSError:
            return "changed"
        if self._proofs.has(document, stored, stamp):
            return "same"
        try:
            loaded = folder_source(self._sync.settings).load(Item(document[1], stamp))
        except ReadError:
            return "changed"
        return self._proofs.compare(document, stored, loaded)


class AddedFileCheck:
    """Compares added files with their stored documents; remembers why a file could not be checked."""

    def __init__(self, sync: CollectionSync) -> None:
        """Take the sync of the engine, for its store and its settings."""
        self._sync = sync
        self._proofs = _ContentProofs()
        self._problems: BoundedCache[DocumentId, str] = BoundedCache(_PROOFS_CACHED)

    def verdicts(self, collection: str, hits: Sequence[Hit]) -> dict[str, Verdict]:
        """Return the verdict for each added file behind the hits of a collection, by uri."""
        hits_by_uri = {
            hit.source_doc_id: hit
            for hit in hits
            if hit.collection == collection and PATH in hit.metadata
        }
        if not hits_by_uri or self._sync.collection(collection).has_foreign_files:
            return {}
        key = self._sync.key(collection)
        stored = self._sync.components.store.known_files(key, ADDED, uris=list(hits_by_uri))
        verdicts: dict[str, Verdict] = {}
        for uri, known in stored.items():
            hit = hits_by_uri[uri]
            file = AddedFile.from_metadata(uri, hit.metadata)
            if file is not None:
                verdicts[uri] = self._verdict(collection, file, known, hit.content_hash)
        return verdicts

    def notes(self, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Return a note for each added file behind the hits that could not be checked."""
        notes = []
        for document in dict.fromkeys((hit.collection, hit.source_doc_id) for hit in hits):
            problem = self._problems.get(document)
            if problem:
                notes.append(f"{document[1]} was not checked: {problem}")
        return tuple(notes)

    def _verdict(
        self, collection: str, file: AddedFile, stored: KnownFile, read_hash: str
    ) -> Verdict:
        document = (collection, file.uri)
        self._problems.pop(document)
        if read_hash and read_hash != stored.content_hash:
            return "changed"  # another process has read the file again since the hit was read
        state = file.state()
        if state.problem:
            self._problems[document] = state.problem
            return "unknown"
        if state.stamp is None:
            return "changed"
        if self._proofs.has(document, stored, state.stamp):
            return "same"
        source = added_source(self._sync.settings, [file])
        try:
            loaded = source.load(Item(file.uri, state.stamp))
        except ReadError as error:
            self._problems[document] = error.message
            return "unknown"
        return self._proofs.compare(document, stored, loaded)


class _ContentProofs:
    """Remembers the stamps at which files had their stored content.

    They are not in the store, so that a search need not wait for a writer.
    """

    def __init__(self) -> None:
        self._stamps: BoundedCache[DocumentId, tuple[str, Stamp]] = BoundedCache(_PROOFS_CACHED)

    def has(self, document: DocumentId, stored: KnownFile, stamp: Stamp) -> bool:
        """Return whether a file with this stamp has the stored content, as far as is known without reading it."""
        return stamp == stored.stamp or self._stamps.get(document) == (
            stored.content_hash,
            stamp,
        )

    def compare(self, document: DocumentId, stored: KnownFile, loaded: LoadedItem) -> Verdict:
        """Return whether a file that was read has the stored content; if it has, remember its stamp."""
        content_hash = hashlib.sha256(loaded.data).hexdigest()
        if loaded.state == "gone" or content_hash != stored.content_hash:
            return "changed"
        if loaded.stamp is not None:
            self._stamps[document] = (content_hash, loaded.stamp)
        return "same"


def _described_files(hits: Iterable[Hit]) -> dict[DocumentId, DocumentId]:
    """Return the file of each hit that is a description of a node."""
    files = {}
    for hit in hits:
        if hit.is_summary:
            files[hit.collection, hit.source_doc_id] = (
                hit.collection,
                str(hit.metadata["file"]),
            )
    return files


def _changed_files(
    hits: Sequence[Hit], verdicts: Mapping[DocumentId, Verdict]
) -> list[DocumentId]:
    """Return the files behind the hits that changed, each once."""
    files = _described_files(hits)
    changed = [
        files.get(document, document)
        for document, verdict in verdicts.items()
        if verdict == "changed"
    ]
    return list(dict.fromkeys(changed))


def _with_freshness(
    hits: tuple[Hit, ...],
    verdicts: Mapping[DocumentId, Verdict],
    refreshed: frozenset[DocumentId],
) -> tuple[Hit, ...]:
    """Return the hits with their freshness; descriptions of files that are gone are left out."""
    checked = []
    for hit in hits:
        document = (hit.collection, hit.source_doc_id)
        verdict = verdicts[document]
        if verdict == "gone":
            continue
        if verdict == "same":
            freshness: Freshness = "refreshed" if document in refreshed else "fresh"
            checked.append(replace(hit, freshness=freshness))
        else:
            checked.append(hit)
    return tuple(checked)
