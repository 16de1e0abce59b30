"""A document's text is not stored twice: it is put together from its chunks and the gaps between them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import InputError, StoreDamaged
from ragstone.store import codec
from ragstone.store.sqlite import SqliteStore
from ragstone.types import Chunk, CollectionKey, Document, Mark, PreparedDocument, Span, Stamp

# Lone surrogates and NUL included: text that UTF-8 or C would stumble over.
any_text = st.text(st.characters(exclude_categories=()), max_size=60)


@st.composite
def cut(draw: st.DrawFn, text: str) -> tuple[Chunk, ...]:
    """Return slices that may overlap, nest, repeat and leave anything out."""
    ends = st.integers(0, len(text))
    spans = [sorted((draw(ends), draw(ends))) for _ in range(draw(st.integers(0, 5)))]
    header, symbol = draw(any_text), draw(any_text)
    return tuple(
        Chunk(
            text[a:b],
            Span(a, b, a, b, 1, 1, draw(st.none() | st.integers(0, 9)), draw(any_text)),
            i,
            "k",
            symbol,
            header,
        )
        for i, (a, b) in enumerate(spans)
    )


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    with SqliteStore(":memory:") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        yield store


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_document_comes_back_to_the_letter(store: SqliteStore, data: st.DataObject) -> None:
    text = data.draw(any_text) * data.draw(st.sampled_from((1, 1, 40)))
    uri = data.draw(any_text.filter(bool))
    document = Document(
        uri,
        text,
        title=data.draw(any_text),
        metadata={data.draw(any_text): data.draw(any_text)},
        marks=(Mark(0, 1, "i"),),
    )
    chunks = data.draw(cut(text))
    store.put(
        CollectionKey("p", "c"),
        [
            PreparedDocument(
                document, chunks, source=data.draw(any_text), recipe="r", content_hash="h"
            )
        ],
    )
    assert store.text(CollectionKey("p", "c"), uri) == text
    assert (
        tuple(row.chunk for row in store.document_chunks(CollectionKey("p", "c"), uri))
        == chunks
    )
    stored = store.document(CollectionKey("p", "c"), uri)
    assert stored is not None
    assert (stored.uri, stored.title, stored.metadata, stored.hash) == (
        uri,
        document.title,
        document.metadata,
        document.hash,
    )
    start, end = data.draw(st.integers(-3, 70)), data.draw(st.integers(-3, 70))
    assert (
        store.slice(CollectionKey("p", "c"), uri, (start, end))
        == text[max(0, start) : max(0, end)]
    )


def test_all_that_was_stored_is_sound(store: SqliteStore) -> None:
    assert [finding for finding in store.check() if not finding.ok] == []


def test_long_gaps_are_compressed() -> None:
    gaps = "   \n" * 1000
    packed = codec.dump_gaps(gaps)
    assert len(packed) < 100
    assert codec.load_gaps(packed) == gaps


@pytest.mark.parametrize(
    "read",
    [
        lambda: codec.load("[1]"),
        lambda: codec.load("{"),
        lambda: codec.load_gaps(b"not zlib"),
        lambda: codec.load_stamp("1 2 x 4"),
        lambda: codec.load_marks("[[1]]"),
        lambda: codec.unpack(b"\xff"),
    ],
)
def test_a_value_we_never_wrote_is_damage(read: object) -> None:
    assert callable(read)
    with pytest.raises(StoreDamaged):
        read()


def test_stamps_keep_numbers_of_any_size() -> None:
    stamp = Stamp(2**70, -5, 0, 2**64 - 1)
    assert codec.load_stamp(codec.dump_stamp(stamp)) == stamp
    assert codec.load_stamp(codec.dump_stamp(None)) is None


def test_metadata_nested_beyond_reason_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError):
        codec.dump({"deep": deep}, "metadata")


def test_fresh_uuids_are_random_ones_of_version_4() -> None:
    uuids = [uuid.UUID(codec.fresh_uuid()) for _ in range(100)]
    assert len(set(uuids)) == 100
    assert all(number.version == 4 and number.variant == uuid.RFC_4122 for number in uuids)
