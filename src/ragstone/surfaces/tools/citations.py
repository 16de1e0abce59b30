"""Finds the document and the lines that a citation names: `a.md:3-9`, `a.md:3,7-9`, `a.pdf p.4`, `deck.pptx slide 3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.indexing.collection import skip_reason
from ragstone.retrieval.context.fence import reveal_hidden
from ragstone.retrieval.context.formatters import one_line
from ragstone.types import Span

_CITED_LINES: Final = re.compile(r"(?P<path>.+?):(?P<lines>\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)")
_REMARK: Final = re.compile(r" \([^()]*\)$")
"""A remark after a place, such as `p.9 (page 11 of 40)` or `routes/api.php:10 (route)`."""
_MEMORY_PREFIX: Final = "memory:"
_TEXT_LINES: Final = re.compile(r", text lines? (?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?$")
_PAGE: Final = re.compile(r"p\.(?P<number>\d{1,9})")
_MAX_SPLITS: Final = 40
"""Spaces of a citation that are tried as the end of its path."""
_MAX_PAGES: Final = 5


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document of the index, and the first and last line that a citation of it names."""

    uri: str
    collection: str
    text: str
    first: int | None = None
    last: int | None = None


def find_cited(engine: Engine, citation: str, collection: str | None = None) -> CitedDocument:
    """Return the document that a path or a citation names; `NotFound` with similar paths if there is none."""
    names = [collection]
    if collection is None:
        names = [stored.name for stored in engine.admin.collections()]
    path = relative_path(engine, citation)
    for uri, place in _readings(path):
        for name in names:
            text = engine.admin.text(uri, collection=name)
            if text is not None and name is not None:
                return _document_at(engine, CitedDocument(uri, name, text), place)
    cited = _CITED_LINES.fullmatch(path)
    name = cited["path"] if cited else path
    raise NotFound(
        f"the index has no document {one_line(citation)!r}",
        hint=_explain_missing(engine, name, collection),
    )


def _explain_missing(engine: Engine, path: str, collection: str | None) -> str:
    """Return why a path has no document: its file is skipped, or the path is written differently."""
    if path.startswith(_MEMORY_PREFIX):
        return "rag_memory_search finds messages"
    reason = skip_reason(engine.settings, path)
    if reason:
        return f"the file is skipped: {reason}"
    uris = [document.uri for document in engine.sources(collection=collection)]
    similar = get_close_matches(path, uris, n=3)
    if similar:
        return f"similar are {', '.join(similar)}"
    return "rag_search finds the paths of the index"


def pages_of_lines(
    engine: Engine, document: CitedDocument, first: int, last: int
) -> list[Span | None]:
    """Return for each line the span with its page, slide, sheet, chapter, cell or section; None if it has none.

    A line between two spans belongs to the span before it.
    """
    nearest: Span | None = None
    on_line: dict[int, Span] = {}
    for span in _spans(engine, document):
        if span.line_start <= first:
            nearest = span
        for line in range(max(first, span.line_start), min(last, span.line_end) + 1):
            on_line.setdefault(line, span)
    pages: list[Span | None] = []
    for line in range(first, last + 1):
        nearest = on_line.get(line, nearest)
        pages.append(_with_page(nearest))
    return pages


def _with_page(span: Span | None) -> Span | None:
    """Return a span that has a page, or None."""
    if span is None or span.page is None:
        return None
    return span


def relative_path(engine: Engine, path: str) -> str:
    """Return a path as documents are named: relative to the folder, with slashes."""
    base = engine.settings.base.as_posix().rstrip("/")
    return path.replace("\\", "/").removeprefix(f"{base}/").removeprefix("./")


def _readings(path: str) -> Iterator[tuple[str, str]]:
    """Give each way to read a citation as the name of a document and a place in it, the longest name first."""
    yield path, ""
    cited = _CITED_LINES.fullmatch(_REMARK.sub("", path))
    if cited is not None:
        yield cited["path"], f":{cited['lines']}"
    spaces = [position for position, letter in enumerate(path) if letter == " "]
    for position in reversed(spaces[:_MAX_SPLITS]):
        if 0 < position < len(path) - 1:
            yield path[:position], path[position + 1 :]


def _document_at(engine: Engine, document: CitedDocument, place: str) -> CitedDocument:
    """Return the document with the lines of a place in it."""
    if not place:
        return document
    if place.startswith(":"):
        numbers = [int(number) for number in re.findall(r"\d+", place)]
        first, last = numbers[0], numbers[-1]
    else:
        first, last = _lines_of_page(engine, document, place)
    return CitedDocument(document.uri, document.collection, document.text, first, last)


def _lines_of_page(engine: Engine, document: CitedDocument, place: str) -> tuple[int, int]:
    """Return the lines of a page, slide, sheet, chapter, cell or section; `NotFound` if there is no such place.

    A citation that ends with lines of the text names these.
    """
    spans = _spans(engine, document)
    lines = _TEXT_LINES.search(place)
    place = _TEXT_LINES.sub("", place)
    position = _find_page(spans, place)
    if position is None:
        hint = f"it has {_list_pages(spans) or 'no pages or sections'}"
        raise NotFound(f"{one_line(document.uri)} has no {one_line(place)}", hint=hint)
    if lines is not None:
        return int(lines["first"]), int(lines["last"] or lines["first"])
    first = last = spans[position]
    for span in spans[position:]:
        if _place_of(span) != _place_of(first):
            break
        last = span
    return first.line_start, last.line_end


def _list_pages(spans: Sequence[Span]) -> str:
    """Return the names of the first pages in words; empty if there are none."""
    pages = list(dict.fromkeys(_place_of(span) for span in spans if span.page is not None))
    more = " …" if len(pages) > _MAX_PAGES else ""
    return f"{', '.join(pages[:_MAX_PAGES])}{more}"


def _find_page(spans: Sequence[Span], place: str) -> int | None:
    """Return the position of the first span with this citation.

    The number of a page in the file is accepted too, if no page has it as its label.
    """
    plain_place = _REMARK.sub("", place)
    position = _find_place(spans, place, plain_place)
    if position is not None:
        return position
    number = _PAGE.fullmatch(plain_place)
    pages = [span.page for span in spans]
    has_units = any(span.unit for span in spans)
    if number is None or has_units or int(number["number"]) not in pages:
        return None
    return pages.index(int(number["number"]))


def _find_place(spans: Sequence[Span], *names: str) -> int | None:
    """Return the position of the first span that is cited by one of the names, with its remark or without."""
    places = [reveal_hidden(_place_of(span)) for span in spans]
    plain_places = [_REMARK.sub("", place) for place in places]
    for name in map(reveal_hidden, names):
        if name in places:
            return places.index(name)
        if name in plain_places:
            return plain_places.index(name)
    return None


def _place_of(span: Span) -> str:
    """Return the citation of a span without the name of its document."""
    return span.cite_place("").strip()


def _spans(engine: Engine, document: CitedDocument) -> list[Span]:
    chunks = engine.admin.chunks(document.uri, collection=document.collection)
    return [stored.chunk.span for stored in chunks]
