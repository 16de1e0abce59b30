"""Readers: the bytes of a file become a document that holds every character of its text."""

from __future__ import annotations

BINARY = "binary file"
"""The reason for skipping bytes that are not text."""
