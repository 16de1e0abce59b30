"""Chunkers: documents are cut into exact slices that cover all of their text."""
