"""What every door shows: our nouns as plain JSON, and our failures as the codes each door speaks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ragstone import errors
from ragstone.errors import RagstoneError

if TYPE_CHECKING:  # `--help` must not wait for two dozen dataclasses to be made
    from ragstone.types import (
        AddReport,
        Collection,
        Context,
        Explanation,
        Finding,
        Hit,
        Recalled,
        Skip,
        SpaceInfo,
        Spoken,
        Status,
        StoredDocument,
        SyncReport,
        Trace,
        Turn,
        WatchStatus,
    )

Json = dict[str, Any]

# ── failures ──────────────────────────────────────────────────────────────────────────────────────


class Codes(NamedTuple):
    """How one kind of failure is said: exit code of the command, HTTP status, MCP (JSON-RPC) error code."""

    exit: int
    http: int
    mcp: int
    meaning: str


OK: Final = 0
FOUND_WRONG: Final = 1
USAGE: Final = 2
PARTIAL: Final = 3
DISK: Final = 5
BUG: Final = 70
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

FAILURES: Final[Mapping[type[RagstoneError], Codes]] = {
    errors.RagstoneError: Codes(1, 500, -32603, "it failed"),
    errors.ConfigError: Codes(2, 500, -32603, "settings that cannot be used"),
    errors.MissingExtra: Codes(2, 501, -32603, "an optional package is not installed"),
    errors.InputError: Codes(2, 400, -32602, "an argument that makes no sense"),
    errors.NotFound: Codes(4, 404, -32002, "no such thing"),
    errors.Conflict: Codes(6, 409, -32009, "two truths meet"),
    errors.StaleSpace: Codes(6, 409, -32009, "vectors were made by another model or setting"),
    errors.ReadError: Codes(7, 422, -32602, "a file that cannot be turned into text"),
    errors.ProviderError: Codes(8, 502, -32010, "a model or a remote service failed"),
    errors.StoreError: Codes(5, 500, -32603, "the database cannot be opened, read or written"),
    errors.StoreBusy: Codes(75, 503, -32011, "another writer held the database for too long: try again"),
    errors.StoreDamaged: Codes(5, 500, -32603, "the database is damaged"),
    errors.StoreTooNew: Codes(5, 500, -32603, "the database was written by a newer Ragstone"),
    errors.QuotaError: Codes(9, 429, -32012, "a plan's limit is reached"),
    errors.AccessError: Codes(10, 403, -32013, "not allowed"),
}

EXIT_CODES: Final[Mapping[int, str]] = {
    OK: "all went well; no hits is well too",
    FOUND_WRONG: "`doctor` found something wrong, or a failure of no other kind",
    USAGE: "wrong input or settings",
    PARTIAL: "some of the work could not be done; the rest is stored",
    4: "no such document, collection or index",
    DISK: "the database or the disk cannot be used",
    6: "a conflict: vectors of another model",
    7: "a file that cannot be turned into text",
    8: "a model or a remote service failed",
    9: "a limit of the plan is reached",
    10: "not allowed",
    BUG: "a bug in Ragstone",
    75: "the database is busy: try again",
    INTERRUPTED: "interrupted; what was stored stays",
    PIPE_CLOSED: "the reader of the output went away",
}
"""Every exit code of the command and what it says."""


def codes(error: RagstoneError) -> Codes:
    """Return how a failure is said; a class of a plug-in is said as the nearest one above it."""
    return next(FAILURES[kind] for kind in type(error).__mro__ if kind in FAILURES)


def failure(error: RagstoneError) -> Json:
    """Return a failure as every door shows it."""
    return {"code": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}


# ── answers ───────────────────────────────────────────────────────────────────────────────────────


def hit(found: Hit, *, trace: bool = False) -> Json:
    """Return a hit in its public form, with how it came to its score where that is asked for."""
    shown: Json = {
        "doc_id": found.doc_id,
        "text": found.text,
        "score": found.score,
        "metadata": dict(found.metadata),
        "source_doc_id": found.source_doc_id,
        "chunk_index": found.chunk_index,
        "collection": found.collection,
        "path": found.source_doc_id,
        "place": found.place,
        "lines": [found.span.line_start, found.span.line_end],
        "page": found.span.page,
        "page_label": found.span.page_label,
        "unit": found.span.unit or ("page" if found.span.page is not None else ""),
        "span": [found.span.start, found.span.end],
        "distance": found.distance,
        "kind": found.kind,
        "language": found.language,
        "title": found.title,
        "symbol": found.symbol,
        "also_at": list(found.also_at),
        "freshness": found.freshness,
    }
    if trace:
        shown["trace"] = _trace(found.trace)
    return shown


def answer(told: Explanation, *, trace: bool = False) -> Json:
    """Return a search's hits and what a caller should know about them."""
    return {
        "success": True,
        "query": told.query,
        "results": [hit(found, trace=trace) for found in told.hits],
        "coverage": dict(told.coverage),
        "notes": list(told.notes),
        "milliseconds": round(told.milliseconds, 3),
    }


def explanation(told: Explanation) -> Json:
    """Return a search told in full."""
    return {
        **answer(told, trace=True),
        "query_type": told.query_type,
        "terms": list(told.terms),
        "weights": dict(told.weights),
        "candidates": told.candidates,
        "dropped": [{"doc_id": one.doc_id, "score": one.score, "reason": one.reason} for one in told.dropped],
    }


def context(made: Context) -> Json:
    """Return a context, what it cites and what it leaves out."""
    return {
        "success": True,
        "text": made.text,
        "format": made.format,
        "budget": made.budget,
        "tokens": made.tokens,
        "cited": [
            {"doc_id": one.doc_id, "place": one.place, "score": one.score, "whole": one.whole, "text": one.text}
            for one in made.cited
        ],
        "left_out": [{"doc_id": one.doc_id, "place": one.place, "reason": one.reason} for one in made.left_out],
        "sent_before": list(made.sent_before),
        "confidence": made.confidence,
        "needs_clarification": made.needs_clarification,
        "question": made.question,
        "notes": list(made.notes),
    }


def spoken(one: Spoken) -> Json:
    """Return an answer in words with its quotations."""
    return {
        "success": True,
        "found": one.found,
        "answer": one.text,
        "quotes": [
            {"number": quote.number, "words": quote.words, "place": quote.place, "found": quote.found}
            for quote in one.quotes
        ],
        "model": one.model,
        "notes": list(one.notes),
    }


def turn(one: Turn) -> Json:
    """Return a turn of a conversation."""
    return {
        "turn_index": one.index,
        "role": one.role,
        "speaker": one.speaker,
        "content": one.content,
        "time": one.time,
        "metadata": dict(one.metadata),
        "supersedes": list(one.supersedes),
        "because": one.because,
    }


def recalled(one: Recalled) -> Json:
    """Return a turn that answers, with what should be known about it."""
    return {
        **turn(one.turn),
        "score": one.score,
        "said_again": list(one.said_again),
        "superseded_by": one.superseded_by,
        "superseded_because": one.because,
        "boosts": [{"name": name, "factor": factor} for name, factor in one.boosts],
    }


def _trace(trace: Trace) -> Json:
    return {
        "lists": [
            {
                "name": one.name,
                "rank": one.rank,
                "score": one.score,
                "normalised": one.normalised,
                "weight": one.weight,
            }
            for one in trace.lists
        ],
        "boosts": [{"name": name, "factor": factor} for name, factor in trace.boosts],
        "merged": list(trace.merged),
        "fused": trace.fused,
        "confidence": trace.confidence,
    }


# ── reports ───────────────────────────────────────────────────────────────────────────────────────


def sync_report(report: SyncReport) -> Json:
    """Return the ledger of a sync."""
    return {
        "success": report.ok,
        "found": report.found,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
        "skipped": [_skip(one) for one in report.skipped],
        "remarks": [_skip(one) for one in report.remarks],
        "failed": [_skip(one) for one in report.failed],
        "removed": report.removed,
        "chunks_added": report.chunks_added,
        "chunks_kept": report.chunks_kept,
        "embedded": report.embedded,
        "pending": report.pending,
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
        "graph": report.graph and {"read": report.graph.read, "changed": dict(report.graph.changed)},
    }


def sync_summary(report: SyncReport) -> Json:
    """Return the ledger of a sync in numbers: what rides along with an answer should not outgrow it."""
    whole = sync_report(report)
    return {
        **{key: value for key, value in whole.items() if key != "notes"},
        "skipped": len(report.skipped),
        "failed": len(report.failed),
        "remarks": len(report.remarks),
    }


def _skip(one: Skip) -> Json:
    return {"uri": one.uri, "reason": one.reason}


def add_report(report: AddReport) -> Json:
    """Return what an `add` did."""
    return {
        "documents": report.documents,
        "chunks_added": report.chunks_added,
        "chunks_skipped": report.chunks_skipped,
        "embedded": report.embedded,
        "pending": report.pending,
        "per_document": [
            {
                "uri": one.uri,
                "chunks": one.added + one.kept,
                "added": one.added,
                "kept": one.kept,
                "removed": one.removed,
            }
            for one in report.per_document
        ],
        "remarks": [_skip(one) for one in report.remarks],
        "notes": list(report.notes),
    }


def document(stored: StoredDocument) -> Json:
    """Return a document as a listing shows it."""
    return {
        "uri": stored.uri,
        "collection": stored.collection,
        "kind": stored.kind,
        "language": stored.language,
        "title": stored.title,
        "metadata": dict(stored.metadata),
        "source": stored.source,
        "chunks": stored.chunks,
        "characters": stored.characters,
        "hash": stored.hash,
        "added_at": moment(stored.added_at),
    }


def finding(found: Finding) -> Json:
    """Return one thing a check looked at."""
    return {
        "name": found.name,
        "ok": found.ok,
        "level": level(found),
        "detail": found.detail,
        "hint": found.hint,
    }


def level(found: Finding) -> Literal["ok", "warning", "wrong"]:
    """Return how bad it is: what is well and has a hint all the same is a warning."""
    if not found.ok:
        return "wrong"
    return "warning" if found.hint else "ok"


def status(state: Status) -> Json:
    """Return the state of an index."""
    return {
        "home": state.home,
        "project": state.project,
        "enabled": state.enabled,
        "empty": state.documents == 0,
        "documents": state.documents,
        "chunks": state.chunks,
        "collections": [collection(one) for one in state.collections],
        "spaces": [_space(one) for one in state.spaces],
        "generation": state.generation,
        "last_sync": moment(state.last_sync),
        "waiting": state.waiting,
        "bytes_on_disk": state.bytes_on_disk,
    }


def watch_status(state: WatchStatus) -> Json:
    """Return how a watcher goes."""
    return {
        "running": state.running,
        "way": state.way,
        "last_sync": moment(state.last_sync),
        "indexed": state.indexed,
        "removed": state.removed,
        "failed": state.failed,
        "waiting": state.waiting,
        "pending": state.pending,
        "problem": state.problem,
    }


def collection(one: Collection) -> Json:
    """Return a collection as a listing shows it."""
    return {
        "uuid": one.uuid,
        "name": one.name,
        "description": one.description,
        "settings": dict(one.settings),
        "documents": one.documents,
        "chunks": one.chunks,
        "updated_at": moment(one.updated_at),
    }


def _space(one: SpaceInfo) -> Json:
    return {
        "embedder": one.space.embedder,
        "model": one.space.model,
        "dimension": one.space.dimension,
        "fingerprint": one.space.fingerprint,
        "storage": one.storage,
        "state": one.state,
        "texts": one.texts,
        "embedded": one.embedded,
        "coverage": one.coverage,
    }


def moment(seconds: float | None) -> str | None:
    """Return a time as text; None: there is none."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
