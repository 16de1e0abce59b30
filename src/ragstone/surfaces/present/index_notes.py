"""Notes about the state of an index that answers carry."""

from __future__ import annotations

from typing import Final

FIRST_INDEXING: Final = "the folder is being indexed for the first time: answers are partial"
SCANNING: Final = "changes in the folder are still being read: answers may be older"
