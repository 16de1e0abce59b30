"""Counters of the server in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Final

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram, in seconds."""


@dataclass(slots=True)
class RouteTimes:
    """How long the requests of one route took."""

    count: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))

    def add(self, seconds: float) -> None:
        """Add one request."""
        self.count += 1
        self.seconds += seconds
        for number, bound in enumerate(BUCKETS):
            if seconds <= bound:
                self.buckets[number] += 1


@dataclass(slots=True)
class Counts:
    """The counters of one process, or of several."""

    statuses: Counter[tuple[str, str, str, int]] = field(default_factory=Counter)
    """Requests by project, method, route and status."""
    times: dict[tuple[str, str], RouteTimes] = field(default_factory=dict)
    """Durations by project and route."""
    gauges: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Add the counters of another process."""
        self.statuses.update(other.statuses)
        self.gauges.update(other.gauges)
        for key, times in other.times.items():
            own = self.times.setdefault(key, RouteTimes())
            own.count += times.count
            own.seconds += times.seconds
            own.buckets = [sum(pair) for pair in zip(own.buckets, times.buckets, strict=True)]

    def to_json(self) -> dict[str, object]:
        """Return the counters for another process."""
        times = [[*key, *astuple(value)] for key, value in self.times.items()]
        statuses = [[*key, count] for key, count in self.statuses.items()]
        return {"statuses": statuses, "times": times, "gauges": self.gauges}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Counts:
        """Return the counters that another process sent."""
        statuses = Counter({tuple(row[:4]): row[4] for row in data["statuses"]})
        times = {(row[0], row[1]): RouteTimes(*row[2:]) for row in data["times"]}
        return cls(statuses, times, Counter(data["gauges"]))


class Metrics:
    """Counts requests by project, route and status. No name of a document and no key is counted."""

    def __init__(self) -> None:
        """Start at zero."""
        self.read_others: Callable[[], list[Counts]] = list
        """Returns the counters of the other workers of the server."""
        self._lock = threading.Lock()
        self._counts = Counts()

    def record(
        self, project: str, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Count one request; `route` is its pattern, not its address."""
        with self._lock:
            self._counts.statuses[project, method, route, status] += 1
            self._counts.times.setdefault((project, route), RouteTimes()).add(seconds)

    def own(self, gauges: Mapping[str, float]) -> Counts:
        """Return the counters of this process, and other values."""
        counts = Counts(gauges=Counter(gauges))
        with self._lock:
            counts.add(self._counts)
        return counts

    def all(self, gauges: Mapping[str, float]) -> Counts:
        """Return the counters of all workers of the server."""
        counts = self.own(gauges)
        for other in self.read_others():
            counts.add(other)
        return counts

    def requests(self, project: str) -> int:
        """Return how many requests of a project were answered since the start."""
        statuses = self.all({}).statuses
        return sum(count for labels, count in statuses.items() if labels[0] == project)


def render(
    counts: Counts, project: str | None, gauges: Iterable[tuple[str, str, float]] = ()
) -> str:
    """Return the counters of a project, or of all of them if None, and other values (name, help, value)."""
    lines = list(_render_gauges(gauges))
    lines += _heading("ragstone_requests_total", "counter", "Requests by route and status.")
    for (owner, method, route, status), count in sorted(counts.statuses.items()):
        if project in (None, owner):
            labels = _labels(project=owner, method=method, route=route, status=str(status))
            lines.append(f"ragstone_requests_total{labels} {count}")
    lines += _heading("ragstone_request_seconds", "histogram", "Duration of requests.")
    for (owner, route), route_times in sorted(counts.times.items(), key=lambda item: item[0]):
        if project in (None, owner):
            lines += _render_times(owner, route, route_times)
    return "\n".join(lines) + "\n"


def _render_gauges(gauges: Iterable[tuple[str, str, float]]) -> Iterator[str]:
    for name, text, value in gauges:
        kind = "counter" if name.endswith("_total") else "gauge"
        yield from _heading(name, kind, text)
        yield f"{name} {value:g}"


def _render_times(project: str, route: str, times: RouteTimes) -> Iterator[str]:
    name = "ragstone_request_seconds"
    for bound, count in zip(BUCKETS, times.buckets, strict=True):
        yield f"{name}_bucket{_labels(project=project, route=route, le=f'{bound:g}')} {count}"
    yield f"{name}_bucket{_labels(project=project, route=route, le='+Inf')} {times.count}"
    labels = _labels(project=project, route=route)
    yield f"{name}_sum{labels} {times.seconds:.6f}"
    yield f"{name}_count{labels} {times.count}"


def _heading(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _labels(**labels: str) -> str:
    pairs = [f'{name}="{_escape(value)}"' for name, value in labels.items()]
    return "{" + ",".join(pairs) + "}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
