"""Passages in the reply of another server's search tool.

Servers name the fields of a result in different ways. Each field is looked up under several names, first in the result
and then in its metadata. A reply without a list of results is one passage per block of text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ragstone.types import Metadata, RemotePassage

Result: TypeAlias = Mapping[str, Any]

MAX_PASSAGES: Final = 1000
MAX_CHARACTERS: Final = 100_000
"""Of one passage. A longer one is cut."""
_MAX_NAME: Final = 1000
_MAX_METADATA: Final = 50
_LISTS: Final = tuple(
    "results hits passages matches documents chunks items sources data result content".split()
)
_TEXTS: Final = tuple(
    "text content passage snippet chunk body page_content document excerpt summary".split()
)
_PATHS: Final = tuple(
    "path file file_path filepath filename source_file source_doc_id source uri url link "
    "document_id doc_id id".split()
)
_SCORES: Final = ("score", "similarity", "relevance", "relevance_score", "_score")
_FIRST_LINES: Final = ("line_start", "start_line", "first_line", "line")
_LAST_LINES: Final = ("line_end", "end_line", "last_line")
_LINES_IN_CITATION: Final = re.compile(r":(\d+)(?:-(\d+))?$")
_NUMBERS: Final = re.compile(r"\d+")


def read_passages(structured: object, texts: Sequence[str]) -> list[RemotePassage]:
    """Return the passages of a reply, from its structured content or else from its blocks of text."""
    passages = list(_passages(structured)) if structured is not None else []
    for text in texts if not passages else ():
        data = _parse(text)
        passages += _passages(data) if data is not None else _passages(text)
    return passages[:MAX_PASSAGES]


def _parse(text: str) -> object | None:
    """Return the list or object that a text is as JSON; None if it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data


def _passages(data: object) -> Iterator[RemotePassage]:
    """Yield the passages in a list of results, in an object that has such a list, or in a single result."""
    for result in _find_results(data):
        passage = _read_result(result)
        if passage is not None:
            yield passage


def _find_results(data: object) -> Sequence[object]:
    if isinstance(data, Mapping):
        for name in _LISTS:
            value = data.get(name)
            if isinstance(value, list):
                return value
            if isinstance(value, Mapping):
                return _find_results(value)
        return [data]
    return data if isinstance(data, list) else [data]


def _read_result(result: object) -> RemotePassage | None:
    """Return the passage of one result; None if it has no text."""
    if isinstance(result, str):
        return RemotePassage(result[:MAX_CHARACTERS]) if result.strip() else None
    if not isinstance(result, Mapping):
        return None
    metadata = result.get("metadata")
    places: list[Result] = [result]
    if isinstance(metadata, Mapping):
        places.append(metadata)
    text = _read_text(result)
    if not text.strip():
        return None
    first, last = _read_lines(places)
    return RemotePassage(
        text[:MAX_CHARACTERS],
        path=_read_name(places, _PATHS),
        line_start=first,
        line_end=last,
        page=_read_count(places, ("page", "page_number")),
        score=_read_score(places),
        title=_read_name(places, ("title", "name", "heading")),
        kind=_read_name(places, ("kind", "source_type", "type")),
        metadata=_read_metadata(metadata),
    )


def _read_text(result: Result) -> str:
    """Return the text of a result; blocks of text are joined."""
    for name in _TEXTS:
        value = result.get(name)
        blocks = value if isinstance(value, list) else [value]
        texts = [_block_text(block) for block in blocks]
        text = "\n\n".join(filter(None, texts))
        if text.strip():
            return text
    return ""


def _block_text(block: object) -> str:
    """Return a text, or the text in a block of content."""
    if isinstance(block, Mapping):
        block = block.get("text")
    return block if isinstance(block, str) else ""


def _read_name(places: Sequence[Result], names: Sequence[str]) -> str:
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())[:_MAX_NAME]
    return ""


def _read_count(places: Sequence[Result], names: Sequence[str]) -> int | None:
    """Return the first number from 1 on that one of these fields has."""
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value.isdecimal():
                value = int(value[:9])
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None


def _read_lines(places: Sequence[Result]) -> tuple[int | None, int | None]:
    """Return the first and the last line: from their own fields, from `lines`, or from the citation."""
    first = _read_count(places, _FIRST_LINES)
    if first is not None:
        return first, _read_count(places, _LAST_LINES) or first
    for place in places:
        numbers = _line_numbers(place.get("lines"))
        if not numbers:
            citation = _LINES_IN_CITATION.search(str(place.get("citation") or ""))
            numbers = (
                [int(number[:9]) for number in citation.groups() if number] if citation else []
            )
        if numbers:
            return numbers[0], max(numbers)
    return None, None


def _line_numbers(lines: object) -> list[int]:
    """Return the numbers in `3-9`, `[3, 9]` or `{"start": 3, "end": 9}`."""
    if isinstance(lines, Mapping):
        lines = [lines.get("start"), lines.get("end")]
    if isinstance(lines, str):
        return [int(number[:9]) for number in _NUMBERS.findall(lines)[:2]]
    if not isinstance(lines, list):
        return []
    return [line for line in lines[:2] if isinstance(line, int) and line > 0]


def _read_score(places: Sequence[Result]) -> float | None:
    """Return the score; a distance is turned around, so that higher is better."""
    for place in places:
        for name in _SCORES:
            if _is_number(place.get(name)):
                return float(place[name])
        if _is_number(place.get("distance")):
            return 1.0 - float(place["distance"])
    return None


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(float(str(value)))


def _read_metadata(metadata: object) -> Metadata:
    """Return the simple values of a result's metadata, the first few of them."""
    if not isinstance(metadata, Mapping):
        return {}
    simple = {
        str(key)[:_MAX_NAME]: value
        for key, value in metadata.items()
        if isinstance(value, str | int | float | bool)
    }
    return dict(list(simple.items())[:_MAX_METADATA])
