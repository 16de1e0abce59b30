"""Updates the code graph of a collection after its documents changed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ragstone.code.file_languages import can_change_graph, language_of
from ragstone.errors import InputError, RagstoneError
from ragstone.indexing.graph.descriptions import update_descriptions
from ragstone.indexing.graph.frameworks import FRAMEWORKS, FrameworkReader
from ragstone.indexing.graph.passes import (
    FILE_OWNER,
    GraphPasses,
    report_failure,
)
from ragstone.protocols import RuntimeListing
from ragstone.sources.added_files import ADDED
from ragstone.sources.folder.source import FILES
from ragstone.types import Graph, GraphReport, Rendered

if TYPE_CHECKING:
    from ragstone.indexing.reconcile import ParsedFile
    from ragstone.indexing.sync import CollectionSync
    from ragstone.protocols import Progress
    from ragstone.types.code import FileFacts

GRAPH_LOCK: Final = "graph.lock"
RECIPE: Final = "6"
"""Change it if the passes give another graph for the same files: then all files are read again."""
GIVEN_SOURCE: Final = ""
"""The source of documents that were added by hand: code in them counts too."""
PERMANENT_OWNERS: Final = ("run:", "runtime:")
"""Owners whose parts do not come from documents, so that they stay if the graph is switched off."""
LISTING_OWNER: Final = "runtime:routes"
"""The owner of an imported listing; the listing is stored as its data."""
GRAPH_OFF: Final = "no graph is made (code.graph is off)"
_MAX_REMARKS: Final = 500


@dataclass(frozen=True, slots=True)
class GraphState:
    """The documents of a collection now, and the documents that its graph was built from."""

    versions: Mapping[str, str]
    """The text version of every document that came from a file or was given, by uri."""
    owners: Mapping[str, str]
    """The stamp of every owner of a part of the graph."""

    @property
    def changed(self) -> list[str]:
        """Return the files whose present text the graph does not have."""
        changed = []
        for uri, version in self.versions.items():
            stamp = self.owners.get(FILE_OWNER + uri)
            if stamp != _file_stamp(version) and can_change_graph(uri):
                changed.append(uri)
        return changed

    @property
    def gone(self) -> list[str]:
        """Return the files that the graph has and that no longer exist."""
        return [uri for uri in _owned_files(self.owners) if uri not in self.versions]

    @property
    def frameworks(self) -> list[str]:
        """Return the names of the frameworks that gave a part of the graph."""
        return [owner for owner in self.owners if ":" not in owner]

    @property
    def framework_stamp(self) -> str:
        """Return the stamp that framework parts must have; it changes with an imported listing."""
        return f"{RECIPE}:{self.owners.get(LISTING_OWNER, '')}"

    @property
    def is_current(self) -> bool:
        """Return whether the graph was built from the present documents."""
        if any(self.owners[name] != self.framework_stamp for name in self.frameworks):
            return False
        return not self.changed and not self.gone


@dataclass(slots=True)
class GraphUpdater:
    """Updates the graphs of one engine's collections."""

    sync: CollectionSync
    frameworks: FrameworkReader = FRAMEWORKS
    _current_at: dict[str, int] = field(default_factory=dict)
    """The generation at which the graph of a collection was last found current."""

    @property
    def enabled(self) -> bool:
        """Return whether graphs are made at all."""
        return self.sync.settings.code.graph == "auto"

    def is_current(self, name: str) -> bool:
        """Return whether the graph of a collection was built from its present documents."""
        generation = self.sync.components.store.generation(self.sync.key(name).scope)
        if self._current_at.get(name) == generation:
            return True
        if self.enabled and not self._state(name).is_current:
            return False
        self._current_at[name] = generation
        return True

    def update(
        self,
        name: str,
        *,
        parsed: Mapping[str, ParsedFile] | None = None,
        progress: Progress | None = None,
        wait: float | None = None,
    ) -> GraphReport:
        """Read the files that changed, store the differences, and return a report.

        Files in `parsed` are not parsed again, unless their stored text is another one by now.
        `StoreBusy` if another process updates the same graph for longer than `wait` seconds; None waits for it.
        """
        started = time.monotonic()
        if not self.enabled:
            report = self._remove_graph(name)
        elif self.is_current(name):
            report = GraphReport(name)
        else:
            lock = self.sync.components.lock(GRAPH_LOCK, self.sync.default.project, wait=wait)
            with lock:
                # Another process may have finished the update while this one waited.
                report = GraphReport(name)
                if not self.is_current(name):
                    report = self._build(name, parsed or {}, progress)
        return replace(report, seconds=time.monotonic() - started)

    def update_or_report(
        self, name: str, *, parsed: Mapping[str, ParsedFile], progress: Progress | None = None
    ) -> GraphReport:
        """Update the graph; if that fails, log the traceback and return a report with a note."""
        try:
            return self.update(name, parsed=parsed, progress=progress)
        except RagstoneError as error:
            reason = error.message
        except Exception as error:  # noqa: BLE001 - a bug in an adapter must not lose the sync of the documents
            reason = report_failure("graph update", error)
        note = f"the graph of the code is not up to date: {reason}"
        return GraphReport(name, notes=(note,))

    def import_listing(self, name: str, listing: str) -> GraphReport:
        """Import the listing that a framework's own command prints; an empty list removes the earlier one.

        `InputError` if it is no such listing, or if no framework in use has one.
        """
        self.update(name)
        store, key = self.sync.components.store, self.sync.key(name)
        framework = self._listing_framework(store.graph.owner_stamps(key))
        if framework is None:
            message = "no application in this collection has a listing that can be imported"
            raise InputError(message, hint="`ragstone sync` reads it")
        listing_data: dict[str, bytes] = {}
        stamps: dict[str, str] = {}
        data = _encode_listing(framework, listing)
        if data:
            listing_data[LISTING_OWNER] = data
            stamps[LISTING_OWNER] = hashlib.sha256(data).hexdigest()
        store.graph.put(key, {LISTING_OWNER: Graph()}, stamps=stamps, data=listing_data)
        return self.update(name)

    def current_files(self, name: str, versions: Mapping[str, str]) -> set[str]:
        """Return the files whose text version is the one in the graph."""
        graph = self.sync.components.store.graph
        owners = [FILE_OWNER + uri for uri in versions]
        stamps = graph.owner_stamps(self.sync.key(name), owners=owners)
        current = set()
        for uri, version in versions.items():
            if stamps.get(FILE_OWNER + uri) == _file_stamp(version):
                current.add(uri)
        return current

    def is_quick(self, name: str, seconds: float) -> bool:
        """Return whether the last update after a small change took no longer than this."""
        last = self.sync.collection(name).state.graph_seconds
        return self.enabled and last is not None and last <= seconds

    def remarks(self, name: str) -> tuple[str, ...]:
        """Return the references that the last update could not resolve, and why."""
        return self.sync.collection(name).state.graph_remarks

    def _state(self, name: str) -> GraphState:
        store, key = self.sync.components.store, self.sync.key(name)
        versions: dict[str, str] = {}
        for source in (GIVEN_SOURCE, ADDED, FILES):
            for uri, known in store.known_files(key, source).items():
                versions[uri] = known.text_version
        return GraphState(versions, store.graph.owner_stamps(key))

    def _build(
        self, name: str, parsed: Mapping[str, ParsedFile], progress: Progress | None
    ) -> GraphReport:
        """Run the passes over the changed files and store the differences."""
        store, key = self.sync.components.store, self.sync.key(name)
        state = self._state(name)
        if state.frameworks:
            self.frameworks.start()
        changed, gone = state.changed, state.gone
        stored_data = store.graph.owner_data(key)
        passes = GraphPasses(
            sorted(state.versions),
            partial(store.text, key),
            stored_data,
            parsed=_current_facts(parsed, state.versions),
        )
        data = passes.read_symbols(changed, progress)
        symbols_read = time.monotonic()
        frameworks, failed = passes.run_frameworks(self.frameworks, state.frameworks)
        self._apply_listing(passes, frameworks)
        files = {FILE_OWNER + uri: Graph() for uri in changed}
        files.update(passes.resolve(changed, gone))
        parts = {**files, **frameworks, **_emptied_parts(state, frameworks, failed)}
        # Descriptions first: the stamps say that the update is complete, so a killed run starts again.
        written, removed = update_descriptions(
            self.sync.collection(name).writer(),
            _rendered((*files.values(), *frameworks.values())),
            keep_others=bool(failed),
        )
        remarks = _all_remarks(passes.remarks, parts.values())
        stamps = _new_stamps(state, files, frameworks)
        counts = store.graph.put(key, parts, stamps=stamps, data=data)
        store.state.update_collection_state(
            key,
            graph_remarks=_limited(remarks),
            graph_seconds=round(time.monotonic() - symbols_read, 2),
        )
        return GraphReport(
            name,
            files=sum(bool(language_of(uri)) for uri in state.versions),
            read=len(data),
            resolved=len(files),
            frameworks=tuple(frameworks),
            changed=counts,
            rendered=written,
            removed=removed,
            remarks=tuple(remarks),
            notes=tuple(
                f"the {name} pass failed; what it gave before stays" for name in failed
            ),
        )

    def _apply_listing(self, passes: GraphPasses, graphs: dict[str, Graph]) -> None:
        """Add an imported listing to the graph of its framework; changes `graphs`."""
        data = passes.stored_data.get(LISTING_OWNER)
        if data is None:
            return
        framework = self._listing_framework(graphs)
        if framework is not None:
            listing = data.decode("utf-8", "surrogatepass")
            graphs[framework.name] = framework.apply_listing(listing, graphs[framework.name])

    def _listing_framework(self, names: Iterable[str]) -> RuntimeListing | None:
        """Return the framework among these whose own listing can be imported, if there is one."""
        for framework in self.frameworks.load():
            if framework.name in names and isinstance(framework, RuntimeListing):
                return framework
        return None

    def _remove_graph(self, name: str) -> GraphReport:
        """Remove a graph that was built before graphs were switched off."""
        store, key = self.sync.components.store, self.sync.key(name)
        stamps = store.graph.owner_stamps(key)
        owners = [owner for owner in stamps if not owner.startswith(PERMANENT_OWNERS)]
        if not owners:
            return GraphReport(name, remarks=(GRAPH_OFF,))
        counts = store.graph.put(key, dict.fromkeys(owners, Graph()))
        writer = self.sync.collection(name).writer()
        _, removed = update_descriptions(writer, (), keep_others=False)
        return GraphReport(name, changed=counts, removed=removed, remarks=(GRAPH_OFF,))


def _current_facts(
    parsed: Mapping[str, ParsedFile], versions: Mapping[str, str]
) -> dict[str, FileFacts]:
    """Return the facts of the files whose stored text is the parsed one; another process may have stored another."""
    facts = {}
    for uri, file in parsed.items():
        if file.stored.text_version == versions.get(uri):
            facts[uri] = file.facts
    return facts


def _file_stamp(version: str) -> str:
    return f"{RECIPE}:{version}"


def _owned_files(owners: Iterable[str]) -> list[str]:
    """Return the uris of the owners that are files."""
    files = [owner for owner in owners if owner.startswith(FILE_OWNER)]
    return [owner.removeprefix(FILE_OWNER) for owner in files]


def _emptied_parts(
    state: GraphState, frameworks: Mapping[str, Graph], failed: Sequence[str]
) -> dict[str, Graph]:
    """Return empty graphs for files that are gone, and for frameworks that are no longer used."""
    parts = {FILE_OWNER + uri: Graph() for uri in state.gone}
    for name in state.frameworks:
        if name not in frameworks and name not in failed:
            parts[name] = Graph()
    return parts


def _new_stamps(
    state: GraphState, files: Iterable[str], frameworks: Iterable[str]
) -> dict[str, str]:
    """Return the stamps of the updated parts; a part with its stamp is current."""
    stamps = dict.fromkeys(frameworks, state.framework_stamp)
    for uri in _owned_files(files):
        if uri in state.versions:
            stamps[FILE_OWNER + uri] = _file_stamp(state.versions[uri])
    return stamps


def _rendered(graphs: Iterable[Graph]) -> list[Rendered]:
    rendered: list[Rendered] = []
    for graph in graphs:
        rendered += graph.rendered
    return rendered


def _all_remarks(remarks: Sequence[str], graphs: Iterable[Graph]) -> list[str]:
    combined = list(remarks)
    for graph in graphs:
        combined += graph.remarks
    return combined


def _limited(remarks: Sequence[str]) -> tuple[str, ...]:
    unique = list(dict.fromkeys(remarks))
    if len(unique) > _MAX_REMARKS:
        unique = [*unique[:_MAX_REMARKS], f"and {len(unique) - _MAX_REMARKS} more"]
    return tuple(unique)


def _encode_listing(framework: RuntimeListing, listing: object) -> bytes:
    """Return a listing as stored bytes, empty if it lists nothing; `InputError` if it is no listing."""
    hint = f"give the output of `{framework.listing_command}`"
    if not isinstance(listing, str):
        raise InputError("a listing of routes is a text", hint=hint)
    try:
        graph = framework.apply_listing(listing, Graph())
    except (InputError, RecursionError) as error:
        raise InputError("this is no listing of routes", hint=hint) from error
    if graph.nodes:
        return listing.encode("utf-8", "surrogatepass")
    if listing.strip("[] \t\r\n"):
        hint = "an empty list, `[]`, removes the earlier one"
        raise InputError("no route is in this listing", hint=hint)
    return b""
