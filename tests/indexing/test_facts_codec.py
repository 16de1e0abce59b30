"""Facts of a code file are stored and loaded without loss."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.symbols import read_facts
from ragstone.indexing.facts_codec import decode_facts, encode_facts
from ragstone.types import Symbol
from ragstone.types.code import Binding, FileFacts, Import, Reference
from tests.indexing.graph.tiny import SONG

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
numbers = st.integers(0, 10**6)
facts = st.builds(
    FileFacts,
    texts,
    texts,
    texts,
    st.lists(
        st.builds(
            Symbol, texts, texts, texts, numbers, numbers, numbers, numbers, texts, texts, texts
        ),
        max_size=3,
    ).map(tuple),
    st.lists(st.builds(Import, texts, texts, numbers, texts), max_size=3).map(tuple),
    st.lists(st.builds(Reference, texts, texts, texts, numbers, texts), max_size=3).map(tuple),
    st.lists(st.builds(Binding, texts, texts, texts, numbers), max_size=3).map(tuple),
    st.lists(st.tuples(numbers, numbers), max_size=2).map(tuple),
)


@given(facts)
def test_any_facts_survive_encoding(file_facts: FileFacts) -> None:
    assert decode_facts(encode_facts(file_facts)) == file_facts


def test_the_facts_of_a_file_survive_encoding() -> None:
    file_facts = read_facts(SONG, "music/song.py")
    assert file_facts is not None
    assert decode_facts(encode_facts(file_facts)) == file_facts


@given(st.binary(max_size=50))
def test_foreign_bytes_give_no_facts(data: bytes) -> None:
    assert decode_facts(data) is None
    assert decode_facts(encode_facts(FileFacts("a", "b", "c"))[:-3]) is None
