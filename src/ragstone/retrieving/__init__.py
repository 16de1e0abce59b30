"""Pieces for a question: the graph is asked before the index is searched, and both are told as one list."""

from __future__ import annotations

from ragstone.retrieving.path import Retriever
from ragstone.retrieving.wish import Wish

__all__ = ["Retriever", "Wish"]
