"""The text of comments and docstrings, without the signs around it."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Final

_MAX_LENGTH: Final = 2_000
"""Characters of a description to store; the full text is in the file."""
_LINE_START: Final = re.compile(
    r"^[ \t]*(?:/\*[*!]?|//[/!]?<?|#(?!\[)|=begin\b|--+)[ \t]?[|^]?[ \t]?", re.MULTILINE
)
_BLOCK_END: Final = re.compile(r"[ \t]*\*+/[ \t]*$|^=end\b.*$", re.MULTILINE)
_STAR: Final = re.compile(r"^[ \t]*\*(?!/)[ \t]?", re.MULTILINE)
_CSHARP_TAG: Final = re.compile(
    r"</?(?:summary|remarks|para|c|code|see|paramref|typeparamref)\b[^>]*>"
)
_QUOTES: Final = re.compile(r"""\A[A-Za-z]{0,2}('{3}|"{3}|'|")(.*?)\1?\Z""", re.DOTALL)


def is_comment(beginning: bytes) -> bool:
    """Return whether a text that starts like this is a comment, not a decorator or attribute."""
    if beginning.startswith((b"//", b"/*", b"=begin", b"--")):
        return True
    return beginning[:1] == b"#" and beginning[:2] not in (b"#[", b"#!")


def comment_text(comment: str) -> str:
    """Return a comment without stars, slashes and hashes."""
    if comment.lstrip().startswith("/*"):
        comment = _STAR.sub("", comment)
    text = _LINE_START.sub("", comment[: 2 * _MAX_LENGTH])
    text = _BLOCK_END.sub("", text)
    if "<summary>" in text:
        text = _CSHARP_TAG.sub("", text)
    return cleandoc(text).strip()[:_MAX_LENGTH]


def docstring_text(literal: str) -> str:
    """Return a docstring without its quotes."""
    match = _QUOTES.match(literal[: 2 * _MAX_LENGTH])
    text = match[2] if match else literal
    return cleandoc(text)[:_MAX_LENGTH].strip()
