"""Any sequence of calls, against a dictionary that does the same."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import (
    Alias,
    CollectionKey,
    Graph,
    Link,
    Node,
    Scope,
    Space,
    Step,
    Unresolved,
    embedding_text,
)

WORDS = ("alpha", "beta", "gamma", "delta", "omega", "kappa")
uris = st.sampled_from(("a.md", "b.md", "docs/c.md", "docs/d.md"))
piece = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
long_piece = piece.map(lambda words: words * 150)  # long enough to be squeezed
pieces = st.lists((piece | piece | long_piece).map(" ".join), max_size=5)
headers = st.sampled_from(("", "Head"))
collections = st.sampled_from(("one", "two"))
spaces = st.sampled_from((Space("fake", "m", 4), Space("fake", "n", 4)))

keys = st.sampled_from(("class:A", "class:B", "table:a", "route:x"))
owners = st.sampled_from(("file:a.py", "file:b.py", "frame"))
nodes = st.builds(Node, keys, st.sampled_from(("class", "table")), st.just("n"), uri=st.sampled_from(("a.py", "b.py")),
                  line=st.integers(1, 3), framework=st.sampled_from(("", "frame")))  # fmt: skip
links = st.builds(
    Link, st.sampled_from(("CALLS", "USES")), keys, keys, st.just("a.py"), st.integers(1, 3)
)
aliases = st.builds(Alias, st.sampled_from(("A", "a", "b")), keys, st.just("class"))
references = st.builds(
    Unresolved, st.just("call"), keys, st.just("f"), st.just("$x"), st.just("a.py"), st.just(1)
)
graphs = st.builds(
    Graph,
    st.lists(nodes, max_size=3, unique_by=lambda node: node.key).map(tuple),
    st.lists(links, max_size=4).map(tuple),
    st.lists(aliases, max_size=2).map(tuple),
    st.lists(references, max_size=2).map(tuple),
)

Place = tuple[str, str]


class StoreMachine(RuleBasedStateMachine):
    """A store and the dictionary it must agree with."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.open()
        self.documents: dict[Place, tuple[str, list[str]]] = {}
        self.vectors: dict[tuple[int, str], bytes] = {}
        self.space_ids: set[int] = set()
        self.graphs: dict[Place, Graph] = {}
        for name in ("one", "two"):
            self.store.ensure_collection(CollectionKey("p", name))

    def open(self) -> SqliteStore:
        return SqliteStore(self.folder / "ragstone.db", cache_mb=1)

    def teardown(self) -> None:
        assert [finding for finding in self.store.check() if not finding.ok] == []
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(collection=collections, uri=uris, header=headers, texts=pieces)
    def put(self, collection: str, uri: str, header: str, texts: list[str]) -> None:
        _, before = self.documents.get((collection, uri), ("", []))
        (result,) = self.store.put(
            CollectionKey("p", collection), [prepare(uri, texts, header=header)]
        )
        assert (result.added + result.kept, result.removed + result.kept) == (
            len(texts),
            len(before),
        )
        self.documents[collection, uri] = (header, texts)

    @rule(collection=collections, uris=st.lists(uris, max_size=3))
    def remove(self, collection: str, uris: list[str]) -> None:
        gone = {uri for uri in uris if self.documents.pop((collection, uri), None) is not None}
        assert self.store.remove(CollectionKey("p", collection), uris) == len(gone)

    @rule(collection=collections, old=uris, new=uris)
    def rename(self, collection: str, old: str, new: str) -> None:
        if (held := self.documents.get((collection, old))) and old != new:
            self.store.put(
                CollectionKey("p", collection), [prepare(new, held[1], header=held[0])]
            )
            self.store.remove(CollectionKey("p", collection), [old])
            self.documents[collection, new] = self.documents.pop((collection, old))

    @rule(collection=collections)
    def drop_and_make_again(self, collection: str) -> None:
        count = sum(place[0] == collection for place in self.documents)
        assert self.store.drop_collection(CollectionKey("p", collection)) == count
        self.documents = {
            place: held for place, held in self.documents.items() if place[0] != collection
        }
        self.graphs = {
            place: held for place, held in self.graphs.items() if place[0] != collection
        }
        self.store.ensure_collection(CollectionKey("p", collection))

    @rule(
        collection=collections,
        parts=st.dictionaries(owners, graphs, max_size=3),
        stamped=st.booleans(),
    )
    def put_graph(self, collection: str, parts: dict[str, Graph], stamped: bool) -> None:
        before = [self.graphs.get((collection, owner), Graph()) for owner in parts]
        written = self.store.graph.put(
            CollectionKey("p", collection),
            parts,
            stamps=dict.fromkeys(parts, "s") if stamped else None,
        )
        for table in ("nodes", "links", "aliases", "unresolved"):
            changed = [
                {*map(repr, getattr(old, table))} ^ {*map(repr, getattr(new, table))}
                for old, new in zip(before, parts.values(), strict=True)
            ]
            keys = [{row.partition("kind=")[0] for row in rows} for rows in changed]
            assert written[table] == sum(map(len, keys if table == "nodes" else changed))
        for owner, part in parts.items():
            self.graphs[collection, owner] = part
            if not stamped and part == Graph():
                del self.graphs[collection, owner]

    @rule(collection=collections, space=spaces, count=st.integers(0, 5))
    def embed_some(self, collection: str, space: Space, count: int) -> None:
        scope = Scope("p", (collection,))
        info = self.store.vectors.ensure_space(
            CollectionKey("p", collection), space, state="building"
        )
        self.space_ids.add(info.id)
        pending = self.store.vectors.pending(scope, info.id)
        embedded = {text for number, text in self.vectors if number == info.id}
        assert sorted(text.text for text in pending) == sorted(
            self.texts(collection) - embedded
        )
        rows = [(text.text_id, text.text.encode()[:4].ljust(4)) for text in pending[:count]]
        assert self.store.vectors.put("p", info.id, rows) == len(rows)
        self.vectors |= {
            (info.id, text.text): text.text.encode()[:4].ljust(4) for text in pending[:count]
        }

    @precondition(lambda self: self.space_ids)
    @rule(data=st.data(), every=st.booleans())
    def forget_vectors(self, data: st.DataObject, every: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.space_ids)))
        rows = self.store.vectors.rows("p", number)
        epoch = rows.epoch
        inside = self.store.vectors.ids_in(Scope("p"), number)
        row_ids = None if every else inside[::2]
        places = self.store.vectors.locate(
            Scope("p"), number, inside if row_ids is None else row_ids
        )
        chunks = self.store.chunks("p", list(places.values()))
        texts = {_embedded(row.chunk.header, row.chunk.text) for row in chunks.values()}
        gone = self.store.vectors.remove("p", number, row_ids)
        assert (
            gone == sum(1 for space, _ in self.vectors if space == number)
            if every
            else gone == len(texts)
        )
        assert (rows.epoch != epoch) is bool(gone)
        self.vectors = {
            key: held
            for key, held in self.vectors.items()
            if key[0] != number or not (every or key[1] in texts)
        }

    @rule(secure=st.booleans())
    def compact(self, secure: bool) -> None:
        self.store.compact(secure=secure)
        alive = self.texts("one") | self.texts("two")
        self.vectors = {key: data for key, data in self.vectors.items() if key[1] in alive}

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @invariant()
    def documents_are_the_same(self) -> None:
        listed = self.store.documents(Scope("p"), limit=100)
        assert [(row.collection, row.uri) for row in listed] == sorted(self.documents)
        for (collection, uri), (header, texts) in self.documents.items():
            assert self.store.text(CollectionKey("p", collection), uri) == "\n\n".join(texts)
            chunks = [
                row.chunk
                for row in self.store.document_chunks(CollectionKey("p", collection), uri)
            ]
            assert [(chunk.header, chunk.text, chunk.order) for chunk in chunks] == [
                (header, text, order) for order, text in enumerate(texts)
            ]

    @invariant()
    def words_are_the_same(self) -> None:
        for word in WORDS[:2]:
            hits = self.store.search_words(Scope("p"), [word], limit=1000)
            stored = self.store.chunks("p", [hit.id for hit in hits])
            assert len(stored) == len(hits)
            expected = [
                (*place, order)
                for place, (_, texts) in self.documents.items()
                for order, text in enumerate(texts)
                if word in text
            ]
            assert sorted(
                (c.collection, c.uri, c.chunk.order) for c in stored.values()
            ) == sorted(expected)

    @invariant()
    def graphs_are_the_same(self) -> None:
        for collection in ("one", "two"):
            held = [
                part for place, part in sorted(self.graphs.items()) if place[0] == collection
            ]
            scope = Scope("p", (collection,))
            owned = {owner for name, owner in self.graphs if name == collection}
            assert set(self.store.graph.owner_stamps(CollectionKey("p", collection))) == owned
            stored = {node.key: node for node in self.store.graph.nodes(scope)}
            put_nodes = [node for part in held for node in part.nodes]
            assert set(stored) == {node.key for node in put_nodes}
            for key, node in stored.items():
                assert bool(node.framework) is any(
                    other.framework for other in put_nodes if other.key == key
                )
            links = {
                repr(link) for part in held for link in part.links if link.source == "class:A"
            }
            assert {
                repr(replace(link, collection=""))
                for link in self.store.graph.links(scope, ["class:A"])
            } == links
            walked = self.store.graph.walk(scope, ["class:A"], [Step(())])
            assert {path.nodes[1].key for path in walked} == {
                link.target for part in held for link in part.links if link.source == "class:A"
            } - {"class:A"}
            named = {
                (alias.name, alias.key)
                for part in held
                for alias in part.aliases
                if alias.name in "aA"
            }
            assert {
                (alias.name, alias.key) for alias in self.store.graph.find_aliases(scope, ["A"])
            } == named
            assert bool(self.store.graph.unresolved(scope, name="f")) is any(
                part.unresolved for part in held
            )

    @precondition(lambda self: self.space_ids)
    @invariant()
    def vectors_are_the_same(self) -> None:
        for number in self.space_ids:
            rows = self.store.vectors.rows("p", number)
            inside = self.store.vectors.ids_in(Scope("p"), number)
            places = self.store.vectors.locate(Scope("p"), number, inside)
            chunks = self.store.chunks("p", list(places.values()))
            data = {row.id: row.data for row in rows.by_id(inside)}
            stored = {
                _embedded(chunks[chunk].chunk.header, chunks[chunk].chunk.text): data[row]
                for row, chunk in places.items()
            }
            alive = self.texts("one") | self.texts("two")
            assert stored == {
                text: data
                for (space, text), data in self.vectors.items()
                if space == number and text in alive
            }

    def texts(self, collection: str) -> set[str]:
        """Return the texts of a collection that an embedder would get."""
        return {
            _embedded(header, text)
            for (name, _), (header, texts) in self.documents.items()
            if name == collection
            for text in texts
        }


def _embedded(header: str, text: str) -> str:
    return embedding_text(header, text)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=35, stateful_step_count=30, deadline=None)
