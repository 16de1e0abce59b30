"""Data of plots: searches, their latency and the size of the index over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Final

from ragstone.surfaces.present import Json
from ragstone.types import SizePoint

HOUR: Final = 3600
DAY: Final = 24 * HOUR
_LONGEST_BY_HOUR: Final = 3 * DAY
_MIN_BUCKETS: Final = 12
_MAX_BUCKETS: Final = 90

SearchRecords = Sequence[Json]


def plot_searches(records: SearchRecords) -> Json:
    """Return how many searches were made in each hour or day; an hour without one is 0."""
    buckets = _by_time(records)
    counts = [len(values) for values in buckets.values()]
    return _plot(buckets, {"searches": counts}, kind="bars")


def plot_latency(records: SearchRecords) -> Json:
    """Return the median and the 95th percentile of the latency in each hour or day."""
    buckets = _by_time(records)
    medians = [_rounded(median, values) for values in buckets.values()]
    slow = [_rounded(_percentile_95, values) for values in buckets.values()]
    return _plot(buckets, {"median": medians, "95th percentile": slow}, unit="ms")


def plot_sizes(points: Sequence[SizePoint]) -> Json:
    """Return the number of chunks over time, in at most a few hundred points; none if nothing was ever stored."""
    if not any(point.chunks for point in points):
        return _plot({}, {"chunks": []})
    step = max(1, len(points) // 300)
    selected = [*points[:-1:step], *points[-1:]]
    times = {int(point.time): point.chunks for point in selected}
    return _plot(times, {"chunks": list(times.values())})


def _by_time(records: SearchRecords) -> dict[int, list[float]]:
    """Return the milliseconds of the searches by the start of their hour or day, without gaps."""
    times = [float(record["time"]) for record in records]
    if not times:
        return {}
    size = HOUR if max(times) - min(times) <= _LONGEST_BY_HOUR else DAY
    last = int(max(times) // size) * size
    first = max(int(min(times) // size) * size, last - (_MAX_BUCKETS - 1) * size)
    first = min(first, last - (_MIN_BUCKETS - 1) * size)
    buckets: dict[int, list[float]] = {start: [] for start in range(first, last + 1, size)}
    for time, record in zip(times, records, strict=True):
        start = int(time // size) * size
        if start in buckets:
            buckets[start].append(float(record.get("milliseconds") or 0.0))
    return buckets


def _rounded(
    figure: Callable[[Sequence[float]], float], values: Sequence[float]
) -> float | None:
    """Return a figure of some values; None if there are none."""
    return round(figure(values), 1) if values else None


def _percentile_95(values: Sequence[float]) -> float:
    if len(values) < 2:
        return sum(values)
    return quantiles(values, n=20, method="inclusive")[18]


def _plot(
    times: Mapping[int, object],
    series: Mapping[str, Sequence[float | None]],
    *,
    unit: str = "",
    kind: str = "line",
) -> Json:
    """Return the form that js/plots.js draws."""
    lines = [
        {"label": label, "values": list(values), "kind": kind}
        for label, values in series.items()
    ]
    return {"x": list(times), "series": lines, "unit": unit}
