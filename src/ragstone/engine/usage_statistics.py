"""How the index was used: searches, their latency, and the tokens that they saved. It never leaves the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import quantiles
from typing import Any, Final

from ragstone.types import SearchStats

CHARACTERS_PER_TOKEN: Final = 4
"""About: the exact number depends on the model."""
_CHUNK: Final = "__chunk_"


def search_stats(
    records: Iterable[Mapping[str, Any]], document_characters: Mapping[str, int]
) -> SearchStats:
    """Return the figures of the completed searches in an event log.

    `document_characters` has the length of every document by uri. Searches that an older version logged do not say
    how much text they returned; their tokens are not counted.
    """
    searches = list(records)
    milliseconds = [float(record.get("milliseconds") or 0.0) for record in searches]
    returned = whole = 0
    for record in searches:
        characters = record.get("characters")
        if not isinstance(characters, int):
            continue
        uris = {doc_id.rpartition(_CHUNK)[0] for doc_id in record.get("ids", ())}
        returned += characters
        whole += max(characters, sum(document_characters.get(uri, 0) for uri in uris))
    median, slow = _percentiles(milliseconds)
    return SearchStats(
        searches=len(searches),
        for_hits=sum(record.get("top_k") != 0 for record in searches),
        with_hits=sum(bool(record.get("ids")) for record in searches),
        median_milliseconds=median,
        slow_milliseconds=slow,
        tokens_returned=returned // CHARACTERS_PER_TOKEN,
        tokens_of_files=whole // CHARACTERS_PER_TOKEN,
        since=min((record["time"] for record in searches), default=None),
    )


def _percentiles(values: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile; 0 if there are no values."""
    if len(values) < 2:
        value = sum(values)
        return value, value
    percentiles = quantiles(values, n=20, method="inclusive")
    return percentiles[9], percentiles[18]
