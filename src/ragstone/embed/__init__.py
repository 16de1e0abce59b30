"""Embedders: how a text becomes a vector."""
