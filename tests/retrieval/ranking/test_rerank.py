"""MMR: relevance first, repeats later."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ranking.rerank import diversify


def test_a_near_copy_of_the_first_waits_for_something_new() -> None:
    vectors = np.array([[1, 0], [0.999, 0.04], [0, 1]], dtype=np.float32)
    assert diversify([1.0, 0.99, 0.8], vectors, 3) == [0, 2, 1]


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(0, 15))
def test_each_position_is_chosen_at_most_once(relevance: list[float], top_k: int) -> None:
    vectors = np.eye(max(1, len(relevance)), 4, dtype=np.float32)[: len(relevance)]
    chosen = diversify(relevance, vectors, top_k)
    assert len(chosen) == min(top_k, len(relevance)) == len(set(chosen))
