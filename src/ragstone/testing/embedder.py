# ruff: noqa: D102 (a test's name is its sentence)
"""Tests that every embedder must pass. Subclass `EmbedderContract` in your tests, with a constructor:

class TestMyEmbedder(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return MyEmbedder()
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pytest

from ragstone.errors import InputError
from ragstone.protocols import Embedder

_TEXTS = (
    "The ferry leaves the north quay at nine.",
    "A lock holds the lease for one writer.",
    "Der Zug fährt um neun Uhr ab.",
)


class EmbedderContract:
    """Tests of `protocols.Embedder`."""

    tolerance = 1e-3
    """How far the rows of one text in different calls may differ."""

    @abstractmethod
    def make_embedder(self) -> Embedder:
        """Return the embedder."""

    def test_the_space_and_the_limits_are_stated(self) -> None:
        embedder = self.make_embedder()
        assert embedder.space.embedder and embedder.space.model
        assert embedder.space.dimension > 0 and embedder.max_tokens > 0

    def test_every_text_has_one_finite_row_of_the_stated_dimension(self) -> None:
        embedder = self.make_embedder()
        rows = embedder.embed(list(_TEXTS))
        assert rows.shape == (len(_TEXTS), embedder.space.dimension)
        assert np.isfinite(rows).all() and rows.any(axis=1).all()

    def test_a_normalised_space_has_rows_of_length_one(self) -> None:
        embedder = self.make_embedder()
        lengths = np.linalg.norm(embedder.embed(list(_TEXTS)), axis=1)
        assert not embedder.space.normalised or np.allclose(lengths, 1, atol=1e-3)

    def test_a_text_has_the_same_row_alone_and_among_others(self) -> None:
        embedder = self.make_embedder()
        together = embedder.embed(list(_TEXTS))
        for text, row in zip(_TEXTS, together, strict=True):
            assert np.allclose(embedder.embed([text])[0], row, atol=self.tolerance)

    def test_rows_are_in_the_order_of_the_texts(self) -> None:
        embedder = self.make_embedder()
        forward = embedder.embed(list(_TEXTS))
        backward = embedder.embed(list(reversed(_TEXTS)))
        assert np.allclose(forward, backward[::-1], atol=self.tolerance)

    def test_different_texts_have_different_rows(self) -> None:
        first, second, _ = self.make_embedder().embed(list(_TEXTS))
        assert not np.allclose(first, second, atol=self.tolerance)

    def test_no_texts_give_no_rows(self) -> None:
        embedder = self.make_embedder()
        assert embedder.embed([]).shape == (0, embedder.space.dimension)

    def test_an_empty_text_has_a_finite_row(self) -> None:
        assert np.isfinite(self.make_embedder().embed([""])).all()

    def test_a_long_text_and_odd_characters_have_finite_rows(self) -> None:
        embedder = self.make_embedder()
        long_text = "word " * (embedder.max_tokens * 2)
        odd_text = "naïve 東京 \U0001f600 \x00 \u202e"
        assert np.isfinite(embedder.embed([long_text, odd_text])).all()

    def test_a_query_has_a_row_too(self) -> None:
        embedder = self.make_embedder()
        assert embedder.embed(["when does it leave"], "query").shape == (
            1,
            embedder.space.dimension,
        )

    def test_one_text_instead_of_a_list_is_refused(self) -> None:
        with pytest.raises(InputError):
            self.make_embedder().embed("one text")

    def test_progress_ends_with_all_texts(self) -> None:
        calls: list[tuple[str, int, int]] = []
        self.make_embedder().embed(
            list(_TEXTS), progress=lambda *call: calls.append((call[0], call[1], call[2]))
        )
        assert not calls or calls[-1] == ("embed", len(_TEXTS), len(_TEXTS))

    def test_tokens_are_counted(self) -> None:
        embedder = self.make_embedder()
        assert 0 < embedder.count_tokens(_TEXTS[0]) < embedder.count_tokens(_TEXTS[0] * 10)
