"""Keys and usage as JSON."""

from __future__ import annotations

from ragstone.access.keys import is_active
from ragstone.access.plans import Plan
from ragstone.surfaces.present import Json, format_time, pick
from ragstone.types import SearchStats, StoredKey, Usage


def key_json(key: StoredKey) -> Json:
    """Return a key without its digest."""
    return {
        **pick(key, "id", "project", "name", "scopes"),
        "active": is_active(key),
        "created_at": format_time(key.created_at),
        "expires_at": format_time(key.expires_at),
        "revoked_at": format_time(key.revoked_at),
    }


def stats_json(stats: SearchStats) -> Json:
    """Return how an index was used."""
    return {
        **pick(
            stats,
            "searches",
            "for_hits",
            "with_hits",
            "tokens_returned",
            "tokens_of_files",
            "tokens_saved",
        ),
        "hit_rate": round(stats.hit_rate, 4),
        "median_milliseconds": round(stats.median_milliseconds, 3),
        "slow_milliseconds": round(stats.slow_milliseconds, 3),
        "since": format_time(stats.since),
    }


def usage_json(usage: Usage, plan: Plan | None) -> Json:
    """Return how much a project stores, and the limits of its plan."""
    data: Json = pick(
        usage,
        "collections",
        "documents",
        "chunks",
        "largest_collection",
        "sessions",
        "turns",
        "longest_session",
    )
    if plan is None:
        return {"usage": data, "plan": None}
    limits = pick(plan.limits, "collections", "chunks", "turns")
    return {
        "usage": data,
        "plan": {"name": plan.name, "limits": limits, "options": sorted(plan.flags)},
    }
