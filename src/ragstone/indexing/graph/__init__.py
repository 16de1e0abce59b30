"""The code graph of a collection: kept up to date with its documents."""

from __future__ import annotations

from ragstone.indexing.graph.builder import Grapher

__all__ = ["Grapher"]
