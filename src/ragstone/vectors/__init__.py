"""Vectors: how they are encoded as rows of the store, and how the nearest ones are found."""
