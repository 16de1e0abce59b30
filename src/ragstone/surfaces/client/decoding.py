"""The JSON of a server as the types that `Engine` returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from ragstone import types
from ragstone.surfaces.present import Json

Item = TypeVar("Item")


def read_list(decode: Callable[[Json], Item], data: Sequence[Json]) -> tuple[Item, ...]:
    """Return a list of JSON objects as a tuple."""
    return tuple(decode(item) for item in data)


def read_hit(data: Json) -> types.Hit:
    """Return a hit; without the header, which is never shown."""
    trace = data.get("trace")
    return types.Hit(
        doc_id=data["doc_id"],
        text=data["text"],
        score=data["score"],
        metadata=data["metadata"],
        source_doc_id=data["source_doc_id"],
        chunk_index=data["chunk_index"],
        collection=data["collection"],
        span=_read_span(data),
        kind=data["kind"],
        language=data["language"],
        title=data["title"],
        symbol=data["symbol"],
        duplicates=tuple(data["also_at"]),
        trace=_read_trace(trace) if trace else types.Trace(path=_read_path(data)),
        freshness=data["freshness"],
        label=data.get("label", ""),
        ingested_at=data["ingested_at"],
        slices=read_list(_read_slice, data.get("slices", ())),
    )


def read_explanation(data: Json) -> types.Explanation:
    """Return a search with its explanation, as far as the server sends it."""
    return types.Explanation(
        query=data["query"],
        query_type=data.get("query_type", ""),
        terms=tuple(data.get("terms", ())),
        weights=data.get("weights", {}),
        coverage=data["coverage"],
        candidates=data.get("candidates", 0),
        hits=read_list(read_hit, data["results"]),
        dropped=read_list(_read_dropped, data.get("dropped", ())),
        notes=tuple(data["notes"]),
        milliseconds=data["milliseconds"],
        suggestion=data.get("suggestion", ""),
        downgraded=tuple(data.get("downgraded", ())),
    )


def read_retrieval(data: Json) -> types.Retrieval:
    """Return the answer to a question about code."""
    answer = data["answer"]
    return types.Retrieval(
        query=data["query"],
        chunks=read_list(read_hit, data["chunks"]),
        answer=_read_graph_answer(answer) if answer else None,
        debug=data["debug"],
        notes=tuple(data.get("notes", ())),
        downgraded=tuple(data.get("downgraded", ())),
    )


def read_context(data: Json) -> types.Context:
    """Return a context with its citations."""
    return types.Context(
        text=data["text"],
        format=data["format"],
        budget=data["budget"],
        tokens=data["tokens"],
        cited=read_list(_read_cited, data["cited"]),
        left_out=read_list(_read_left_out, data["left_out"]),
        sent_before=tuple(data["sent_before"]),
        confidence=data["confidence"],
        needs_clarification=data["needs_clarification"],
        question=data["question"],
        notes=tuple(data["notes"]),
        downgraded=tuple(data.get("downgraded", ())),
    )


def read_add_report(data: Json) -> types.AddReport:
    """Return the report of an `add`."""
    results = [
        types.PutResult(result["uri"], result["added"], result["kept"], result["removed"])
        for result in data["per_document"]
    ]
    return types.AddReport(
        documents=data["documents"],
        chunks_added=data["chunks_added"],
        chunks_skipped=data["chunks_skipped"],
        embedded=data["embedded"],
        pending=data["pending"],
        per_document=tuple(results),
        notes=tuple(data["notes"]),
        remarks=read_list(_read_skip, data["remarks"]),
        failed=read_list(_read_skip, data.get("failed", ())),
    )


def read_sync_report(data: Json) -> types.SyncReport:
    """Return the ledger of a sync."""
    return types.SyncReport(
        found=data["found"],
        indexed=data["indexed"],
        unchanged=data["unchanged"],
        skipped=read_list(_read_skip, data["skipped"]),
        failed=read_list(_read_skip, data["failed"]),
        removed=data["removed"],
        chunks_added=data["chunks_added"],
        chunks_kept=data["chunks_kept"],
        embedded=data["embedded"],
        pending=data["pending"],
        seconds=data["seconds"],
        notes=tuple(data["notes"]),
        remarks=read_list(_read_skip, data["remarks"]),
    )


def read_document(data: Json) -> types.StoredDocument:
    """Return a stored document; without its stamp, which is the server's."""
    return types.StoredDocument(
        uri=data["uri"],
        collection=data["collection"],
        kind=data["kind"],
        language=data["language"],
        title=data["title"],
        metadata=data["metadata"],
        source=data["source"],
        chunks=data["chunks"],
        characters=data["characters"],
        hash=data["hash"],
        stamp=None,
        added_at=_read_time(data["added_at"]) or 0.0,
    )


def read_turn(session: str, data: Json) -> types.Turn:
    """Return a message of a conversation."""
    return types.Turn(
        session=session,
        index=data["turn_index"],
        role=data["role"],
        content=data["content"],
        time=data["time"],
        speaker=data["speaker"],
        metadata=data["metadata"],
        supersedes=tuple(data["supersedes"]),
        because=data["because"],
    )


def read_recalled(session: str, data: Json) -> types.Recalled:
    """Return a recalled message with its score."""
    boosts = [(boost["name"], boost["factor"]) for boost in data["boosts"]]
    return types.Recalled(
        turn=read_turn(session, data),
        score=data["score"],
        said_again=tuple(data["said_again"]),
        superseded_by=data["superseded_by"],
        because=data["superseded_because"],
        boosts=tuple(boosts),
    )


def read_status(data: Json) -> types.Status:
    """Return the state of an index; the server keeps its path and size to itself if others share it."""
    return types.Status(
        home=data.get("home", ""),
        project=data["project"],
        enabled=data["enabled"],
        collections=tuple(
            _read_collection(data["project"], collection) for collection in data["collections"]
        ),
        documents=data["documents"],
        chunks=data["chunks"],
        spaces=read_list(_read_space, data["spaces"]),
        generation=data["generation"],
        last_sync=_read_time(data["last_sync"]),
        bytes_on_disk=data.get("bytes_on_disk", 0),
        waiting=data["waiting"],
        sessions=data.get("sessions", 0),
        turns=data.get("turns", 0),
    )


def _read_span(data: Json) -> types.Span:
    start, end = data["span"]
    byte_start, byte_end = data["bytes"]
    line_start, line_end = data["lines"]
    unit = "" if data["unit"] == "page" else data["unit"]
    page_label = data["page_label"]
    return types.Span(
        start, end, byte_start, byte_end, line_start, line_end, data["page"], page_label, unit
    )


def _read_trace(data: Json) -> types.Trace:
    lists = [types.ListTrace(**entry) for entry in data["lists"]]
    boosts = [(boost["name"], boost["factor"]) for boost in data["boosts"]]
    return types.Trace(
        lists=tuple(lists),
        boosts=tuple(boosts),
        merged=tuple(data["merged"]),
        fused=data["fused"],
        confidence=data["confidence"],
        path=_read_path(data),
    )


def _read_path(data: Json) -> tuple[types.PathStep, ...]:
    return tuple(types.PathStep(**step) for step in data.get("graph_path", ()))


def _read_dropped(data: Json) -> types.Dropped:
    return types.Dropped(data["doc_id"], data["score"], data["reason"], data["citation"])


def _read_skip(data: Json) -> types.Skip:
    return types.Skip(data["uri"], data["reason"])


def _read_cited(data: Json) -> types.Cited:
    cited = types.Cited(
        doc_id=data["doc_id"],
        citation=data["place"],
        text=data["text"],
        score=data["score"],
        uri=data["source_doc_id"],
        chunk_index=data["chunk_index"],
        span=_read_span(data),
        whole=data["whole"],
        kind=data["kind"],
        slices=read_list(_read_slice, data.get("slices", ())),
    )
    if data.get("summary"):
        first, last = data["lines"]
        return replace(cited, summary_file=data["path"], summary_lines=(first, last))
    return cited


def _read_slice(data: Json) -> types.Slice:
    return types.Slice(data["text"], _read_span(data))


def _read_left_out(data: Json) -> types.LeftOut:
    return types.LeftOut(data["doc_id"], data["place"], data["reason"])


def _read_graph_answer(data: Json) -> types.GraphAnswer:
    evidence = [place.rpartition(":") for place in data["evidence"]]
    return types.GraphAnswer(
        intent=data["intent"],
        said=data["said"],
        facts=data["facts"],
        nodes=read_list(_read_node, data["nodes"]),
        evidence=tuple((path, int(line)) for path, _, line in evidence),
        confidence=data["confidence"],
        negative=data["negative"],
        looked_in=tuple(data["looked_in"]),
    )


def _read_node(data: Json) -> types.Node:
    uri, _, line = data["place"].rpartition(":")
    if not line.isdigit():
        uri, line = data["place"], "0"
    return types.Node(
        data["key"],
        data["kind"],
        data["name"],
        uri,
        int(line),
        collection=data["collection"],
    )


def _read_collection(project: str, data: Json) -> types.Collection:
    return types.Collection(
        uuid=data["uuid"],
        project=project,
        name=data["name"],
        description=data["description"],
        settings=data["settings"],
        documents=data["documents"],
        chunks=data["chunks"],
        updated_at=_read_time(data["updated_at"]),
    )


def _read_space(data: Json) -> types.SpaceInfo:
    space = types.Space(data["embedder"], data["model"], data["dimension"])
    return types.SpaceInfo(
        0, space, data["storage"], data["state"], data["texts"], data["embedded"]
    )


def _read_time(text: str | None) -> float | None:
    if text is None:
        return None
    return datetime.fromisoformat(text).timestamp()
