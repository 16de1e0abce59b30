"""Fresh by proof: before a hit is shown, its file is looked at in the same call, and read again where it changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ragstone.errors import ReadError, StoreDamaged, StoreError, StoreTooNew
from ragstone.indexing.changes import Follower, Place
from ragstone.indexing.sync import Keeper
from ragstone.sources.folder.source import FILES
from ragstone.sources.safe_open import stamp_of
from ragstone.sources.uris import from_uri
from ragstone.types import Explanation, Freshness, Hit, Item, KnownFile, Request, Stamp

MORE_ROUNDS: Final = 2
"""Searches after the first one: a file that changes all the time must not keep anybody waiting."""
QUICK_SECONDS: Final = 0.3
"""What bringing the graph of the code level may take while somebody waits for an answer."""
_MOST_PROOFS: Final = 10_000

GRAPH: Final = "graph:"
"""How the uris of prose about code begin: what is proven of it is the file that it names."""

Verdict = Literal["same", "changed", "unknown", "behind", "gone"]
"""Of prose about code: `behind` where its file is known but the graph is of an earlier one, `gone` where there is none.
"""


@dataclass(slots=True)
class Fresh:
    """Answers from files as they are now."""

    keeper: Keeper
    follower: Follower
    _proven: dict[Place, tuple[str, Stamp]] = field(default_factory=dict)
    """Files that were read and found unchanged: their content hash, and the stamp it had then."""
    _rooted: tuple[int, dict[str, bool]] = (-1, {})
    """Which collections hold files of this folder, asked for again only after a change."""

    def answer(self, request: Request) -> Explanation:
        """Return the answer with every hit proven against its file, or said to be unverifiable."""
        begun = time.perf_counter()
        vectors = request.mode != "words"
        brought = self.follower.catch_up(vectors=vectors)
        told = self.keeper.parts.searcher.run(request)
        verdicts = self._verdicts(told.hits)
        tried: set[Place] = set()
        for _ in range(MORE_ROUNDS):
            files = _files(told.hits)
            changed = [files.get(place, place) for place, verdict in verdicts.items() if verdict == "changed"]
            changed = [place for place in dict.fromkeys(changed) if place not in tried]
            tried.update(changed)
            if changed:
                brought += self.follower.bring_in(changed, vectors=vectors)
            elif not self._level({place[0] for place, verdict in verdicts.items() if verdict == "behind"}):
                break
            told = self.keeper.parts.searcher.run(request)
            verdicts = self._verdicts(told.hits)
        spent = (time.perf_counter() - begun) * 1000
        hits = _told(_there(told.hits, verdicts), verdicts, brought.places)
        return replace(told, hits=hits, notes=(*told.notes, *brought.notes), milliseconds=spent)

    def proven(self, hits: tuple[Hit, ...]) -> tuple[tuple[Hit, ...], list[Place]]:
        """Return hits that were not searched for with what is known of their files, and the files that changed."""
        verdicts, files = self._verdicts(hits), _files(hits)
        changed = [files.get(place, place) for place, verdict in verdicts.items() if verdict == "changed"]
        return _told(_there(hits, verdicts), verdicts, frozenset()), list(dict.fromkeys(changed))

    def _verdicts(self, hits: Sequence[Hit]) -> dict[Place, Verdict]:
        """Return for each document that is hit whether its file is still what was stored."""
        files = _files(hits)
        by_collection: dict[str, dict[str, None]] = {}
        for hit in hits:
            place = (hit.collection, hit.source_doc_id)
            by_collection.setdefault(hit.collection, {})[files.get(place, place)[1]] = None
        root = self.keeper.parts.settings.base
        found: dict[Place, Verdict] = {}
        for name, uris in by_collection.items():
            known = self._known(name, list(uris))
            for uri in uris:
                before = known.get(uri)
                found[name, uri] = "unknown" if before is None else self._verdict((name, uri), before, str(root))
            if files:
                about = {place: file[1] for place, file in files.items() if place[0] == name}
                found |= self._of_prose(name, about, known, found)
        return found

    def _of_prose(
        self,
        collection: str,
        about: Mapping[Place, str],
        known: Mapping[str, KnownFile],
        proven: Mapping[Place, Verdict],
    ) -> dict[Place, Verdict]:
        """Return what holds for prose about files: as much as for the file, if the graph was made of it."""
        from ragstone.indexing.graph.builder import Grapher, made_of  # only where prose about code was found

        parts = self.keeper.parts
        hashes = {uri: made_of(known[uri]) for uri in about.values() if uri in known}
        level = Grapher(parts).knows(collection, hashes)
        found: dict[Place, Verdict] = {}
        for place, uri in about.items():
            verdict = proven[collection, uri]
            if verdict == "unknown" and parts.store.document(parts.key(collection), uri) is None:
                verdict = "gone"
            found[place] = "behind" if verdict == "same" and uri not in level else verdict
        return found

    def _level(self, collections: Iterable[str]) -> bool:
        """Return whether a graph that was behind could be brought level, where that is quick."""
        done = False
        for name in collections:
            from ragstone.indexing.graph import Grapher  # as above

            grapher = Grapher(self.keeper.parts)
            if not grapher.quick(name, QUICK_SECONDS):
                continue
            try:
                grapher.bring_level(name, wait=QUICK_SECONDS)
                done = True
            except (StoreDamaged, StoreTooNew):
                raise
            except StoreError:  # one that can only be read, or another process is at it: a search does not wait
                continue
        return done

    def _known(self, collection: str, uris: list[str]) -> Mapping[str, KnownFile]:
        """Return what is remembered of files below the folder; of anything else nothing can be looked at."""
        parts = self.keeper.parts
        generation = parts.store.generation(parts.scope())
        if self._rooted[0] != generation:
            self._rooted = (generation, {})
        rooted = self._rooted[1]
        if not rooted.get(collection, True) or not parts.settings.base.is_dir():
            return {}
        if collection not in rooted:  # only asked while the folder is there: a link that leads nowhere is no answer
            rooted[collection] = self.keeper.rooted(collection)
        return parts.store.known_files(parts.key(collection), FILES, uris=uris) if rooted[collection] else {}

    def _verdict(self, place: Place, known: KnownFile, root: str) -> Verdict:
        try:
            stamp = stamp_of(os.lstat(os.path.join(root, from_uri(place[1]))))
        except OSError:
            return "changed"
        if stamp == known.stamp or self._proven.get(place) == (known.content_hash, stamp):
            return "same"
        return self._read(place, known, stamp)

    def _read(self, place: Place, known: KnownFile, stamp: Stamp) -> Verdict:
        """Return whether a file that looks different is, by its content."""
        try:
            content = self.keeper.source(None).load(Item(place[1], stamp))
        except ReadError:
            return "changed"
        content_hash = hashlib.sha256(content.data).hexdigest()
        if content_hash != known.content_hash:
            return "changed"
        if content.is_settled:
            # Noted here and not in the store: whoever only searches need not wait for a writer.
            if len(self._proven) >= _MOST_PROOFS:
                self._proven.clear()
            self._proven[place] = (content_hash, content.stamp)
        return "same"


def _files(hits: Iterable[Hit]) -> dict[Place, Place]:
    """Return the files that prose about code is about, for each hit that is such prose."""
    return {
        (hit.collection, hit.source_doc_id): (hit.collection, str(hit.metadata["file"]))
        for hit in hits
        if hit.source_doc_id.startswith(GRAPH) and hit.metadata.get("file")
    }


def _there(hits: tuple[Hit, ...], verdicts: Mapping[Place, Verdict]) -> tuple[Hit, ...]:
    """Return the hits without prose about files that are gone."""
    if "gone" not in verdicts.values():
        return hits
    return tuple(hit for hit in hits if verdicts[hit.collection, hit.source_doc_id] != "gone")


def _told(hits: tuple[Hit, ...], verdicts: Mapping[Place, Verdict], again: frozenset[Place]) -> tuple[Hit, ...]:
    """Return the hits, each with what is known of its file; those as they are of which nothing is."""
    fresh: dict[Place, Freshness] = {
        place: "refreshed" if place in again else "fresh" for place, verdict in verdicts.items() if verdict == "same"
    }
    if not fresh:
        return hits
    places = [(hit.collection, hit.source_doc_id) for hit in hits]
    return tuple(
        replace(hit, freshness=fresh[place]) if place in fresh else hit for hit, place in zip(hits, places, strict=True)
    )
