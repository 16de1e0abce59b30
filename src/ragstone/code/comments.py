"""What a comment says: its text without the signs that make it one."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Final

_LONGEST: Final = 2_000
"""Characters of a description that are kept: the rest is in the text."""
_OPENS: Final = re.compile(r"^[ \t]*(?:/\*[*!]?|//[/!]?<?|#(?!\[)|=begin\b|--)[ \t]?", re.MULTILINE)
_CLOSES: Final = re.compile(r"[ \t]*\*+/[ \t]*$|^=end\b.*$", re.MULTILINE)
_STAR: Final = re.compile(r"^[ \t]*\*(?!/)[ \t]?", re.MULTILINE)
_TAG: Final = re.compile(r"</?(?:summary|remarks|para|c|code|see|paramref|typeparamref)\b[^>]*>")
"""Tags of documentation in C#, whose words are what is said."""
_QUOTES: Final = re.compile(r"""\A[A-Za-z]{0,2}('{3}|"{3}|'|")(.*?)\1?\Z""", re.DOTALL)


def is_comment(piece: bytes) -> bool:
    """Return whether something that stands above a definition is a comment, not a decorator or attribute."""
    return piece.startswith((b"//", b"/*", b"=begin", b"--")) or (
        piece[:1] == b"#" and piece[:2] not in (b"#[", b"#!")
    )


def said(comment: str) -> str:
    """Return what a comment says; blocks lose their stars, lines their slashes or hashes."""
    if comment.lstrip().startswith("/*"):
        comment = _STAR.sub("", comment)
    plain = _CLOSES.sub("", _OPENS.sub("", comment[: 2 * _LONGEST]))
    return cleandoc(_TAG.sub("", plain) if "<summary>" in plain else plain).strip()[:_LONGEST]


def unquoted(literal: str) -> str:
    """Return the text of a docstring."""
    found = _QUOTES.match(literal[: 2 * _LONGEST])
    return cleandoc(found[2] if found else literal)[:_LONGEST].strip()
