"""The whole path of an evaluation, on a set of three documents and the real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.__main__ import ABSENT, main

ABSTRACTS = {
    "1": ("Kayaks", "A kayak is a narrow boat moved with a paddle that has two blades."),
    "2": ("Sourdough", "Sourdough bread rises because wild yeast ferments the flour."),
    "3": ("Glaciers", "A glacier is a body of ice that moves under its own weight."),
}


def small_set(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": name, "title": title, "text": text} for name, (title, text) in ABSTRACTS.items()
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    asked = [
        {"_id": "a", "text": "wild yeast ferments bread"},
        {"_id": "b", "text": "ice that moves"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\na\t2\t1\nb\t3\t1\n", encoding="utf-8"
    )
    return folder


def test_a_set_gives_words_vectors_hybrid_and_rrf_in_the_fixed_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = small_set(tmp_path / "data")
    assert (
        main(["scifact", "--data", str(data), "--embedder", "fake", "--limit", "9", "--json"])
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert (result["set"], result["embedder"], result["questions"]) == ("scifact", "fake", 2)
    assert result["words"]["ndcg_at_10"] == 1.0
    assert (
        set(result["vectors"]) == set(result["hybrid"]) == set(result["rrf"]) == {"ndcg_at_10"}
    )
    assert set(result["differences"]["hybrid-words"]["ndcg_at_10"]) == {
        "difference",
        "standard_error",
        "p",
    }


def test_the_table_shows_each_way_of_searching(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = small_set(tmp_path / "data")
    assert main(["scifact", "--data", str(data), "--embedder", "fake", "--limit", "1"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n{way} " in printed for way in ("words", "vectors", "hybrid", "rrf"))


def test_data_that_is_not_there_is_skipped_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chunking", "--data", str(tmp_path / "nowhere"), "--json"]) == ABSENT
    assert "is not there" in json.loads(capsys.readouterr().out)["skipped"]
