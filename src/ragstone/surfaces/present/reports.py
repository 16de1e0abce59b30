"""Reports of syncs, additions, watchers, checks and the index status as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from ragstone.surfaces.present import Json, format_time, pick
from ragstone.surfaces.present.documents import collection_json
from ragstone.surfaces.present.jobs import job_json

_LEAST_MONEY: Final = 0.0001
"""Dollars."""

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import (
        AddReport,
        Finding,
        SharedStatus,
        Skip,
        SpaceInfo,
        Status,
        SyncPlan,
        SyncReport,
        WatchStatus,
    )


def sync_report_json(report: SyncReport) -> Json:
    """Return the ledger of a sync with every skipped and failed file."""
    return {
        "success": report.ok,
        **pick(report, "found", "indexed", "unchanged"),
        "skipped": skips_json(report.skipped),
        "remarks": skips_json(report.remarks),
        "failed": skips_json(report.failed),
        **pick(report, "removed", "chunks_added", "chunks_kept", "embedded", "pending"),
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
        "graph": None if report.graph is None else pick(report.graph, "read", "changed"),
        "usage": pick(report.usage, "requests", "texts", "tokens", "cost"),
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
            **pick(result, "uri", "added", "kept", "removed"),
            "chunks": result.added + result.kept,
        }
        for result in report.per_document
    ]
    return {
        **pick(
            report,
            "documents",
            "chunks_added",
            "chunks_skipped",
            "embedded",
            "pending",
            "notes",
        ),
        "per_document": per_document,
        "remarks": skips_json(report.remarks),
        "failed": skips_json(report.failed),
        "usage": pick(report.usage, "requests", "texts", "tokens", "cost"),
    }


def skips_json(skips: Sequence[Skip]) -> list[Json]:
    """Return documents with the reasons why they were skipped or failed."""
    return [pick(skip, "uri", "reason") for skip in skips]


def finding_json(finding: Finding) -> Json:
    """Return one result of a check."""
    return {**pick(finding, "name", "ok", "detail", "hint"), "level": finding_level(finding)}


def finding_level(finding: Finding) -> Literal["ok", "warning", "wrong"]:
    """Return the severity; a sound finding with a hint is a warning."""
    if not finding.ok:
        return "wrong"
    return "warning" if finding.hint else "ok"


def status_json(status: Status) -> Json:
    """Return the state of an index."""
    return {
        **pick(
            status,
            "home",
            "project",
            "enabled",
            "documents",
            "chunks",
            "generation",
            "waiting",
            "bytes_on_disk",
            "sessions",
            "turns",
        ),
        "empty": status.documents == 0,
        "collections": [collection_json(collection) for collection in status.collections],
        "spaces": [_space_json(space) for space in status.spaces],
        "last_sync": format_time(status.last_sync),
        "background": pick(status.background, "running", "failure", "log"),
        "shared": _shared_json(status.shared),
    }


def _shared_json(shared: SharedStatus | None) -> Json | None:
    if shared is None:
        return None
    return {"jobs": [job_json(job) for job in shared.jobs], "replica": shared.replica}


def watch_status_json(status: WatchStatus) -> Json:
    """Return the state of a watcher."""
    return {
        **pick(
            status,
            "running",
            "way",
            "indexed",
            "removed",
            "failed",
            "waiting",
            "pending",
            "problem",
        ),
        "last_sync": format_time(status.last_sync),
    }


def _space_json(info: SpaceInfo) -> Json:
    return {
        **pick(info.space, "embedder", "model", "dimension", "fingerprint"),
        **pick(info, "storage", "state", "texts", "embedded", "coverage"),
    }


def describe_money(plan: SyncPlan) -> str:
    """Return the price of the vectors of a plan in words."""
    if plan.cost is None:
        return "no known price (embed.price sets one)"
    if not plan.cost:
        return "no money"
    if plan.cost < _LEAST_MONEY:
        return f"less than ${_LEAST_MONEY}"
    return f"${plan.cost:,.4f}"
