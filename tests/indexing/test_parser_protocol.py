from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.facts import Binding, FileFacts, Import, Reference
from ragstone.code.symbols import read
from ragstone.indexing.parser_protocol import dump, load
from ragstone.types import Symbol
from tests.indexing.graph.tiny import SONG

texts = st.text(max_size=5)
numbers = st.integers(0, 10**6)
facts = st.builds(
    FileFacts,
    texts,
    texts,
    texts,
    st.lists(
        st.builds(Symbol, texts, texts, texts, numbers, numbers, numbers, numbers, texts, texts, texts), max_size=3
    ).map(tuple),
    st.lists(st.builds(Import, texts, texts, numbers, texts), max_size=3).map(tuple),
    st.lists(st.builds(Reference, texts, texts, texts, numbers, texts), max_size=3).map(tuple),
    st.lists(st.builds(Binding, texts, texts, texts, numbers), max_size=3).map(tuple),
    st.lists(st.tuples(numbers, numbers), max_size=2).map(tuple),
)


@given(facts)
def test_facts_come_back_as_they_were(one: FileFacts) -> None:
    assert load(dump(one)) == one


def test_facts_of_a_file_come_back_as_they_were() -> None:
    one = read(SONG, "music/song.py")
    assert one is not None
    assert load(dump(one)) == one


def test_every_field_of_facts_is_kept() -> None:
    kept = ("uri", "language", "namespace", "symbols", "imports", "references", "bindings", "broken")
    assert FileFacts.__slots__ == kept


@given(st.binary(max_size=50))
def test_bytes_of_another_ragstone_are_no_facts(data: bytes) -> None:
    assert load(data) is None
    assert load(dump(FileFacts("a", "b", "c"))[:-3]) is None
