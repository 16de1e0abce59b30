"""The placeholders of removed secrets; a light module, because every search looks for them."""

from __future__ import annotations

import re
from typing import Final

PLACEHOLDER_START: Final = "[SECRET:"
_PLACEHOLDER: Final = re.compile(r"\[SECRET:[a-z0-9][a-z0-9_-]*\]")
_REMARK: Final = re.compile(r"\d+ secrets? taken out: ")


def has_placeholder(text: str) -> bool:
    """Return whether a text has the placeholder of a removed secret."""
    return PLACEHOLDER_START in text and _PLACEHOLDER.search(text) is not None


def is_redaction(remark: str) -> bool:
    """Return whether a remark on a document says that secrets were removed from it."""
    return _REMARK.match(remark) is not None
