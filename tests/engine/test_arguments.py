"""What callers hand in is looked at before anything happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.engine import arguments
from ragstone.errors import InputError
from ragstone.types import Document

ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.integers())
)


@given(
    ANYTHING,
    ANYTHING,
    st.dictionaries(st.sampled_from(["mode", "mmr", "min_score", "filters", "x"]), ANYTHING),
)
def test_any_arguments_give_a_number_of_hits_or_a_sentence(
    query: object, top_k: object, options: dict[str, object]
) -> None:
    try:
        limit = arguments.check_search(query, top_k, options)
    except InputError as error:
        assert error.hint
    else:
        assert 0 <= limit <= arguments.MAX_TOP_K
        assert isinstance(query, str)


def test_a_single_document_is_accepted_like_a_list() -> None:
    document = Document(uri="a", text="b")
    assert (
        list(arguments.check_documents(document, None, None))
        == list(arguments.check_documents([document], None, None))
        == [document]
    )


@pytest.mark.parametrize("documents", [b"bytes", {"uri": "a"}])
def test_bytes_and_mappings_are_no_documents(documents: object) -> None:
    with pytest.raises(InputError, match="add takes documents"):
        list(arguments.check_documents(documents, None, None))  # type: ignore[arg-type]
