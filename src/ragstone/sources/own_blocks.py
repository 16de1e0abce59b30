"""The marks around the instructions that Ragstone writes into files of agents; text between them is not indexed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ragstone.types import Document

BLOCK_START: Final = "<!-- ragstone: start -->"
BLOCK_END: Final = "<!-- ragstone: end -->"
_BLOCK: Final = re.compile(
    rf"^{re.escape(BLOCK_START)}$.*?^{re.escape(BLOCK_END)}$", re.DOTALL | re.MULTILINE
)


def blank_own_blocks(document: Document) -> Document:
    """Return a document with empty lines in place of Ragstone's own instructions; other lines keep their numbers."""
    if BLOCK_START not in document.text or document.marks:
        return document
    text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), document.text)
    return replace(document, text=text)
