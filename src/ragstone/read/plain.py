"""Text as it is: source code, Markdown, configuration, data, plain text."""

from __future__ import annotations

import re

from ragstone.read.about import about, api_title, remark
from ragstone.read.encoding import decode_text
from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.types import Document, Metadata

_TITLE_WITHIN = 20_000
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"[ ]{0,3}(=+|-{2,})[ \t]*")
_SAY_NOTHING = frozenset({"code", "text", "data"})
_NOT_PROSE = ("-", "*", "+", ">", "|", "<", "=")


class PlainReader:
    """Reads any text file; the document's text is the file's, character by character."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the whole document, or raise `ReadError`."""
        text, encoding = decode_text(data)
        kind, language = kind_of(uri, data)
        title = heading(text) if language == "markdown" else api_title(text) if kind == "openapi" else ""
        known: Metadata = {} if kind in _SAY_NOTHING else about(kind, language, text)
        metadata = known if encoding == "utf-8" else {**known, "encoding": encoding}
        told = remark(language, text) if language == "json" else ""
        return Document(uri, text, kind, language, title or name_of(uri), metadata, remarks=(told,) if told else ())


def heading(text: str) -> str:
    """Return the first heading of a Markdown text, or the title its front matter gives, or nothing."""
    lines = text[:_TITLE_WITHIN].splitlines()
    if lines and lines[0].rstrip() == "---":
        end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
        named = next((line[6:].strip().strip("\"'") for line in lines[1:end] if line.startswith("title:")), "")
        return named or _first_heading(lines[end + 1 :])
    return _first_heading(lines)


def _first_heading(lines: list[str]) -> str:
    fence = before = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif fence:
            continue
        elif found := _HEADING.fullmatch(line):
            return found[1].rstrip().rstrip("#").rstrip()
        elif before and not before.startswith(_NOT_PROSE) and _UNDERLINE.fullmatch(line):
            return before
        before = "" if mark else line.strip()
    return ""
