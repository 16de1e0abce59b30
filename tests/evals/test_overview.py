"""One table over all sets, with the difference to the last committed run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.provenance import save_result
from bench.table import newest
from evals.__main__ import main
from evals.overview import overview, worst_group
from tests.evals.test_run import small_set


def result(both: float) -> dict[str, object]:
    ways = {"words": 0.5, "vectors": 0.6, "hybrid": both, "rrf": 0.55}
    return {
        **{way: {"mrr": value} for way, value in ways.items()},
        "headline": "mrr",
        "standard_error": {"hybrid": 0.02},
        "by_corpus": {way: {"a": value, "b": 2 * value - 0.5} for way, value in ways.items()},
    }


def test_the_table_says_how_much_a_set_gained_since_the_last_commit() -> None:
    printed = overview({"mixed": result(0.7), "pdf": result(0.7)}, {"mixed": result(0.65)})
    mixed, pdf = printed.splitlines()[1:]
    assert mixed.split()[:6] == ["mixed", "0.5000", "0.6000", "0.7000", "0.5500", "0.0200"]
    assert mixed.endswith("+0.0500")
    assert pdf.endswith("new")


def test_the_worst_group_is_the_one_where_a_part_beats_both() -> None:
    figures = result(0.7)
    figures["by_corpus"]["hybrid"]["b"] = 0.4  # type: ignore[index]
    assert worst_group(figures) == pytest.approx(-0.3)


def test_a_second_run_of_a_release_replaces_the_first(tmp_path: Path) -> None:
    save_result("mixed", result(0.6), tmp_path)
    save_result("mixed", result(0.7), tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 1
    assert newest(tmp_path)["mixed"]["hybrid"]["mrr"] == 0.7


def test_all_measures_the_sets_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_set(tmp_path / "scifact")
    given = ["all", "--data", str(tmp_path), "--embedder", "fake", "--limit", "2", "--json"]
    assert main(given) == 0
    printed = capsys.readouterr()
    measured = set(json.loads(printed.out))
    shipped = "languages mixed nonsense off_topic pdf small".split()
    assert measured == {"scifact@fake", *(f"{name}@fake" for name in shipped)}
    assert "left out: " in printed.err
