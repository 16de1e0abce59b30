"""JSON with comments and trailing commas, as editors allow it."""

from __future__ import annotations

import re
from typing import Final

_STRING: Final = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*+[}}\]])", re.DOTALL)
_NOT_NEWLINE: Final = re.compile(r"[^\n]")


def blank_comments(text: str) -> str:
    """Return JSON with its comments and trailing commas replaced by spaces, so that all offsets stay."""
    without_comments = _COMMENT.sub(_blank, text)
    return _TRAILING_COMMA.sub(_blank, without_comments)


def _blank(match: re.Match[str]) -> str:
    is_string = match[0].startswith('"')
    if is_string:
        return match[0]
    return _NOT_NEWLINE.sub(" ", match[0])
