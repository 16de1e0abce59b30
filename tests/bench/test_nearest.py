"""Our own side of the nearest-neighbour measurement, on few vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bench import measure, nearest, peers
from bench.__main__ import arguments
from bench.matrix import exact, synthetic
from bench.measure import Absent
from bench.nearest import WIDEST, at_recall, build, query


def test_what_was_built_is_opened_again_and_finds_the_right_rows(tmp_path: Path) -> None:
    rows, queries = synthetic(300)
    spec: dict[str, str] = {"name": "ours", "folder": str(tmp_path / "index")}
    (tmp_path / "index").mkdir()
    for name, array in (
        ("vectors", rows),
        ("queries", queries[:20]),
        ("truth", exact(rows, queries[:20])),
    ):
        spec[name] = str(tmp_path / f"{name}.npy")
        np.save(spec[name], array)
    built = build(spec)
    asked = query(spec)
    assert built["n"] == 300
    assert asked["recall_at_10"] >= 0.99
    assert {"p50_ms", "rss_mb", "open_first_ms"} <= set(asked)


@pytest.mark.parametrize(
    ("seconds", "told", "builds"), [([3, 1, 2], 2, 3), ([60], 60, 1)], ids=["quick", "slow"]
)
def test_a_quick_build_is_made_three_times_and_its_median_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: list[float],
    told: float,
    builds: int,
) -> None:
    met: list[list[Path]] = []

    def child(_module: str, spec: dict[str, str], **_: object) -> dict[str, float]:
        met.append(list(tmp_path.iterdir()))
        (tmp_path / "index").write_text(spec["phase"])
        return {"build_s": seconds[len(met) - 1]}

    monkeypatch.setattr(nearest, "child", child)
    assert nearest.made({"folder": str(tmp_path)}, None, 1) == {
        "build_s": told,
        "builds": builds,
    }
    assert met == [[]] * builds, "each begins with an empty folder"


@pytest.mark.parametrize(
    ("first", "recall_of", "chosen"),
    [
        (100, lambda candidates: 0.97 if candidates < 130 else 0.992, 141),
        (100, lambda candidates: 0.995, None),
        (100, lambda candidates: 0.98, None),
        (0, lambda candidates: 0.5, None),
    ],
    ids=[
        "looks wider until it finds as much",
        "finds as much as it is",
        "never does",
        "has no graph",
    ],
)
def test_a_graph_is_compared_at_the_recall_we_promise(
    first: int, recall_of: Callable[[int], float], chosen: int | None
) -> None:
    asked: list[int] = []

    def ask(candidates: int) -> dict[str, float]:
        asked.append(candidates)
        return {"recall_at_10": recall_of(candidates)} | (
            {"candidates": candidates} if candidates else {}
        )

    found = at_recall(ask, ask(first))
    assert (None if found is None else found["candidates"]) == chosen
    assert max(asked) <= WIDEST


def test_an_unknown_peer_is_named_with_those_that_are_known() -> None:
    with pytest.raises(Absent, match="chroma"):
        peers.named("nobody")


def test_no_peers_and_all_peers_are_told_apart() -> None:
    assert arguments(["nearest"]).peers is None
    assert arguments(["nearest", "--peers"]).peers == []


def test_a_library_may_use_every_core_of_the_machine_unless_told_otherwise() -> None:
    assert arguments(["nearest"]).cores == measure.usable_cores() >= 1
    assert arguments(["nearest", "--cores", "1"]).cores == 1
