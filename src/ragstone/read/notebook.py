"""Notebooks: the cells in order, with code and its printed output between fences; pictures are left out."""

from __future__ import annotations

import json
import re
from typing import Final

from ragstone.errors import ReadError
from ragstone.read.encoding import decode_text
from ragstone.read.file_formats import name_of
from ragstone.read.markdown_writer import MarkdownWriter
from ragstone.read.plain import find_heading
from ragstone.types import Document

_TERMINAL_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}")

JsonObject = dict[str, object]


def read(data: bytes, uri: str) -> Document:
    """Return the cells of a notebook, or raise `ReadError`."""
    try:
        notebook = json.loads(decode_text(data).text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"no sound JSON: {error}", reason="damaged") from error
    cells = _find_cells(notebook)
    language = _find_language(notebook)
    writer = MarkdownWriter()
    for number, cell in enumerate(cells, 1):
        writer.mark(number, unit="cell")
        _write_cell(writer, cell, language)
    text = writer.text
    marks = tuple(mark for mark in writer.marks if mark.start < len(text))
    title = find_heading(text) or name_of(uri)
    remarks = () if text else ("no cell with text found",)
    return Document(uri, text, "notebook", language, title, {}, marks, remarks=remarks)


def _find_cells(notebook: object) -> list[JsonObject]:
    """Return the cells; in the third format they are inside worksheets."""
    content = _as_object(notebook)
    worksheets = content.get("worksheets")
    if not isinstance(content.get("cells"), list) and not isinstance(worksheets, list):
        raise ReadError("JSON, but no notebook", reason="damaged")
    sheets = [content]
    if "cells" not in content:
        sheets = [_as_object(sheet) for sheet in _as_list(worksheets)]
    cells: list[JsonObject] = []
    for sheet in sheets:
        cells += map(_as_object, _as_list(sheet.get("cells")))
    return cells


def _find_language(notebook: object) -> str:
    """Return the language of the kernel."""
    metadata = _as_object(_as_object(notebook).get("metadata"))
    for part, key in (
        ("kernelspec", "language"),
        ("language_info", "name"),
    ):
        name = _as_object(metadata.get(part)).get(key)
        if isinstance(name, str) and _LANGUAGE.fullmatch(name):
            return name.lower()
    return "python"


def _write_cell(writer: MarkdownWriter, cell: JsonObject, language: str) -> None:
    text = _join_lines(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "code":
        writer.write_code(text, language)
        for output in _as_list(cell.get("outputs")):
            output_text = _output_text(_as_object(output))
            writer.write_code(_TERMINAL_COLOUR.sub("", output_text), "text")
    elif kind == "heading":
        level = cell.get("level")
        writer.write_heading(level if isinstance(level, int) else 1, text)
    else:
        writer.write_block(text)


def _output_text(output: JsonObject) -> str:
    """Return the text of an output; empty for pictures."""
    if output.get("output_type") in ("error", "pyerr"):
        name = output.get("ename", "")
        value = output.get("evalue", "")
        return f"{name}: {value}"
    data = _as_object(output.get("data"))
    if data:
        return _join_lines(data.get("text/plain")) or _join_lines(data.get("text/markdown"))
    return _join_lines(output.get("text"))


def _join_lines(lines: object) -> str:
    """Return a text that is stored as one string or as a list of lines."""
    if isinstance(lines, str):
        return lines
    texts = [line for line in _as_list(lines) if isinstance(line, str)]
    return "".join(texts)


def _as_object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
