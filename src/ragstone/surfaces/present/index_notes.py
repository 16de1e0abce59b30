"""Notes about the state of an index that answers carry."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FIRST_INDEXING: Final = "the folder is being indexed for the first time: answers are partial"
SCANNING: Final = "changes in the folder are still being read: answers may be older"


def describe_home_in_cache(home: Path) -> str:
    """Return the note about a folder that cannot be written, so that its index is elsewhere."""
    return f"this folder can only be read: index and memories are stored in {home}"
