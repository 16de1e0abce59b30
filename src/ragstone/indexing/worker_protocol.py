"""What this process and the one beside it say to each other.

Texts travel once and as they are; chunks travel as where they stand in them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragstone.indexing.prepare import VERDICTS, Cut, Job, Outcome
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Chunk, Document, Item, Mark, Prepared, Span, Stamp

# ── what is to be done ────────────────────────────────────────────────────────────────────────────


def tell_job(job: Job) -> list[Any]:
    """Return all that opening, reading and cutting needs to know; what may change with every item is told with it."""
    paths = [os.fsencode(path).decode("latin-1") for path in (job.source.root, *job.source.never_open)]
    cut = [job.cut.chunker, job.cut.size, job.cut.overlap, job.cut.secrets]
    most, suffixes = job.source.documents
    return [paths, list(job.source.limits), [most, sorted(suffixes)], job.source.name, cut]


def hear_job(told: list[Any]) -> Job:
    """Return the job that was told."""
    paths, limits, (most, suffixes), name, cut = told
    root, *never = (Path(os.fsdecode(path.encode("latin-1"))) for path in paths)
    documents = (most, frozenset(suffixes))
    source = FolderSource(root, limits=(limits[0], limits[1]), documents=documents, never_open=never, name=name)
    return Job(source, Cut(*cut), {})


def tell_items(items: Sequence[Item], job: Job) -> list[Any]:
    """Return items, each with the content hash that means nothing has changed."""
    return [[item.uri, _stamp_fields(item.stamp), job.unchanged.get(item.uri)] for item in items]


def hear_items(told: list[Any]) -> tuple[list[Item], dict[str, str]]:
    """Return the items that were told, and the content hashes known of them."""
    items = [Item(uri, Stamp(*stamp)) for uri, stamp, _ in told]
    return items, {uri: known for uri, _, known in told if known}


# ── what became of it ─────────────────────────────────────────────────────────────────────────────


def tell_outcomes(outcomes: Sequence[Outcome | None]) -> tuple[list[Any], bytes]:
    """Return what became of items, and their texts; None for one that is left to whoever asked."""
    told: list[Any] = []
    texts: list[bytes] = []
    for outcome in outcomes:
        if outcome is None:
            told.append(None)
            continue
        document: list[Any] | None = None
        if outcome.prepared is not None:
            texts.append(outcome.prepared.document.text.encode("utf-8", "surrogatepass"))
            document = _document_fields(outcome.prepared, len(texts[-1]))
        stamp = None if outcome.stamp is None else _stamp_fields(outcome.stamp)
        told.append([outcome.uri, outcome.verdict, stamp, outcome.reason, document])
    return told, b"".join(texts)


def hear_outcomes(told: list[Any], texts: bytes, job: Job) -> list[Outcome | None]:
    """Return what became of the items; `ValueError` and its like if that makes no sense."""
    found: list[Outcome | None] = []
    at, recipe = 0, job.cut.recipe
    for one in told:
        if one is None:
            found.append(None)
            continue
        uri, verdict, stamp_fields, reason, fields = one
        stamp = None if stamp_fields is None else Stamp(*stamp_fields)
        if verdict not in VERDICTS or (fields is None) == (verdict == "ready"):
            raise ValueError("an outcome that is none")
        if fields is None:
            found.append(Outcome(uri, verdict, stamp, None, reason))
            continue
        size, *about, content_hash, chunks = fields
        document = _document(uri, texts[at : at + size].decode("utf-8", "surrogatepass"), about)
        at += size
        cut = tuple(_chunk(document.text, order, chunk) for order, chunk in enumerate(chunks))
        ready = Prepared(document, cut, job.source.name, stamp, recipe, content_hash)
        found.append(Outcome(uri, verdict, stamp, ready, reason))
    return found


def _stamp_fields(stamp: Stamp) -> list[int]:
    return [stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode]


def _document_fields(prepared: Prepared, size: int) -> list[Any]:
    document = prepared.document
    marks = [(mark.start, mark.number, mark.label, mark.unit) for mark in document.marks]
    about = [document.kind, document.language, document.title, dict(document.metadata), marks]
    about += [document.beside, document.remarks]
    return [size, *about, prepared.content_hash, [_chunk_fields(chunk) for chunk in prepared.chunks]]


def _document(uri: str, text: str, about: list[Any]) -> Document:
    kind, language, title, metadata, marks, beside, remarks = about
    marked = tuple(Mark(*mark) for mark in marks)
    return Document(uri, text, kind, language, title, metadata, marked, beside, tuple(remarks))


def _chunk_fields(chunk: Chunk) -> list[Any]:
    span = chunk.span
    where = [span.start, span.end, span.byte_start, span.byte_end, span.line_start, span.line_end]
    return [chunk.kind, chunk.symbol, chunk.header, *where, span.page, span.page_label, span.unit]


def _chunk(text: str, order: int, fields: list[Any]) -> Chunk:
    kind, symbol, header, *where = fields
    return Chunk(text[where[0] : where[1]], Span(*where), order, kind, symbol, header)
