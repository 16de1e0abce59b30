"""What a file says: bytes become a document whose text holds every character of the file."""

from __future__ import annotations

BINARY = "binary file"
"""The reason given for bytes that are not text."""
