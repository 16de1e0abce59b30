"""Any sequence of calls, against a dictionary that does the same."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import prepare
from ragstone.types import Scope, Space, embedding_text

WORDS = ("alpha", "beta", "gamma", "delta", "omega", "kappa")
uris = st.sampled_from(("a.md", "b.md", "docs/c.md", "docs/d.md"))
pieces = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), max_size=5)
headers = st.sampled_from(("", "Head"))
collections = st.sampled_from(("one", "two"))
spaces = st.sampled_from((Space("fake", "m", 4), Space("fake", "n", 4)))

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
        for name in ("one", "two"):
            self.store.ensure_collection("p", name)

    def open(self) -> SqliteStore:
        return SqliteStore(self.folder / "ragstone.db", cache_mb=1, mmap_mb=0)

    def teardown(self) -> None:
        assert [finding for finding in self.store.check() if not finding.ok] == []
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(collection=collections, uri=uris, header=headers, texts=pieces)
    def put(self, collection: str, uri: str, header: str, texts: list[str]) -> None:
        _, before = self.documents.get((collection, uri), ("", []))
        (result,) = self.store.put("p", collection, [prepare(uri, texts, header=header)])
        assert (result.added + result.kept, result.removed + result.kept) == (len(texts), len(before))
        self.documents[collection, uri] = (header, texts)

    @rule(collection=collections, wanted=st.lists(uris, max_size=3))
    def remove(self, collection: str, wanted: list[str]) -> None:
        gone = {uri for uri in wanted if self.documents.pop((collection, uri), None) is not None}
        assert self.store.remove("p", collection, wanted) == len(gone)

    @rule(collection=collections, old=uris, new=uris)
    def rename(self, collection: str, old: str, new: str) -> None:
        if (held := self.documents.get((collection, old))) and old != new:
            self.store.put("p", collection, [prepare(new, held[1], header=held[0])])
            self.store.remove("p", collection, [old])
            self.documents[collection, new] = self.documents.pop((collection, old))

    @rule(collection=collections)
    def drop_and_make_again(self, collection: str) -> None:
        count = sum(place[0] == collection for place in self.documents)
        assert self.store.drop_collection("p", collection) == count
        self.documents = {place: held for place, held in self.documents.items() if place[0] != collection}
        self.store.ensure_collection("p", collection)

    @rule(collection=collections, space=spaces, count=st.integers(0, 5))
    def embed_some(self, collection: str, space: Space, count: int) -> None:
        scope = Scope("p", (collection,))
        info = self.store.ensure_space("p", collection, space, state="building")
        self.space_ids.add(info.id)
        pending = self.store.pending(scope, info.id)
        known = {text for number, text in self.vectors if number == info.id}
        assert sorted(one.text for one in pending) == sorted(self.texts(collection) - known)
        rows = [(one.text_id, one.text.encode()[:4].ljust(4)) for one in pending[:count]]
        assert self.store.put_vectors("p", info.id, rows) == len(rows)
        self.vectors |= {(info.id, one.text): one.text.encode()[:4].ljust(4) for one in pending[:count]}

    @precondition(lambda self: self.space_ids)
    @rule(data=st.data(), every=st.booleans())
    def forget_vectors(self, data: st.DataObject, every: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.space_ids)))
        rows = self.store.vector_rows("p", number)
        epoch = rows.epoch
        inside = self.store.vectors_in(Scope("p"), number)
        wanted = None if every else inside[::2]
        places = self.store.locate(Scope("p"), number, inside if wanted is None else wanted)
        chunks = self.store.chunks("p", list(places.values()))
        texts = {_embedded(row.chunk.header, row.chunk.text) for row in chunks.values()}
        gone = self.store.remove_vectors("p", number, wanted)
        assert gone == sum(1 for space, _ in self.vectors if space == number) if every else gone == len(texts)
        assert (rows.epoch != epoch) is bool(gone)
        self.vectors = {
            key: held for key, held in self.vectors.items() if key[0] != number or not (every or key[1] in texts)
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
            assert self.store.text("p", collection, uri) == "\n\n".join(texts)
            chunks = [row.chunk for row in self.store.document_chunks("p", collection, uri)]
            assert [(chunk.header, chunk.text, chunk.order) for chunk in chunks] == [
                (header, text, order) for order, text in enumerate(texts)
            ]

    @invariant()
    def words_are_the_same(self) -> None:
        for word in WORDS[:2]:
            hits = self.store.search_words(Scope("p"), [word], limit=1000)
            found = self.store.chunks("p", [hit.id for hit in hits])
            assert len(found) == len(hits)
            expected = [
                (*place, order)
                for place, (_, texts) in self.documents.items()
                for order, text in enumerate(texts)
                if word in text
            ]
            assert sorted((c.collection, c.uri, c.chunk.order) for c in found.values()) == sorted(expected)

    @precondition(lambda self: self.space_ids)
    @invariant()
    def vectors_are_the_same(self) -> None:
        for number in self.space_ids:
            rows = self.store.vector_rows("p", number)
            inside = self.store.vectors_in(Scope("p"), number)
            places = self.store.locate(Scope("p"), number, inside)
            chunks = self.store.chunks("p", list(places.values()))
            data = {row.id: row.data for row in rows.by_id(inside)}
            found = {
                _embedded(chunks[chunk].chunk.header, chunks[chunk].chunk.text): data[row]
                for row, chunk in places.items()
            }
            alive = self.texts("one") | self.texts("two")
            assert found == {
                text: data for (space, text), data in self.vectors.items() if space == number and text in alive
            }

    def texts(self, collection: str) -> set[str]:
        """Return what an embedder would be given for a collection."""
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
