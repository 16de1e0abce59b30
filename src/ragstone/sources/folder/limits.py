"""How large files may be, and how many there may be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The limits of a folder. Documents are files of other formats than text, such as PDF."""

    max_file_bytes: int
    max_files: int
    max_document_bytes: int = 0
    document_suffixes: Collection[str] = ()
    """In lower case, without dots."""

    def max_bytes(self, uri: str) -> int:
        """Return how large a file with this name may be."""
        if self._is_document(uri):
            return self.max_document_bytes
        return self.max_file_bytes

    def explain_excess(self, uri: str, size: int) -> str | None:
        """Return why a file is too large, or None if it is not."""
        if size <= min(self.max_file_bytes, self.max_document_bytes):
            return None
        limit = self.max_bytes(uri)
        if size <= limit:
            return None
        setting = "max_document_bytes" if self._is_document(uri) else "max_file_bytes"
        return f"too large: {_format_size(size)} (sources.{setting}: {_format_size(limit)})"

    def _is_document(self, uri: str) -> bool:
        name = uri.rpartition("/")[2]
        stem, _, suffix = name.rpartition(".")
        return bool(stem) and suffix.lower() in self.document_suffixes


def _format_size(size: int) -> str:
    if size < 100_000:
        return f"{size:,} bytes"
    return f"{size / 1_000_000:.1f} MB"
