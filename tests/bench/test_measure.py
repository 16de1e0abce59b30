"""The instruments and the page, on figures small enough to check by hand."""

from __future__ import annotations

import json
import mmap
from pathlib import Path

import numpy as np
import pytest

from bench import measure
from bench.matrix import exact, near_copies, recall, synthetic, unit
from bench.provenance import save_result
from bench.table import SPEED, flag, newest, titled, write_table
from bench.texts import pieces, questions, spliced, typed


def test_a_ratio_is_the_peer_divided_by_ours_and_is_left_out_where_one_is_missing() -> None:
    found = measure.ratios(
        {"p50_ms": 2.0, "build_s": 0},
        {"p50_ms": 6.0, "build_s": 1},
        {"p50": "p50_ms", "b": "build_s"},
    )
    assert found == {"p50": 3.0}


def test_percentiles_name_a_value_that_was_measured() -> None:
    values = [5.0, 1.0, 3.0, 2.0, 4.0]
    assert measure.percentile(values, 0.5) == 3.0
    assert measure.percentile(values, 0.95) == 5.0


def test_a_child_that_fails_says_why_in_one_line() -> None:
    with pytest.raises(measure.Failed, match="no_such_module"):
        measure.child("bench.no_such_module", {})


def test_exact_neighbours_are_those_of_the_whole_matrix() -> None:
    rows, queries = synthetic(500)
    right = np.argsort(-(queries[:5] @ rows.T), axis=1)[:, :10]
    assert recall(exact(rows, queries[:5]).tolist(), right) == 1.0


def test_near_copies_keep_real_rows_and_stay_near_their_first_parent() -> None:
    rows = unit(np.random.default_rng(1).standard_normal((4, 384)).astype(np.float32))
    made = near_copies(rows, [(0, 0), (1, 1), (0, 1)])
    assert np.allclose(made[0], rows[0], atol=1e-6)
    assert made[2] @ rows[0] > 0.6 > made[2] @ rows[3]


def test_spliced_texts_are_distinct_and_know_their_parents() -> None:
    texts = ["alpha beta gamma", "delta epsilon zeta", "eta theta iota"]
    made, parents = spliced(texts, 20)
    assert made[:3] == texts
    assert len(set(made)) == 20
    assert len(parents) == 20


def test_pieces_hold_all_words_of_a_text_of_short_paragraphs() -> None:
    text = "\n\n".join(f"paragraph {number} says something of its own" for number in range(60))
    assert " ".join(pieces(text)).split() == text.split()


@pytest.mark.parametrize(
    ("name", "told", "option"),
    [
        ("nearest", "Nearest neighbours", ""),
        ("nearest@2", "Nearest neighbours (2 cores)", " --cores 2"),
        ("nearest@1", "Nearest neighbours (1 core)", " --cores 1"),
        ("nearest-1000000", "Nearest neighbours (1,000,000 vectors)", " --n 1000000"),
        ("growth-part", "Growth (part)", ""),
    ],
)
def test_a_table_says_what_was_varied_and_how_to_get_it_again(
    name: str, told: str, option: str
) -> None:
    assert (titled(name, SPEED), flag(name)) == (told, option)


def test_a_typed_query_has_words_and_names_and_nothing_of_the_code_around_them() -> None:
    (asked,) = typed(
        ["x = self.parse_header(line[0:8], flags=re.MULTILINE)  # the header of a message"]
    )
    assert asked == "self parse_header line flags MULTILINE the header message"


def test_a_question_is_made_of_its_texts_own_words() -> None:
    (asked,) = questions(["the quick brown foxes jumped over seven sleeping hounds yesterday"])
    assert set(asked.split()) <= {
        "quick",
        "brown",
        "foxes",
        "jumped",
        "over",
        "seven",
        "sleeping",
        "hounds",
        "yesterday",
    }


def results(folder: Path, name: str, date: str, found: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    machine = {
        "cpu": "an abacus",
        "cores": 2,
        "memory_gb": 1.0,
        "system": "Linux",
        "python": "3.11",
    }
    held = {"machine": machine, "versions": {"numpy": "2.0"}}
    held["results"] = {name: {"measured_at": date, "at_commit": "abc", **found}}
    (folder / f"{date}-abc.json").write_text(json.dumps(held), encoding="utf-8")


def test_the_page_shows_the_newest_figures_with_their_machine_and_reasons_for_gaps(
    tmp_path: Path,
) -> None:
    for date, score in (("2024-01-01", 0.5), ("2024-02-01", 0.75)):
        ways = {way: {"ndcg_at_10": score} for way in ("words", "vectors", "hybrid", "rrf")}
        results(tmp_path / "evals" / "results", "scifact", date, {**ways, "set": "scifact"})
    figures = {
        "ours": {"p50_ms": 0.5},
        "lancedb": {"skipped": "not installed"},
        "chroma": {"p50_ms": 2.0, "note": "with our model"},
        "ratios": {"lancedb": {}},
    }
    results(tmp_path / "bench" / "results", "nearest", "2024-02-01", figures)
    assert newest(tmp_path / "evals" / "results")["scifact"]["hybrid"]["ndcg_at_10"] == 0.75
    page = (tmp_path / write_table(tmp_path)).read_text(encoding="utf-8")
    assert "| hybrid | 0.75 |" in page
    assert "| ours | 0.5 |" in page
    assert "lancedb: skipped, not installed" in page
    assert "- chroma: with our model" in page and "| note |" not in page
    assert "an abacus" in page


def test_a_run_again_replaces_the_result_of_the_same_release(tmp_path: Path) -> None:
    kept = [
        save_result(name, {"p50_ms": value}, tmp_path)
        for name, value in (("a", 7), ("b", 1), ("a", 5))
    ]
    assert kept[0] == kept[2] and len(set(kept)) == 2
    assert newest(tmp_path)["a"]["p50_ms"] == 5


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux has this file")
def test_code_is_a_part_of_the_memory_and_mapped_data_is_not(tmp_path: Path) -> None:
    path = tmp_path / "rows.planes"
    path.write_bytes(bytes(16 << 20))
    before = measure.code_mb()
    assert 0 < before < measure.rss_mb() <= measure.peak_mb() + 1
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert sum(mapped[::4096]) == 0
        assert measure.code_mb() - before < 8
