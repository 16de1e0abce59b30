"""Reports of syncs, additions, watchers, checks and the index status as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from ragstone.surfaces.present import Json, format_time
from ragstone.surfaces.present.documents import collection_json

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import AddReport, Finding, Skip, SpaceInfo, Status, SyncReport, WatchStatus


def sync_report_json(report: SyncReport) -> Json:
    """Return the ledger of a sync with every skipped and failed file."""
    graph = None
    if report.graph is not None:
        graph = {"read": report.graph.read, "changed": dict(report.graph.changed)}
    return {
        "success": report.ok,
        "found": report.found,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
        "skipped": [_skip_json(skip) for skip in report.skipped],
        "remarks": [_skip_json(remark) for remark in report.remarks],
        "failed": [_skip_json(failure) for failure in report.failed],
        "removed": report.removed,
        "chunks_added": report.chunks_added,
        "chunks_kept": report.chunks_kept,
        "embedded": report.embedded,
        "pending": report.pending,
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
        "graph": graph,
    }


def sync_summary_json(report: SyncReport) -> Json:
    """Return the ledger of a sync in numbers only: it accompanies an answer."""
    summary = sync_report_json(report)
    del summary["notes"]
    for name in ("skipped", "failed", "remarks"):
        summary[name] = len(summary[name])
    return summary


def add_report_json(report: AddReport) -> Json:
    """Return the result of an `add`."""
    per_document = [
        {
            "uri": result.uri,
            "chunks": result.added + result.kept,
            "added": result.added,
            "kept": result.kept,
            "removed": result.removed,
        }
        for result in report.per_document
    ]
    return {
        "documents": report.documents,
        "chunks_added": report.chunks_added,
        "chunks_skipped": report.chunks_skipped,
        "embedded": report.embedded,
        "pending": report.pending,
        "per_document": per_document,
        "remarks": [_skip_json(remark) for remark in report.remarks],
        "notes": list(report.notes),
    }


def finding_json(finding: Finding) -> Json:
    """Return one result of a check."""
    return {**asdict(finding), "level": finding_level(finding)}


def finding_level(finding: Finding) -> Literal["ok", "warning", "wrong"]:
    """Return the severity; a sound finding with a hint is a warning."""
    if not finding.ok:
        return "wrong"
    return "warning" if finding.hint else "ok"


def status_json(status: Status) -> Json:
    """Return the state of an index."""
    return {
        "home": status.home,
        "project": status.project,
        "enabled": status.enabled,
        "empty": status.documents == 0,
        "documents": status.documents,
        "chunks": status.chunks,
        "collections": [collection_json(collection) for collection in status.collections],
        "spaces": [_space_json(space) for space in status.spaces],
        "generation": status.generation,
        "last_sync": format_time(status.last_sync),
        "waiting": status.waiting,
        "bytes_on_disk": status.bytes_on_disk,
    }


def watch_status_json(status: WatchStatus) -> Json:
    """Return the state of a watcher."""
    return {**asdict(status), "last_sync": format_time(status.last_sync)}


def _skip_json(skip: Skip) -> Json:
    return {"uri": skip.uri, "reason": skip.reason}


def _space_json(info: SpaceInfo) -> Json:
    return {
        "embedder": info.space.embedder,
        "model": info.space.model,
        "dimension": info.space.dimension,
        "fingerprint": info.space.fingerprint,
        "storage": info.storage,
        "state": info.state,
        "texts": info.texts,
        "embedded": info.embedded,
        "coverage": info.coverage,
    }
