"""How answers from the graph are scored against what a framework itself says, and against questions read by people."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NOTES = frozenset({"not_these"})
"""Parts of an answer that explain it to a reader: nothing to compare with."""
IN_ORDER = frozenset({"middleware"})
FIELDS = ("methods", "uri", "name", "action", "middleware", "excluded", "binding_fields")


def question(
    gold: Mapping[str, Any], facts: Mapping[str, Any] | None, *, negative: bool
) -> dict[str, float]:
    """Return the score of every part of an answer; no answer scores nothing, and `none` only counts when it is said."""
    wanted = {name: value for name, value in gold.items() if name not in NOTES}
    if facts is None:
        return dict.fromkeys(wanted, 0.0)
    none_meant = any(
        value is None
        for name, value in gold.items()
        if name in ("policy", "observer", "request", "table")
    )
    if none_meant and not negative:
        return dict.fromkeys(wanted, 0.0)
    return {
        name: part(name, value, facts.get(name), there=name in facts)
        for name, value in wanted.items()
    }


def part(name: str, gold: Any, found: Any, *, there: bool) -> float:  # noqa: ANN401 - any JSON value
    """Return the score of one part: order counts for middleware, lists are sets, all else is equal or wrong."""
    if not there:
        return 0.0
    if name in IN_ORDER:
        return float(gold == found)
    if isinstance(gold, list):
        return list_f1(gold, found if isinstance(found, list) else [])
    if isinstance(gold, dict):
        return list_f1(
            [[key, gold[key]] for key in gold],
            [[key, value] for key, value in (found or {}).items()],
        )
    return float(gold == found)


def list_f1(gold: Sequence[Any], found: Sequence[Any]) -> float:
    """Return the F1 of two lists as sets; of objects only what the right ones have is compared."""
    keys = sorted({key for one in gold if isinstance(one, dict) for key in one})
    return f1({canonical(one, keys) for one in gold}, {canonical(one, keys) for one in found})


def canonical(value: Any, keys: Sequence[str]) -> str:  # noqa: ANN401 - any JSON value
    """Return a value so that equal ones are the same; inside objects lists are sets."""
    if isinstance(value, dict):
        return repr([(key, canonical(value.get(key), ())) for key in keys or sorted(value)])
    if isinstance(value, list):
        return repr(sorted(canonical(one, ()) for one in value))
    return repr(value)


def f1(gold: set[Any], found: set[Any]) -> float:
    """Return the harmonic mean of precision and recall; two empty sets are equal."""
    if not gold and not found:
        return 1.0
    both = len(gold & found)
    return 2 * both / (len(gold) + len(found))


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None of nothing."""
    held = list(values)
    return round(statistics.fmean(held), 4) if held else None


# ── routes and columns ────────────────────────────────────────────────────────────────────────────


def routes(
    oracle: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return how many routes are exactly the framework's own, and every one that is not."""
    ours = {route_key(one): one for one in found}
    theirs = {route_key(told(row)): told(row) for row in oracle}
    different = {
        " ".join(key): wrong
        for key, row in theirs.items()
        if key in ours and (wrong := differences(row, ours[key]))
    }
    missing = [" ".join(key) for key in theirs if key not in ours]
    exact = len(theirs) - len(missing) - len(different)
    return {
        "total": len(theirs),
        "exact": exact,
        "share": round(exact / len(theirs), 4) if theirs else None,
        "missing": missing,
        "different": different,
        "extra": [" ".join(key) for key in ours if key not in theirs],
    }


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of the framework's listing in our form."""
    methods = [
        one for one in row["method"].split("|") if one != "HEAD" or row["method"] == "HEAD"
    ]
    fields = row.get("binding_fields") or {}
    return {
        **{name: row.get(name) for name in FIELDS},
        "methods": methods,
        "binding_fields": dict(fields),
    }


def route_key(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return what tells routes apart."""
    return "|".join(sorted(str(method) for method in one["methods"])), configured(
        str(one["uri"])
    )


def differences(row: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in which a route is not the framework's, with both values."""
    found = {}
    for name in FIELDS:
        here, there = ours.get(name), row.get(name)
        if name in ("middleware", "excluded", "methods"):
            here, there = list(here or []), list(there or [])
            same = sorted(here) == sorted(there) if name == "methods" else in_step(there, here)
        elif name == "uri":
            same = configured(str(here)) == configured(str(there))
        else:
            same = (here or None) == (there or None)
        if not same:
            found[name] = {"framework": there, "ours": here}
    return found


def in_step(theirs: Sequence[str], ours: Sequence[str]) -> bool:
    """Return whether two lists are the same in order; what we call `config(key)` the listing has as some stand-in."""
    return len(theirs) == len(ours) and all(
        their == our or our.startswith("config(")
        for their, our in zip(theirs, ours, strict=True)
    )


def configured(uri: str) -> str:
    """Return a URI with values of the configuration written in one way: `CFG:key` and `config(key)` are the same."""
    return uri.replace("config(", "CFG:").replace(")", "") if "config(" in uri else uri


def columns(
    oracle: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, Mapping[str, Any]],
    failed: Iterable[str] = (),
) -> dict[str, Any]:
    """Return precision, recall and F1 of (table, column) pairs, the F1 of foreign keys, and what differs.

    Of tables that a migration touches which the oracle could not run, the oracle does not know what they are:
    `judged_f1` is without them.
    """
    unrun = set(failed)
    doubtful = {
        table for table, one in found.items() if unrun.intersection(one.get("migrations", ()))
    }
    theirs = {
        (table, str(column)) for table, one in oracle.items() for column in one["columns"]
    }
    ours = {(table, str(column)) for table, one in found.items() for column in one["columns"]}
    their_keys = {
        (table, str(key)) for table, one in oracle.items() for key in one.get("fks", ())
    }
    our_keys = {(table, str(key)) for table, one in found.items() for key in one.get("fks", ())}
    both = len(theirs & ours)
    return {
        "tables": len(oracle),
        "columns": len(theirs),
        "precision": round(both / len(ours), 4) if ours else 0.0,
        "recall": round(both / len(theirs), 4) if theirs else 0.0,
        "f1": round(f1(theirs, ours), 4),
        "judged_f1": round(
            f1(*({pair for pair in one if pair[0] not in doubtful} for one in (theirs, ours))),
            4,
        ),
        "not_judged": sorted(doubtful),
        "foreign_keys_f1": round(f1(their_keys, our_keys), 4),
        "missing": sorted(".".join(one) for one in theirs - ours),
        "extra": sorted(".".join(one) for one in ours - theirs),
    }


# ── evidence ──────────────────────────────────────────────────────────────────────────────────────


def place(text: str) -> tuple[str, int]:
    """Return the file and line of `file:line`."""
    uri, _, line = text.rpartition(":")
    return uri, int(line)


def covered(wanted: Sequence[str], hits: Sequence[Any]) -> float:
    """Return the share of places that a hit covers, or that prose in a hit is said to be about."""
    if not wanted:
        return 1.0
    return sum(any(covers(hit, place(one)) for hit in hits) for one in wanted) / len(wanted)


def covers(hit: Any, wanted: tuple[str, int]) -> bool:  # noqa: ANN401 - a hit, not imported before it is needed
    """Return whether a hit holds a line of a file, or is prose about that very line."""
    if hit.source_doc_id == wanted[0]:
        return bool(hit.span.line_start <= wanted[1] <= hit.span.line_end)
    return (hit.metadata.get("file"), hit.metadata.get("line")) == wanted
