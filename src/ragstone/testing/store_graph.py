# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of the code graph of a store; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore
from ragstone.testing.store import HERE, KEY, NOTES, OTHER, OTHER_KEY, PROJECT, StoreCase
from ragstone.types import Alias, CollectionKey, Graph, Link, Node, Scope, Step, Unresolved

SONG, ROUTE, SAVE, TABLE = (
    "class:App\\Song",
    "route:PUT api/songs/{song}",
    "method:App\\Songs::save",
    "table:songs",
)
FILE = Graph(
    nodes=(
        Node(
            SONG,
            "class",
            "Song",
            "app/Song.php",
            5,
            40,
            "class Song extends Model",
            "A song.",
            "php",
        ),
        Node(
            SAVE,
            "method",
            "save",
            "app/Songs.php",
            9,
            12,
            language="php",
            attributes={"static": False},
        ),
    ),
    links=(
        Link("EXTENDS", SONG, "class:Vendor\\Model", "app/Song.php", 5),
        Link("CALLS", SAVE, SONG, "app/Songs.php", 10),
    ),
    aliases=(
        Alias("App\\Song", SONG, "class", "app/Song.php"),
        Alias("Song", SONG, "short_class", "app/Song.php"),
    ),
    unresolved=(
        Unresolved("call", SAVE, "touch", "$thing", "app/Songs.php", 11, "no written type"),
        Unresolved("call", SAVE, "close", "$thing", "app/Songs.php", 12),
    ),
)
FRAME = Graph(
    nodes=(
        Node(
            SONG,
            "model",
            "Song",
            "app/Song.php",
            5,
            framework="laravel",
            attributes={"table": "songs"},
        ),
        Node(ROUTE, "route", "PUT api/songs/{song}", "routes/api.php", 3, framework="laravel"),
        Node(TABLE, "table", "songs", "migrations/1.php", 8, framework="laravel"),
    ),
    links=(
        Link("GUARDED_BY", ROUTE, "middleware:throttle", "routes/api.php", 3, order=1),
        Link(
            "GUARDED_BY",
            ROUTE,
            "middleware:auth",
            "routes/api.php",
            2,
            "evaluated",
            attributes={"parameters": []},
        ),
        Link("HANDLED_BY", ROUTE, SAVE, "routes/api.php", 3, "evaluated", conditional=True),
        Link("USES_MODEL", SAVE, SONG, "app/Songs.php", 10),
        Link(
            "MAPS_TO",
            SONG,
            TABLE,
            "app/Song.php",
            5,
            "convention",
            attributes={"how": "convention"},
        ),
    ),
    aliases=(Alias("Songs.Update", ROUTE, "route_name", "routes/api.php"),),
)


class StoreGraphCase(StoreCase):
    """A store with the graphs of a file and of a framework."""

    def filled(self, store: DocumentStore) -> DocumentStore:
        """Return the store with both graphs in it."""
        store.graph.put(
            KEY, {"file:app/Song.php": FILE, "laravel": FRAME}, stamps={"laravel": "s1"}
        )
        return store


class StoreGraphContract(StoreGraphCase):
    """Tests of `protocols.GraphStore`."""

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def test_graphs_are_read_as_they_were_stored_with_their_stamps(
        self, store: DocumentStore
    ) -> None:
        written = store.graph.put(KEY, {"a": FILE, "b": FRAME}, stamps={"a": "1"})
        kinds = dict.fromkeys(
            ("kind:class", "kind:method", "kind:model", "kind:route", "kind:table"), 1
        )
        assert written == {"nodes": 5, "links": 7, "aliases": 3, "unresolved": 2, **kinds}
        assert store.graph.owner_stamps(KEY) == {"a": "1", "b": ""}
        assert store.graph.owner_stamps(KEY, owners=["a", "no"]) == {"a": "1"}
        assert store.graph.nodes(HERE, keys=[SAVE, ROUTE]) == [FILE.nodes[1], FRAME.nodes[1]]
        assert store.graph.nodes(HERE, keys=[SAVE])[0].collection == NOTES
        assert store.graph.links(HERE, [SAVE], kinds=["CALLS"]) == [FILE.links[1]]
        assert store.graph.unresolved(HERE) == list(FILE.unresolved)

    def test_only_rows_that_differ_are_written(self, store: DocumentStore) -> None:
        self.filled(store)
        before = store.generation(HERE)
        again = {"file:app/Song.php": FILE, "laravel": FRAME}
        same = store.graph.put(KEY, again, stamps={"laravel": "s1"})
        assert (set(same.values()), store.generation(HERE)) == ({0}, before)
        assert len(store.graph.nodes(HERE)) == 4
        moved = replace(FRAME.nodes[1], line=4)
        changed = replace(FRAME, nodes=(FRAME.nodes[0], moved, FRAME.nodes[2]))
        assert store.graph.put(KEY, {"laravel": changed}, stamps={"laravel": "s2"}) == {
            "nodes": 1, "links": 0, "aliases": 0, "unresolved": 0, "kind:route": 1,
        }  # fmt: skip
        assert store.graph.nodes(HERE, keys=[ROUTE]) == [moved]
        assert store.graph.owner_stamps(KEY)["laravel"] == "s2"

    def test_an_empty_graph_removes_its_owner(self, store: DocumentStore) -> None:
        self.filled(store)
        assert store.graph.put(KEY, {"laravel": Graph()})["links"] == 5
        assert store.graph.owner_stamps(KEY) == {"file:app/Song.php": ""}
        assert store.graph.nodes(HERE, keys=[SONG, ROUTE]) == [FILE.nodes[0]]
        assert store.graph.find_aliases(HERE, ["songs.update"]) == []
        assert set(store.graph.put(KEY, {"nobody": Graph()}).values()) == {0}

    def test_an_owner_with_a_stamp_may_have_an_empty_graph(self, store: DocumentStore) -> None:
        store.graph.put(KEY, {"file:README.md": Graph()}, stamps={"file:README.md": "h"})
        assert store.graph.owner_stamps(KEY) == {"file:README.md": "h"}

    def test_the_data_of_an_owner_is_kept_until_the_owner_is_removed(
        self, store: DocumentStore
    ) -> None:
        store.graph.put(KEY, {"a": FILE, "b": FRAME}, data={"a": b"\0one", "b": b"two"})
        store.graph.put(KEY, {"a": FILE}, data={"a": b"three"})
        assert store.graph.owner_data(KEY) == {"a": b"three", "b": b"two"}
        store.graph.put(KEY, {"b": Graph()})
        assert store.graph.owner_data(KEY) == {"a": b"three"}
        before = store.generation(HERE)
        store.graph.put(KEY, {"a": FILE}, data={"a": b"three"})
        assert store.generation(HERE) == before
        assert (
            store.graph.owner_data(OTHER_KEY)
            == store.graph.owner_data(CollectionKey(PROJECT, "no"))
            == {}
        )

    def test_either_all_owners_are_stored_or_none(self, store: DocumentStore) -> None:
        bad = Graph(nodes=(Node("k", "class", "K", attributes={"x": float("nan")}),))
        with pytest.raises(InputError):
            store.graph.put(KEY, {"a": FILE, "b": bad})
        with pytest.raises(InputError):
            store.graph.put(KEY, {"a": FILE, "b": Graph(nodes=(Node("", "class", "K"),))})
        sure = Graph(links=(Link("CALLS", "a", "b", "f", 1, "surely"),))  # type: ignore[arg-type]
        with pytest.raises(InputError):
            store.graph.put(KEY, {"a": FILE, "b": sure})
        assert store.graph.owner_stamps(KEY) == {}
        assert store.graph.nodes(HERE) == []
        with pytest.raises(NotFound):
            store.graph.put(CollectionKey(PROJECT, "nowhere"), {"a": FILE})

    # ── reading ────────────────────────────────────────────────────────────────────────────────────

    def test_the_node_of_a_framework_wins_and_is_completed_by_others(
        self, store: DocumentStore
    ) -> None:
        (song,) = self.filled(store).graph.nodes(HERE, keys=[SONG])
        assert (song.kind, song.framework, song.attributes) == (
            "model",
            "laravel",
            {"table": "songs"},
        )
        assert (song.signature, song.doc, song.language) == (
            "class Song extends Model",
            "A song.",
            "php",
        )
        assert (song.place, song.line_end) == ("app/Song.php:5", 40)

    def test_nodes_are_found_by_key_kind_and_file(self, store: DocumentStore) -> None:
        self.filled(store)
        keys = [node.key for node in store.graph.nodes(HERE)]
        assert keys == sorted([SONG, ROUTE, SAVE, TABLE])
        assert [node.key for node in store.graph.nodes(HERE, kinds=["route", "model"])] == [
            SONG,
            ROUTE,
        ]
        assert store.graph.nodes(HERE, kinds=["class"]) == []
        assert [
            node.key for node in store.graph.nodes(HERE, uris=["app/Song.php", "routes/api.php"])
        ] == [SONG, ROUTE]
        assert [
            node.key for node in store.graph.nodes(HERE, uris=["app/Song.php"], kinds=["model"])
        ] == [SONG]
        assert [
            node.key for node in store.graph.nodes(HERE, keys=[TABLE, SONG, "no"], kinds=["table"])
        ] == [TABLE]
        assert len(store.graph.nodes(HERE, limit=2)) == 2
        assert (
            store.graph.nodes(HERE, limit=0)
            == store.graph.nodes(HERE, keys=[])
            == store.graph.nodes(HERE, kinds=[])
            == []
        )

    def test_aliases_are_found_ignoring_case(self, store: DocumentStore) -> None:
        self.filled(store)
        aliases = store.graph.find_aliases(HERE, ["SONGS.UPDATE", "app\\song", "nothing"])
        assert [(alias.name, alias.key, alias.kind) for alias in aliases] == [
            ("Songs.Update", ROUTE, "route_name"), ("App\\Song", SONG, "class"),
        ]  # fmt: skip

    def test_links_are_found_from_both_ends_in_their_order(self, store: DocumentStore) -> None:
        self.filled(store)
        guards = store.graph.links(HERE, [ROUTE], kinds=["GUARDED_BY"])
        assert guards == [FRAME.links[1], FRAME.links[0]]
        assert store.graph.links(HERE, [SONG], kinds=["CALLS", "USES_MODEL"], back=True) == [
            FILE.links[1],
            FRAME.links[3],
        ]
        assert len(store.graph.links(HERE, [ROUTE, SAVE])) == 5
        assert len(store.graph.links(HERE, [ROUTE, SAVE], limit=4)) == 4
        assert store.graph.links(HERE, ["no"]) == store.graph.links(HERE, [ROUTE], limit=0) == []

    def test_unresolved_references_are_found_by_name_and_by_source(
        self, store: DocumentStore
    ) -> None:
        self.filled(store)
        assert store.graph.unresolved(HERE, name="touch") == [FILE.unresolved[0]]
        assert store.graph.unresolved(HERE, sources=[SAVE, "no"]) == list(FILE.unresolved)
        assert store.graph.unresolved(HERE, sources=[SAVE], name="close") == [FILE.unresolved[1]]
        assert (
            store.graph.unresolved(HERE, sources=[])
            == store.graph.unresolved(HERE, name="no")
            == []
        )
        assert store.graph.unresolved(HERE, limit=1) == [FILE.unresolved[0]]

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────

    def test_a_walk_follows_all_steps(self, store: DocumentStore) -> None:
        self.filled(store)
        steps = [
            Step(("HANDLED_BY",)),
            Step(("USES_MODEL", "BINDS"), to=("model",)),
            Step(("MAPS_TO",)),
        ]
        (path,) = store.graph.walk(HERE, [ROUTE], steps)
        assert [node.key for node in path.nodes] == [ROUTE, SAVE, SONG, TABLE]
        assert path.nodes[2].kind == "model"
        assert path.links == (FRAME.links[2], FRAME.links[3], FRAME.links[4])
        assert path.confidence == "convention"
        back = [Step(step.kinds, back=True) for step in reversed(steps)]
        (path,) = store.graph.walk(HERE, [TABLE], back)
        assert [node.key for node in path.nodes] == [TABLE, SONG, SAVE, ROUTE]

    def test_a_link_target_without_a_node_is_named_by_its_key(self, store: DocumentStore) -> None:
        self.filled(store)
        first, second = store.graph.walk(HERE, [ROUTE], [Step(("GUARDED_BY",), to=("middleware",))])
        assert first.nodes[1] == Node("middleware:auth", "middleware", "auth")
        assert second.links == (FRAME.links[0],)

    def test_no_path_visits_a_node_twice(self, store: DocumentStore) -> None:
        ring = Graph(
            links=tuple(Link("CALLS", f"m:{n}", f"m:{(n + 1) % 3}", "f", n) for n in range(3))
        )
        ring += Graph(links=(Link("CALLS", "m:0", "m:0", "f", 9),))
        store.graph.put(KEY, {"ring": ring})
        calls = Step(("CALLS",))
        (path,) = store.graph.walk(HERE, ["m:0"], [calls, calls])
        assert [node.key for node in path.nodes] == ["m:0", "m:1", "m:2"]
        assert store.graph.walk(HERE, ["m:0"], [calls, calls, calls]) == []

    def test_walks_have_a_limit(self, store: DocumentStore) -> None:
        star = Graph(
            links=tuple(Link("CALLS", "m:0", f"m:{n}", "f", n, order=n) for n in range(1, 20))
        )
        store.graph.put(KEY, {"star": star})
        paths = store.graph.walk(HERE, ["m:0"], [Step(("CALLS",))], limit=3)
        assert [path.nodes[1].key for path in paths] == ["m:1", "m:2", "m:3"]
        assert store.graph.walk(HERE, ["m:0"], [Step(("CALLS",))], limit=0) == []
        with pytest.raises(InputError):
            store.graph.walk(HERE, ["m:0"], [Step(("CALLS",))] * 9)

    # ── scopes ───────────────────────────────────────────────────────────────────────────────────

    def test_a_graph_is_seen_only_in_its_scope(self, store: DocumentStore) -> None:
        self.filled(store)
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.graph.put(
            CollectionKey(PROJECT, "b"),
            {"laravel": Graph(links=(Link("MAPS_TO", SONG, "table:hymns", "x", 1),))},
        )
        for scope in (Scope(OTHER), Scope(PROJECT, ("no",)), Scope("nobody")):
            assert (
                not store.graph.nodes(scope)
                and not store.graph.find_aliases(scope, ["Song"])
                and not store.graph.links(scope, [SONG])
            )
            assert not store.graph.unresolved(scope) and not store.graph.walk(
                scope, [ROUTE], [Step(("HANDLED_BY",))]
            )
        assert (
            store.graph.owner_stamps(OTHER_KEY)
            == store.graph.owner_stamps(CollectionKey(PROJECT, "no"))
            == {}
        )
        both = store.graph.walk(HERE, [SONG], [Step(("MAPS_TO",))])
        assert [(path.nodes[1].key, path.nodes[1].collection) for path in both] == [
            ("table:hymns", "b"), (TABLE, NOTES),
        ]  # fmt: skip
        assert (
            store.graph.walk(HERE, [SAVE], [Step(("USES_MODEL",)), Step(("MAPS_TO",))])[0]
            .nodes[2]
            .key
            == TABLE
        )
        assert store.graph.nodes(Scope(PROJECT, ("b",))) == []

    def test_a_graph_is_removed_with_its_collection(self, store: DocumentStore) -> None:
        self.filled(store).drop_collection(KEY)
        store.ensure_collection(KEY)
        assert store.graph.owner_stamps(KEY) == {}
        assert (
            not store.graph.nodes(HERE)
            and not store.graph.links(HERE, [ROUTE])
            and not store.graph.find_aliases(HERE, ["Song"])
        )
        assert store.graph.unresolved(HERE) == []
        assert all(finding.ok for finding in store.check())
