"""Fresh by proof: before a hit is shown, its file is looked at in the same call, and read again where it changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ragstone.errors import ReadError
from ragstone.following import Follower, Place
from ragstone.keeping import Keeper
from ragstone.sources.files import FILES
from ragstone.sources.safe_open import stamp_of
from ragstone.sources.uris import from_uri
from ragstone.types import Explanation, Freshness, Hit, Item, Known, Request, Stamp

MORE_ROUNDS: Final = 2
"""Searches after the first one: a file that changes all the time must not keep anybody waiting."""
_MOST_PROOFS: Final = 10_000

Verdict = Literal["same", "changed", "unknown"]


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
            changed = [place for place, verdict in verdicts.items() if verdict == "changed" and place not in tried]
            if not changed:
                break
            tried.update(changed)
            brought += self.follower.bring_in(changed, vectors=vectors)
            told = self.keeper.parts.searcher.run(request)
            verdicts = self._verdicts(told.hits)
        spent = (time.perf_counter() - begun) * 1000
        hits = _told(told.hits, verdicts, brought.places)
        return replace(told, hits=hits, notes=(*told.notes, *brought.notes), milliseconds=spent)

    def proven(self, hits: tuple[Hit, ...]) -> tuple[tuple[Hit, ...], list[Place]]:
        """Return hits that were not searched for with what is known of their files, and the files that changed."""
        verdicts = self._verdicts(hits)
        changed = [place for place, verdict in verdicts.items() if verdict == "changed"]
        return _told(hits, verdicts, frozenset()), changed

    def _verdicts(self, hits: Iterable[Hit]) -> dict[Place, Verdict]:
        """Return for each document that is hit whether its file is still what was stored."""
        by_collection: dict[str, dict[str, None]] = {}
        for hit in hits:
            by_collection.setdefault(hit.collection, {})[hit.source_doc_id] = None
        root = self.keeper.parts.settings.base
        there = bool(by_collection) and root.is_dir()
        found: dict[Place, Verdict] = {}
        for name, uris in by_collection.items():
            known = self._known(name, list(uris)) if there else {}
            for uri in uris:
                before = known.get(uri)
                found[name, uri] = "unknown" if before is None else self._verdict((name, uri), before, str(root))
        return found

    def _known(self, collection: str, uris: list[str]) -> Mapping[str, Known]:
        """Return what is remembered of files below the folder; of anything else nothing can be looked at."""
        parts = self.keeper.parts
        generation = parts.store.generation()
        if self._rooted[0] != generation:
            self._rooted = (generation, {})
        rooted = self._rooted[1]
        if collection not in rooted:
            rooted[collection] = self.keeper.rooted(collection)
        if not rooted[collection]:
            return {}
        return parts.store.known(parts.project, collection, FILES, uris=uris)

    def _verdict(self, place: Place, known: Known, root: str) -> Verdict:
        try:
            stamp = stamp_of(os.lstat(os.path.join(root, from_uri(place[1]))))
        except OSError:
            return "changed"
        if stamp == known.stamp or self._proven.get(place) == (known.content_hash, stamp):
            return "same"
        return self._read(place, known, stamp)

    def _read(self, place: Place, known: Known, stamp: Stamp) -> Verdict:
        """Return whether a file that looks different is, by its content."""
        try:
            data, settled = self.keeper.source(None).load_stamped(Item(place[1], stamp))
        except ReadError:
            return "changed"
        content_hash = hashlib.sha256(data).hexdigest()
        if content_hash != known.content_hash:
            return "changed"
        if settled is not None:
            # Noted here and not in the store: whoever only searches need not wait for a writer.
            if len(self._proven) >= _MOST_PROOFS:
                self._proven.clear()
            self._proven[place] = (content_hash, settled)
        return "same"


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
