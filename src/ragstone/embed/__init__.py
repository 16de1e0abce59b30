"""Embedders: how a text becomes a vector."""

from __future__ import annotations

from ragstone.config import silence_onnxruntime

# Several modules of this package import onnxruntime, some through other packages. It must be silenced before that.
silence_onnxruntime()
