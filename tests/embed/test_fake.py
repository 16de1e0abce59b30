from __future__ import annotations

import os
import subprocess
import sys
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.embed.fake import FakeEmbedder
from ragstone.errors import InputError
from ragstone.protocols import Embedder
from ragstone.types import Role

FAKE: Embedder = FakeEmbedder()


@given(st.lists(st.text(), max_size=8))
def test_every_text_gets_a_unit_vector_that_its_neighbours_do_not_change(
    texts: list[str],
) -> None:
    rows = FAKE.embed(texts)
    assert rows.shape == (len(texts), 128)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, FAKE.embed([text], "query")[0])


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    base, near, far = FAKE.embed(
        ["the store keeps every chunk", "every chunk the store has", "bread needs warm water"]
    )
    assert base @ near > 0.6
    assert abs(base @ far) < 0.4


def test_another_process_gives_the_same_vector() -> None:
    program = """
from ragstone.embed.fake import FakeEmbedder
print(FakeEmbedder().embed(['two words, 2 words'])[0].tobytes().hex())
"""
    ours = FAKE.embed(["two words, 2 words"])[0].tobytes().hex()
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=_environment(seed),
        )
        assert run.stdout.strip() == ours


def _environment(seed: str) -> dict[str, str]:
    return {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": ""}


def test_words_are_counted_and_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    FAKE.embed(["a", "b"], progress=lambda *step: told.append(step))
    assert told == [("embed", 1, 2), ("embed", 2, 2)]
    assert FAKE.count_tokens("one, two; three") == 3


def test_one_text_instead_of_a_list_is_refused() -> None:
    with pytest.raises(InputError, match="list of texts"):
        FAKE.embed("one text")


def test_no_texts_give_no_rows() -> None:
    assert FAKE.embed([]).shape == (0, 128)


@pytest.mark.parametrize("texts", [None, 5, [None], ["a", 5], {"a": 1}])
def test_anything_but_a_list_of_texts_is_refused(texts: object) -> None:
    with pytest.raises(InputError, match="a list of texts"):
        FAKE.embed(cast(list[str], texts))


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(InputError, match="'quary' is not a role"):
        FAKE.embed(["a"], cast(Role, "quary"))
