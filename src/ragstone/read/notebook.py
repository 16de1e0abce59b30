"""Notebooks: the cells in order, prose as it is, code and what it printed between fences; pictures are left out."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ragstone.errors import ReadError
from ragstone.read.encoding import decode_text
from ragstone.read.file_types import name_of
from ragstone.read.outline import Outline
from ragstone.read.plain import heading
from ragstone.types import Document

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def read(data: bytes, uri: str) -> Document:
    """Return the cells of a notebook, or raise `ReadError`."""
    try:
        book = json.loads(decode_text(data).text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"no sound JSON: {error}", reason="damaged") from error
    cells = _cells(book)
    language = _language(book)
    outline = Outline()
    for number, cell in enumerate(cells, 1):
        _write(outline, cell, number, language)
    text = outline.text
    marks = tuple(mark for mark in outline.marks if mark.start < len(text))
    remarks = () if text else ("no cell with text found",)
    return Document(uri, text, "notebook", language, heading(text) or name_of(uri), {}, marks, "", remarks)


def _cells(book: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - what JSON holds is seen by looking
    """Return the cells, of notebooks of the third format too."""
    if not isinstance(book, dict):
        raise ReadError("JSON, but no notebook", reason="damaged")
    found = book.get("cells")
    if found is None and isinstance(book.get("worksheets"), list):
        found = [
            cell
            for sheet in book["worksheets"]
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    if not isinstance(found, list):
        raise ReadError("JSON, but no notebook", reason="damaged")
    return [cell if isinstance(cell, dict) else {} for cell in found]


def _language(book: dict[str, Any]) -> str:
    """Return the language of the kernel."""
    about = book.get("metadata")
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        inner = about.get(part) if isinstance(about, dict) else None
        named = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(named, str) and re.fullmatch(r"[\w+#.-]{1,30}", named):
            return named.lower()
    return "python"


def _write(outline: Outline, cell: dict[str, Any], number: int, language: str) -> None:
    text = _joined(cell.get("source", cell.get("input")))
    outline.mark(number, unit="cell")
    if cell.get("cell_type") == "code":
        outline.code(text, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            outline.code(_COLOURS.sub("", _output(output)), "text")
    elif cell.get("cell_type") == "heading":
        outline.heading(int(cell["level"]) if isinstance(cell.get("level"), int) else 1, text)
    else:
        outline.block(text)


def _joined(lines: Any) -> str:  # noqa: ANN401 - a text or its lines, or neither
    if isinstance(lines, list):
        return "".join(line for line in lines if isinstance(line, str))
    return lines if isinstance(lines, str) else ""


def _output(output: Any) -> str:  # noqa: ANN401 - what JSON holds is seen by looking
    """Return what an output says in words."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    if isinstance(data, dict):
        return _joined(data.get("text/plain")) or _joined(data.get("text/markdown"))
    return _joined(output.get("text"))
