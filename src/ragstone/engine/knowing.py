"""The verbs that know code: what a name stands for, what hangs together with it, what changed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Unpack, overload

from ragstone import types
from ragstone.engine import arguments as checked
from ragstone.engine import later
from ragstone.engine.talking import Talking
from ragstone.errors import InputError, StoreDamaged, StoreError, StoreTooNew
from ragstone.protocols import Progress

ROUTES: Final = ("route", "api_endpoint")
_PATIENCE: Final = 2.0
"""Seconds that vectors of a recorded run may take; without them it is found by words until the next sync."""


class Knowing(Talking):
    """The part of an engine that code is understood by."""

    _grapher: later.Grapher | None = None

    def bring_graph_level(
        self, *, collection: str | None = None, progress: Progress | None = None
    ) -> tuple[types.GraphReport, ...]:
        """Read what changed since the graphs were made and return what that took, collection by collection.

        A sync does so too, and so does every question about the graph.
        """
        if not self.enabled:
            return ()
        names = [one.name for one in self.collections()] if collection is None else [self._existing(collection)]
        return tuple(self._graphs.bring_level(name, progress=progress) for name in names)

    def has_graph(self, *, collection: str | Sequence[str] | None = None) -> bool:
        """Return whether anything is known of code; nothing is read or made for it."""
        if not self.enabled:
            return False
        return bool(self._parts.store.graph.nodes(self._scope(collection), limit=1))

    def node(
        self,
        name: str | types.Node,
        *,
        kinds: Sequence[str] | None = None,
        collection: str | Sequence[str] | None = None,
    ) -> types.Node:
        """Return what a name stands for: a key, a path, or a name of a route, class, method, table, …

        `NotFound` with names that are like it; `InputError` with all of them where it stands for several things.
        """
        return self._meant(name, self._known(collection), kinds=_kinds(kinds))

    @overload
    def explain(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Explanation: ...

    @overload
    def explain(
        self, query: types.Node, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Story: ...

    def explain(
        self, query: str | types.Node, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Explanation | types.Story:
        """Return a search told in full; of a node, all that is known of it, at most top_k links each way."""
        if isinstance(query, str):
            return super().explain(query, top_k, **options)
        from ragstone.retrieval.code import graph_answers as asking

        if not isinstance(query, types.Node):
            return super().explain(query, top_k, **options)

        if top_k is not None:
            checked.whole("top_k", top_k)
        limit = asking.MOST_LINKS if top_k is None else top_k
        return asking.story(self._parts.store, self._known(options.get("collection")), query, limit=limit)

    def related(
        self,
        name: str | types.Node,
        *,
        kinds: Sequence[str] | None = None,
        hops: int = 1,
        limit: int = 50,
        collection: str | Sequence[str] | None = None,
    ) -> list[types.Related]:
        """Return what something hangs together with, the nearest first, each with the links that lead there.

        `kinds` narrows it to kinds of nodes (`table`), or goes along some kinds of links only (`MAPS_TO`).
        """
        checked.whole("limit", limit)
        checked.whole("hops", hops)
        if not self.enabled:
            return []
        from ragstone.retrieval.code import graph_answers as asking

        if not 1 <= hops <= asking.MOST_HOPS:
            raise InputError(f"hops is from 1 to {asking.MOST_HOPS}", hint="related(name, hops=2)")
        scope = self._known(collection)
        reach = asking.Reach(_kinds(kinds) or (), hops, limit)
        return asking.related(self._parts.store, scope, self._meant(name, scope), reach)

    def history(
        self,
        name: str | types.Node,
        *,
        limit: int = 50,
        commits: bool = True,
        collection: str | Sequence[str] | None = None,
    ) -> list[types.Change]:
        """Return what changed a file, a symbol or a table: recorded runs, migrations, commits; the newest first."""
        checked.whole("limit", limit)
        if not self.enabled:
            return []
        from ragstone.retrieval.code.history import history

        scope = self._known(collection)
        root = self.settings.base if commits else None
        return history(self._parts.store, scope, self._path_or(name, scope), root=root, limit=limit)

    def impact(self, name: str | types.Node, *, collection: str | Sequence[str] | None = None) -> types.Impact:
        """Return what depends on a file or a symbol, by kind: routes first, then what is nearest."""
        from ragstone.retrieval.code import graph_answers as asking

        if not self.enabled:
            return types.Impact((), ())

        scope = self._known(collection)
        return asking.affected(self._parts.store, scope, self._path_or(name, scope))

    def nodes(
        self,
        *,
        kinds: Sequence[str] | None = None,
        limit: int = 100_000,
        collection: str | Sequence[str] | None = None,
    ) -> list[types.Node]:
        """Return what the graph knows, or only some kinds of it, by file and line."""
        checked.whole("limit", limit)
        return self._listed(_kinds(kinds), collection)[:limit]

    def routes(self, *, collection: str | Sequence[str] | None = None) -> list[types.Node]:
        """Return the routes of the project, by file and line."""
        return self._listed(ROUTES, collection)

    def tables(self, *, collection: str | Sequence[str] | None = None) -> list[types.Node]:
        """Return the tables that the project's migrations leave, by name."""
        found = self._listed(("table",), collection)
        return sorted((one for one in found if not one.attributes.get("dropped")), key=lambda one: one.name)

    def models(self, *, collection: str | Sequence[str] | None = None) -> list[types.Node]:
        """Return the models of the project, by name."""
        return sorted(self._listed(("model",), collection), key=lambda one: (one.name, one.key))

    def import_routes(self, listing: str, *, collection: str | None = None) -> types.GraphReport:
        """Take in what `php artisan route:list --json` prints as `runtime` evidence, and return what that changed.

        It stays until another listing comes; an empty list takes it out.
        """
        self._switched_on()
        name = self._existing(collection)
        self._known(name)
        return self._graphs.import_routes(name, listing)

    def unknowns(self, *, collection: str | None = None) -> tuple[str, ...]:
        """Return what could not be known of the code, and why, by place."""
        if not self.enabled:
            return ()
        names = [one.name for one in self.collections()] if collection is None else [self._existing(collection)]
        return tuple(remark for name in names for remark in self._graphs.remarks(name))

    def record_run(
        self,
        run_id: str,
        summary: str,
        changes: Iterable[Mapping[str, Any]] = (),
        *,
        at: float | None = None,
        collection: str | None = None,
    ) -> types.AddReport:
        """Store what an agent did, and return what changed; the same id again replaces what was recorded under it.

        Each change says `path`, `action` (created, modified, deleted, renamed), `summary`, and perhaps `symbols`.
        """
        from ragstone.indexing.graph import runs

        run = runs.checked(run_id, summary, changes, at)
        if not self.enabled:
            return types.AddReport(0, 0, 0)
        name = self._collection(collection)
        writer = self._parts.writer(name)
        self._graphs.bring_level(name)
        results = runs.record(writer, run)
        embedded = self._keeper.embed_few(name, seconds=_PATIENCE)
        return types.AddReport(
            embedded=embedded,
            documents=len(results),
            chunks_added=sum(one.added for one in results),
            chunks_skipped=sum(one.kept for one in results),
            pending=self._keeper.pending(name),
            per_document=tuple(results),
            remarks=writer.remarks(results),
        )

    # ── what they stand on ────────────────────────────────────────────────────────────────────────

    @property
    def _graphs(self) -> later.Grapher:
        if self._grapher is None:
            self._grapher = later.Grapher(self._parts)
        return self._grapher

    def _known(self, collection: str | Sequence[str] | None) -> types.Scope:
        """Return where to look, its files taken in as they are and its graphs level with them."""
        self._switched_on()
        scope = self._scope(collection)
        self._follower.catch_up(vectors=False)
        stored = [one.name for one in self.collections()]
        try:
            for name in stored if scope.collections is None else scope.collections:
                if name in stored:
                    self._graphs.bring_level(name)
        except (StoreDamaged, StoreTooNew):
            raise
        except StoreError:  # one that can only be read, or is busy: what is stored answers
            pass
        return scope

    def _meant(self, name: str | types.Node, scope: types.Scope, *, kinds: Sequence[str] | None = None) -> types.Node:
        from ragstone.retrieval.code import names

        if isinstance(name, types.Node):
            return name
        asked = self._from_base(checked.name(name, "what is asked about"))
        return names.one(self._parts.store, scope, asked, kinds=kinds)

    def _from_base(self, name: str) -> str:
        """Return a path as documents are called, `./` and the folder's own path taken off; another name as it is."""
        if name.startswith("/"):
            own = f"{self.settings.base.as_posix().rstrip('/')}/"
            return name.removeprefix(own) or name
        return name.removeprefix("./") or name

    def _path_or(self, name: str | types.Node, scope: types.Scope) -> types.Node:
        """Return what a name stands for; a path of a file that gave no node, or is gone, stands for itself."""
        if isinstance(name, str) and self._is_path(name := self._from_base(name), scope):
            return types.Node(f"file:{name}", "file", name.rpartition("/")[2], name)
        return self._meant(name, scope)

    def _is_path(self, name: str, scope: types.Scope) -> bool:
        store = self._parts.store
        if store.graph.nodes(scope, keys=[f"file:{name}"]):
            return False
        stored = scope.collections or [one.name for one in self.collections()]
        there = any(store.document(self._parts.key(one), name) for one in stored)
        return there or bool(store.graph.links(scope, [f"file:{name}"], kinds=("CHANGED",), back=True, limit=1))

    def _listed(self, kinds: Sequence[str] | None, collection: str | Sequence[str] | None) -> list[types.Node]:
        if not self.enabled:
            return []
        found = self._parts.store.graph.nodes(self._known(collection), kinds=kinds, limit=100_000)
        return sorted(found, key=lambda one: (one.collection, one.uri, one.line, one.key))


def _kinds(given: object) -> Sequence[str] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise InputError(f"kinds is {given!r}", hint='give a list, such as ["table", "model"]')
    return given
