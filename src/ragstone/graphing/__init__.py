"""The graph of a collection, brought level with its documents: what changed is read again, all else stays."""

from __future__ import annotations

from ragstone.graphing.level import Grapher

__all__ = ["Grapher"]
