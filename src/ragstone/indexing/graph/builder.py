"""Bringing the graph of a collection level with its documents, and saying what that took."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.code.grammars import language_of
from ragstone.engine.components import Parts
from ragstone.errors import InputError
from ragstone.indexing.graph import descriptions as prose
from ragstone.indexing.graph.passes import FILE, Frameworks, Passes, known_frameworks, matters
from ragstone.protocols import Progress, RuntimeListing
from ragstone.sources.folder.source import FILES
from ragstone.store.lock import FileLock
from ragstone.types import Graph, GraphReport, KnownFile

GRAPH_LOCK: Final = "graph.lock"
RECIPE: Final = "1"
"""Another one where passes say something else of the same files: then all are read again."""
GIVEN: Final = ""
"""The source of documents that were added by hand: code among them counts too."""
LASTING: Final = ("run:", "runtime:")
"""Owners whose parts were told by somebody and not read from documents: they stay."""
LISTING: Final = "runtime:routes"
"""The owner of what a running application said of its routes; that itself is kept with it."""
OFF: Final = "no graph is made (code.graph is off)"
_MOST_REMARKS: Final = 500


def encode_listing(framework: RuntimeListing, listing: object) -> bytes:
    """Return a framework's listing as stored bytes, empty if it lists nothing; `InputError` if it is no listing."""
    command = framework.listing_command
    if not isinstance(listing, str):
        raise InputError("a listing of routes is a text", hint=f"give the output of `{command}`")
    try:
        graph = framework.apply_listing(listing, Graph())
    except (InputError, RecursionError) as error:
        raise InputError("this is no listing of routes", hint=f"give the output of `{command}`") from error
    if graph.nodes:
        return listing.encode("utf-8", "surrogatepass")
    if listing.strip("[] \t\r\n"):
        raise InputError("no route is in this listing", hint="an empty list, `[]`, removes the earlier one")
    return b""


@dataclass(frozen=True, slots=True)
class State:
    """What the documents are now, and what the graph was made of."""

    hashes: Mapping[str, str]
    """The content of every document that came from a file or was given, by uri."""
    owners: Mapping[str, str]

    @property
    def changed(self) -> list[str]:
        """Return the files that the graph does not know as they are."""
        owners = self.owners
        return [uri for uri, hash_ in self.hashes.items() if matters(uri) and owners.get(FILE + uri) != stamp_of(hash_)]

    @property
    def gone(self) -> list[str]:
        """Return the files that the graph knows and that are there no more."""
        files = (owner.removeprefix(FILE) for owner in self.owners if owner.startswith(FILE))
        return [uri for uri in files if uri not in self.hashes]

    @property
    def made_by(self) -> str:
        """Return the stamp of what frameworks give: another one where their evidence has changed."""
        return f"{RECIPE}:{self.owners.get(LISTING, '')}"

    @property
    def level(self) -> bool:
        """Return whether the graph is that of the documents."""
        stale = any(stamp != self.made_by for owner, stamp in self.owners.items() if ":" not in owner)
        return not stale and not self.changed and not self.gone


def made_of(one: KnownFile) -> str:
    """Return what tells a document's text: its bytes, and how they were read and rid of secrets."""
    return f"{one.content_hash};{one.recipe.partition(';')[2]}"


def stamp_of(content_hash: str) -> str:
    """Return what is remembered of a file whose part of the graph is made."""
    return f"{RECIPE}:{content_hash}"


@dataclass(slots=True)
class Grapher:
    """Keeps the graphs of one engine's collections."""

    parts: Parts
    frameworks: Frameworks = known_frameworks
    _level: dict[str, int] = field(default_factory=dict)
    """The store's generation at which a collection was last found level."""

    @property
    def enabled(self) -> bool:
        """Return whether graphs are made at all."""
        return self.parts.settings.code.graph == "auto"

    def state(self, collection: str) -> State:
        """Return what the documents of a collection are, and what its graph was made of."""
        store, key = self.parts.store, self.parts.key(collection)
        known = {uri: made_of(one) for source in (GIVEN, FILES) for uri, one in store.known_files(key, source).items()}
        return State(known, store.graph.owner_stamps(key))

    def behind(self, collection: str) -> bool:
        """Return whether the graph of a collection is not that of its documents."""
        generation = self.parts.store.generation(self.parts.scope((collection,)))
        if self._level.get(collection) == generation:
            return False
        if self.enabled and not self.state(collection).level:
            return True
        self._level[collection] = generation
        return False

    def bring_level(
        self, collection: str, *, progress: Progress | None = None, wait: float | None = None
    ) -> GraphReport:
        """Read what changed since the graph was made, write what differs, and return what that took.

        `StoreBusy` where another process is at it for longer than `wait`; None waits until it is done.
        """
        begun = time.monotonic()
        if not self.enabled:
            return self._without(collection, begun)
        if not self.behind(collection):
            return GraphReport(collection, seconds=time.monotonic() - begun)
        self.parts.store.collections(self.parts.project)  # opened first: the lock lies in its folder
        with FileLock(None if self.parts.in_memory else self.parts.home / GRAPH_LOCK, wait=wait):
            if not self.behind(collection):  # another process may have done it while this one queued
                return GraphReport(collection, seconds=time.monotonic() - begun)
            report = self._made(collection, self.state(collection), progress)
        return replace(report, seconds=time.monotonic() - begun)

    def import_routes(self, collection: str, text: str) -> GraphReport:
        """Take in what a running application says of its routes, in place of what it said before; an empty list: none.

        `InputError` where it is no such list, or there is no application.
        """
        self.bring_level(collection)
        store, key = self.parts.store, self.parts.key(collection)
        framework = self._listing_framework(store.graph.owner_stamps(key))
        if framework is None:
            raise InputError(
                "no application in this collection has a listing that can be imported", hint="`ragstone sync` reads it"
            )
        told = encode_listing(framework, text)
        stamps = {LISTING: hashlib.sha256(told).hexdigest()} if told else {}
        store.graph.put(key, {LISTING: Graph()}, stamps=stamps, data={LISTING: told} if told else {})
        return self.bring_level(collection)

    def _listing_framework(self, owners: Iterable[str]) -> RuntimeListing | None:
        """Return the framework in use whose own listing can be imported, if there is one."""
        for framework in self.frameworks():
            if framework.name in owners and isinstance(framework, RuntimeListing):
                return framework
        return None

    def knows(self, collection: str, hashes: Mapping[str, str]) -> set[str]:
        """Return those of some files that the graph was made of as they are, given what `made_of` tells of them."""
        wanted = {FILE + uri: (uri, stamp_of(hash_)) for uri, hash_ in hashes.items()}
        owners = self.parts.store.graph.owner_stamps(self.parts.key(collection), owners=list(wanted))
        return {uri for owner, (uri, stamp) in wanted.items() if owners.get(owner) == stamp}

    def quick(self, collection: str, seconds: float) -> bool:
        """Return whether bringing the graph level after a small change took no longer than this the last time."""
        last = self.parts.store.state.collection_state(self.parts.key(collection)).graph_seconds
        return self.enabled and last is not None and last <= seconds

    def remarks(self, collection: str) -> tuple[str, ...]:
        """Return what the passes could not know, and why, when they last ran."""
        return self.parts.store.state.collection_state(self.parts.key(collection)).graph_remarks

    def _made(self, collection: str, state: State, progress: Progress | None) -> GraphReport:
        """Run the passes over what changed and store what differs."""
        store, key = self.parts.store, self.parts.key(collection)
        changed, gone = state.changed, state.gone
        passes = Passes(
            sorted(state.hashes),
            lambda uri: store.text(key, uri),
            store.graph.owner_data(key),
        )
        begun = time.monotonic()
        fresh = passes.symbols(changed, lambda done, total: progress("graph", done, total) if progress else None)
        reading = time.monotonic() - begun
        used = [owner for owner in state.owners if ":" not in owner]
        found, failed = passes.frameworks(self.frameworks, used)
        framework = self._listing_framework(found) if LISTING in passes.kept else None
        if framework is not None:
            listing = passes.kept[LISTING].decode("utf-8", "surrogatepass")
            found[framework.name] = framework.apply_listing(listing, found[framework.name])
        files = {**{FILE + uri: Graph() for uri in changed}, **passes.resolve(changed, gone)}
        left = {owner: Graph() for owner in used if owner not in found and owner not in failed}
        parts = {**files, **{FILE + uri: Graph() for uri in gone}, **left, **found}
        stamps = {FILE + uri: stamp_of(hash_) for uri, hash_ in state.hashes.items() if FILE + uri in parts}
        # Prose first: the stamps say that all is done, and whoever is killed before begins again.
        rendered = [one for graph in (*files.values(), *found.values()) for one in graph.rendered]
        prosed, removed = prose.bring_level(self.parts.writer(collection), rendered, keep=bool(failed))
        remarks = [*passes.remarks, *(remark for graph in parts.values() for remark in graph.remarks)]
        self._note(collection, remarks)
        written = store.graph.put(
            key,
            parts,
            stamps={**stamps, **dict.fromkeys(found, state.made_by)},
            data=fresh,
        )
        store.state.update_collection_state(key, graph_seconds=round(time.monotonic() - begun - reading, 2))
        return GraphReport(
            collection,
            files=sum(1 for uri in state.hashes if language_of(uri)),
            read=len(fresh),
            resolved=len(files),
            frameworks=tuple(found),
            changed=written,
            rendered=prosed,
            removed=removed,
            remarks=tuple(remarks),
            notes=tuple(f"the {name} pass failed; what it gave before stays" for name in failed),
        )

    def _without(self, collection: str, begun: float) -> GraphReport:
        """Take out what was made before graphs were switched off."""
        store, key = self.parts.store, self.parts.key(collection)
        owners = [owner for owner in store.graph.owner_stamps(key) if not owner.startswith(LASTING)]
        written = store.graph.put(key, dict.fromkeys(owners, Graph())) if owners else {}
        removed = 0
        if owners:
            _, removed = prose.bring_level(self.parts.writer(collection), (), keep=False)
        spent = time.monotonic() - begun
        return GraphReport(collection, changed=written, removed=removed, remarks=(OFF,), seconds=spent)

    def _note(self, collection: str, remarks: Sequence[str]) -> None:
        kept = list(dict.fromkeys(remarks))
        if len(kept) > _MOST_REMARKS:
            kept = [*kept[:_MOST_REMARKS], f"and {len(kept) - _MOST_REMARKS} more"]
        self.parts.store.state.update_collection_state(self.parts.key(collection), graph_remarks=tuple(kept))
