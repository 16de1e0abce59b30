# ruff: noqa: D102 (a test's name is its sentence)
"""Tests that every remote collection must pass. Subclass `RemoteCollectionContract` in your tests.

The server behind it must find at least three passages for `query`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import pytest

from ragstone.protocols import RemoteCollection


class RemoteCollectionContract:
    """Tests of `protocols.RemoteCollection`."""

    query = "stone"

    @abstractmethod
    def make(self) -> RemoteCollection:
        """Return a collection whose server runs."""

    @pytest.fixture
    def remote(self) -> Iterator[RemoteCollection]:
        """Return a collection that is closed after the test."""
        remote = self.make()
        yield remote
        remote.close()

    def test_passages_have_text(self, remote: RemoteCollection) -> None:
        passages = remote.search(self.query, 3)
        assert len(passages) == 3
        assert all(passage.text.strip() for passage in passages)

    def test_no_more_passages_than_wanted_are_returned(self, remote: RemoteCollection) -> None:
        assert remote.search(self.query, 2) == remote.search(self.query, 3)[:2]

    def test_scores_fall(self, remote: RemoteCollection) -> None:
        scores = [passage.score for passage in remote.search(self.query, 3)]
        numbers = [score for score in scores if score is not None]
        assert numbers in ([], sorted(numbers, reverse=True))

    def test_a_closed_collection_connects_again(self, remote: RemoteCollection) -> None:
        before = remote.search(self.query, 3)
        remote.close()
        remote.close()
        assert remote.search(self.query, 3) == before
