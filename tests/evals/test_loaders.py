"""The sets are read from any folder in their format; hand-made ones here."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path

import pytest

from evals import chunking, code_search, locomo, scifact
from evals.sets import Absent, Ask
from ragstone.types import Hit, Span


def hit(uri: str, start: int, end: int, *, lines: tuple[int, int] = (1, 1)) -> Hit:
    span = Span(start, end, start, end, lines[0], lines[1])
    return Hit(
        doc_id=f"{uri}#{start}",
        text="",
        score=1.0,
        metadata={},
        source_doc_id=uri,
        chunk_index=0,
        collection="default",
        span=span,
    )


def always(*hits: Hit) -> Ask:
    return lambda top_k, merge: hits[:top_k]


def test_a_question_on_a_corpus_is_scored_by_the_characters_of_its_excerpts(
    tmp_path: Path,
) -> None:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "rivers.md").write_text(
        "The Elbe is long. The Spree is short.", encoding="utf-8"
    )
    with (tmp_path / "questions_df.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        references = [{"content": "The Spree is short.", "start_index": 18, "end_index": 37}]
        writer.writerow(["Which is short?", json.dumps(references), "rivers"])
    chosen = chunking.load(tmp_path)
    (case,) = chosen.corpora[0].cases
    assert [document.uri for document in chosen.corpora[0].documents["default"]] == [
        "rivers.md"
    ]
    scores = case.score(always(hit("rivers.md", 18, 37)))
    assert scores["recall"] == scores["precision"] == scores["iou"] == scores["iou_4000"] == 1.0


def repository(tmp_path: Path) -> tuple[Path, Path]:
    data, repos = tmp_path / "data", tmp_path / "repos"
    (data / "annotations").mkdir(parents=True)
    (repos / "boat" / "src").mkdir(parents=True)
    (repos / "boat" / "src" / "sail.py").write_text(
        "def hoist():\n    return 1\n", encoding="utf-8"
    )
    (repos / "boat" / "src" / "notes.md").write_text("# Not code\n", encoding="utf-8")
    (repos / "boat" / "setup.py").write_text("outside = 1\n", encoding="utf-8")
    entry = {"language": "python", "url": "", "revision": "", "benchmark_root": "src"}
    (data / "repos.json").write_text(
        json.dumps({"repos": {"boat": entry, "ship": entry}}), encoding="utf-8"
    )
    asked = [
        {
            "query": "hoist",
            "relevant": [{"path": "src/sail.py", "start_line": 5, "end_line": 9}],
            "secondary": [],
        },
        {"query": "sails", "relevant": ["src/sail.py"], "secondary": ["src/rope.py"]},
    ]
    (data / "annotations" / "boat.json").write_text(json.dumps(asked), encoding="utf-8")
    return data, repos


def test_only_code_under_the_root_is_indexed_and_absent_repositories_are_named(
    tmp_path: Path,
) -> None:
    data, repos = repository(tmp_path)
    chosen = code_search.load(data, repos=repos)
    (corpus,) = chosen.corpora
    assert [document.uri for document in corpus.documents["default"]] == ["src/sail.py"]
    assert "ship" in chosen.notes[0]


def test_lines_must_overlap_by_chunk_but_not_by_file(tmp_path: Path) -> None:
    data, repos = repository(tmp_path)
    by_lines, by_path = code_search.load(data, repos=repos).corpora[0].cases
    beside, inside = (
        hit("src/sail.py", 0, 9, lines=(1, 4)),
        hit("src/sail.py", 9, 20, lines=(9, 12)),
    )
    scores = by_lines.score(always(beside, inside))
    assert scores["ndcg_at_10_by_file"] == 1.0
    assert scores["ndcg_at_10_by_chunk"] == pytest.approx(0.6309, abs=1e-4)
    assert 0 < by_path.score(always(beside))["ndcg_at_10_by_file"] < 1


def test_a_limit_counts_questions_over_all_repositories(tmp_path: Path) -> None:
    data, repos = repository(tmp_path)
    assert len(code_search.load(data, 1, repos=repos).corpora[0].cases) == 1


def test_no_trees_is_a_sentence_and_not_a_traceback(tmp_path: Path) -> None:
    data, _ = repository(tmp_path)
    with pytest.raises(Absent, match="--repos"):
        code_search.load(data, repos=None)


def conversation(tmp_path: Path) -> Path:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1 May 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a kayak."},
                {
                    "speaker": "Ben",
                    "dia_id": "D1:2",
                    "text": "Which colour?",
                    "blip_caption": "a red kayak",
                },
            ],
        },
        "qa": [
            {
                "question": "What did Ada buy?",
                "answer": "a kayak",
                "evidence": ["D1:1; D1:02"],
                "category": 1,
            },
            {"question": "No evidence?", "answer": "", "evidence": [], "category": 5},
        ],
    }
    (tmp_path / "talks.json").write_text(json.dumps([sample]), encoding="utf-8")
    return tmp_path


def test_a_turn_carries_its_date_and_the_turn_before(tmp_path: Path) -> None:
    documents = locomo.load(conversation(tmp_path)).corpora[0].documents["conv-1"]
    assert [document.uri for document in documents] == ["D1:1", "D1:2"]
    assert documents[1].beside.split("\n") == ["1 May 2023", "Ada: I bought a kayak."]
    assert documents[1].text.endswith("[shares a red kayak]")
    assert "\n" not in documents[1].text


def test_evidence_in_one_string_is_two_turns_and_questions_without_any_are_left_out(
    tmp_path: Path,
) -> None:
    (case,) = locomo.load(conversation(tmp_path)).corpora[0].cases
    assert case.score(always(hit("D1:2", 0, 1)))["recall_at_5"] == 0.5


def test_claims_are_graded_over_documents(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "7", "title": "T", "text": "body\u2028more"}\n', encoding="utf-8"
    )
    asked = '{"_id": "1", "text": "claim"}\n{"_id": "2", "text": "unjudged"}\n'
    (tmp_path / "queries.jsonl").write_text(asked, encoding="utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\t7\t1\n", encoding="utf-8"
    )
    chosen = scifact.load(tmp_path)
    (case,) = chosen.corpora[0].cases
    assert case.score(always(hit("7", 0, 1)))["ndcg_at_10"] == 1.0
    assert chosen.corpora[0].documents["default"][0].text.startswith("T\n\nbody")


def test_a_folder_that_is_not_there_is_absent(tmp_path: Path) -> None:
    for load in (chunking.load, locomo.load, scifact.load):
        with pytest.raises(Absent):
            load(tmp_path / "nowhere")


def test_a_conversation_is_remembered_with_who_when_and_its_name(tmp_path: Path) -> None:
    talk = {
        "session_1": [{"speaker": "Ann", "dia_id": "D1:01", "text": "Hello"}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Bo", "dia_id": "D2:1", "text": "Hi", "blip_caption": "a dog"}
        ],
        "session_2_date_time": "one day",
    }
    (tmp_path / "talks.json").write_text(
        json.dumps([{"conversation": talk, "qa": [{"question": "q", "evidence": ["D1:1"]}]}])
    )
    turns = locomo.load(tmp_path).corpora[0].sessions["conversation-1"]
    assert [(turn.speaker, turn.content, turn.metadata["id"]) for turn in turns] == [
        ("Ann", "Hello", "D1:1"),
        ("Bo", "Hi [shares a dog]", "D2:1"),
    ]
    assert turns[0].time == datetime(2023, 5, 8, 13, 56).timestamp()
    assert turns[1].time == 0.0


def test_a_split_has_its_own_repositories_only(tmp_path: Path) -> None:
    data, repos = repository(tmp_path)
    specs = json.loads((data / "repos.json").read_text(encoding="utf-8"))["repos"]
    specs["boat"]["split"] = "development"
    specs["ship"]["split"] = "validation"
    (data / "repos.json").write_text(json.dumps(specs), encoding="utf-8")
    chosen = code_search.load(data, repos=repos, split="development")
    assert [corpus.name for corpus in chosen.corpora] == ["boat"]
    with pytest.raises(Absent, match="ship"):
        code_search.load(data, repos=repos, split="validation")
