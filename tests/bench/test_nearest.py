"""Our own side of the nearest-neighbour measurement, on few vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import measure, peers
from bench.__main__ import arguments
from bench.matrix import exact, synthetic
from bench.measure import Absent
from bench.nearest import build, query


def test_what_was_built_is_opened_again_and_finds_the_right_rows(tmp_path: Path) -> None:
    rows, queries = synthetic(300)
    spec: dict[str, str] = {"name": "ours", "folder": str(tmp_path / "index")}
    (tmp_path / "index").mkdir()
    for name, array in (("vectors", rows), ("queries", queries[:20]), ("truth", exact(rows, queries[:20]))):
        spec[name] = str(tmp_path / f"{name}.npy")
        np.save(spec[name], array)
    built = build(spec)
    asked = query(spec)
    assert built["n"] == 300
    assert asked["recall_at_10"] >= 0.99
    assert {"p50_ms", "rss_mb", "open_first_ms"} <= set(asked)


def test_an_unknown_peer_is_named_with_those_that_are_known() -> None:
    with pytest.raises(Absent, match="chroma"):
        peers.named("nobody")


def test_no_peers_and_all_peers_are_told_apart() -> None:
    assert arguments(["nearest"]).peers is None
    assert arguments(["nearest", "--peers"]).peers == []


def test_a_library_may_use_every_core_of_the_machine_unless_told_otherwise() -> None:
    assert arguments(["nearest"]).cores == measure.usable_cores() >= 1
    assert arguments(["nearest", "--cores", "1"]).cores == 1
