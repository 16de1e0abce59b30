"""Plain text files: source code, Markdown, configuration, data. Their text stays unchanged."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ragstone.read.document_kinds import (
    extract_metadata,
    find_api_title,
    is_json,
    kind_of,
    refine_kind,
)
from ragstone.read.encoding import decode_text
from ragstone.read.file_formats import name_of
from ragstone.read.generated_text import is_generated
from ragstone.types import Document
from ragstone.types.documents import CODE, GENERATED

_MAYBE_GENERATED: Final = frozenset({CODE, "config", "data", "doc", "text"})
_TITLE_WITHIN: Final = 20_000
_FENCE: Final = re.compile(r"[ ]{0,3}(```|~~~)")
_HEADING: Final = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(=+|-{2,})[ \t]*")
_NOT_PROSE: Final = ("-", "*", "+", ">", "|", "<", "=")


class PlainReader:
    """Reads any text file; the document's text is the file's, character by character."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document, or raise `ReadError`."""
        text, encoding = decode_text(data)
        kind, language = kind_of(uri, data)
        kind = refine_kind(kind, language, uri, text)
        if kind in _MAYBE_GENERATED and is_generated(kind, text):
            kind = GENERATED
        metadata = dict(extract_metadata(kind, language, text))
        if encoding != "utf-8":
            metadata["encoding"] = encoding
        title = _find_title(kind, language, text) or name_of(uri)
        remark = describe_syntax_error(language, text)
        remarks = (remark,) if remark else ()
        return Document(uri, text, kind, language, title, metadata, remarks=remarks)


def _find_title(kind: str, language: str, text: str) -> str:
    if language == "markdown":
        return find_heading(text)
    if kind == "openapi":
        return find_api_title(text)
    return ""


def find_heading(text: str) -> str:
    """Return the title in the front matter of a Markdown text, or its first heading; empty if there is none."""
    lines = text[:_TITLE_WITHIN].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return _first_heading(lines)
    end = 0
    for index, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            end = index
            break
    for line in lines[1:end]:
        title = line[6:].strip().strip("\"'")
        if line.startswith("title:") and title:
            return title
    return _first_heading(lines[end + 1 :])


def _first_heading(lines: Sequence[str]) -> str:
    fence = line_before = ""
    for line in lines:
        fence_match = _FENCE.match(line)
        if fence_match and fence in ("", fence_match[1]):
            fence = "" if fence else fence_match[1]
        elif not fence:
            title = _heading_at(line, line_before)
            if title is not None:
                return title
        line_before = "" if fence_match else line.strip()
    return ""


def _heading_at(line: str, line_before: str) -> str | None:
    """Return the title of a line with marks, or of the line before an underline; None if neither is a heading."""
    heading = _HEADING.fullmatch(line)
    if heading:
        return heading[1].rstrip().rstrip("#").rstrip()
    if not line_before or line_before.startswith(_NOT_PROSE):
        return None
    if _UNDERLINE.fullmatch(line):
        return line_before
    return None


_MAX_CHARACTERS: Final = 300_000
"""A longer YAML or TOML file is not checked: its parsers read about a megabyte in a second."""
_LINE: Final = re.compile(r"at line ([0-9]+)")


def describe_syntax_error(language: str, text: str) -> str:
    """Return a remark if the text does not parse in its language; empty if it does, or the language is another."""
    check = _CHECKS.get(language)
    if check is None or not text.strip():
        return ""
    return check(text)


def _check_json(text: str) -> str:
    return "" if is_json(text) else "no sound JSON: cut by lines"


def _check_yaml(text: str) -> str:
    if len(text) > _MAX_CHARACTERS:
        return ""
    # PyYAML loads here: few processes that read files meet a YAML file.
    from ragstone.config.yaml_file import find_yaml_error

    line = find_yaml_error(text)
    if line is None:
        return ""
    return f"no sound YAML:{_place(line)} cut by its indentation"


def _place(line: int) -> str:
    return f" line {line};" if line else ""


def _check_toml(text: str) -> str:
    if len(text) > _MAX_CHARACTERS:
        return ""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = _LINE.search(str(error))
        return f"no sound TOML:{_place(int(line[1]) if line else 0)} cut by its tables"
    return ""


_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    "json": _check_json,
    "yaml": _check_yaml,
    "toml": _check_toml,
}
