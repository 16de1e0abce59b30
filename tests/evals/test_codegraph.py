"""The evaluation of understood code: its scores by themselves, and the whole of it on a small shop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.table import quality_table
from evals import codegraph, graph_scores
from evals.__main__ import ABSENT, main
from tests.support.bookshop import written

ROUTE = {"method": "GET|HEAD", "uri": "a/{b}", "name": "a.show", "action": "C@show", "middleware": ["web", "auth"],
         "excluded": [], "binding_fields": [], "wheres": []}  # fmt: skip
OURS = {"methods": ["GET"], "uri": "a/{b}", "name": "a.show", "action": "C@show", "middleware": ["web", "auth"],
        "excluded": [], "binding_fields": {}}  # fmt: skip


@pytest.mark.parametrize(
    ("gold", "facts", "negative", "score"),
    [
        ({"table": "a", "how": "explicit"}, {"table": "a", "how": "convention"}, False, 0.5),
        ({"listeners": ["A", "B"]}, {"listeners": ["B", "A"]}, False, 1.0),
        ({"listeners": ["A", "B"]}, {"listeners": ["A"]}, False, 2 / 3),
        ({"middleware": ["a", "b"]}, {"middleware": ["b", "a"]}, False, 0.0),
        ({"policy": None}, {"policy": None}, True, 1.0),
        ({"policy": None}, {"policy": None}, False, 0.0),
        ({"policy": None}, None, False, 0.0),
        ({"excluded": []}, {"excluded": []}, False, 1.0),
        ({"excluded": []}, {}, False, 0.0),
        ({"columns": ["a"], "not_these": "prose"}, {"columns": ["a"]}, False, 1.0),
        ({"relations": [{"name": "a", "type": "t"}, {"name": "b", "type": "t", "pivot": "p"}]},
         {"relations": [{"name": "b", "type": "t", "pivot": "p", "through": None},
                        {"name": "a", "type": "t", "pivot": None}]}, False, 1.0),
        ({"routes": [{"methods": ["PUT", "PATCH"], "uri": "a"}]},
         {"routes": [{"methods": ["PATCH", "PUT"], "uri": "a", "name": "x"}]}, False, 1.0),
        ({"binding_fields": {"node": "id"}}, {"binding_fields": {"node": "slug"}}, False, 0.0),
        ({"method_exists": False}, {"method_exists": False}, False, 1.0),
    ],
)  # fmt: skip
def test_an_answer_is_scored_part_by_part(
    gold: dict[str, Any], facts: dict[str, Any] | None, negative: bool, score: float
) -> None:
    parts = graph_scores.question(gold, facts, negative=negative)
    assert sum(parts.values()) / len(parts) == pytest.approx(score)


def test_routes_are_exact_or_named_with_what_is_wrong() -> None:
    wrong = {**OURS, "uri": "b", "middleware": ["auth", "web"]}
    told = graph_scores.routes(
        [ROUTE, {**ROUTE, "uri": "b"}, {**ROUTE, "uri": "c"}],
        [OURS, wrong, {**OURS, "uri": "d"}],
    )
    assert (told["total"], told["exact"], told["missing"], told["extra"]) == (
        3,
        1,
        ["GET c"],
        ["GET d"],
    )
    assert set(told["different"]["GET b"]) == {"middleware"}


def test_a_value_of_the_configuration_stands_for_whatever_the_listing_has() -> None:
    theirs = {**ROUTE, "middleware": ["web", "stand-in"], "uri": "x/CFG:app.key"}
    ours = {**OURS, "middleware": ["web", "config(app.guard)"], "uri": "x/config(app.key)"}
    assert graph_scores.routes([theirs], [ours])["exact"] == 1


def test_columns_that_only_an_unrun_migration_makes_are_not_judged() -> None:
    oracle = {"a": {"columns": ["id"], "fks": []}, "b": {"columns": ["id"], "fks": []}}
    ours = {
        "a": {"columns": ["id"], "migrations": ["m1"]},
        "b": {"columns": ["id", "more"], "migrations": ["m2"]},
    }
    told = graph_scores.columns(oracle, ours, ["m2"])
    assert (told["f1"], told["judged_f1"], told["not_judged"]) == (0.8, 1.0, ["b"])


def data(folder: Path) -> Path:
    """Return a folder with what is known of the shop."""
    folder.mkdir(parents=True)
    asked = [
        {"id": "s-1", "repo": "some/Shop", "kind": "model_table", "question": "Which table does Book use?",
         "answer": {"table": "books", "how": "convention"}, "evidence": ["app/Models/Book.php:7"]},
        {"id": "s-2", "repo": "some/Shop", "kind": "route_action", "question": "Which code serves books.lend?",
         "answer": {"method": "lend", "name": "wrong"}, "evidence": ["routes/api.php:8"],
         "paraphrase": "Which code runs when a reader borrows a book and a loan starts?"},
        {"id": "o-1", "repo": "some/other", "kind": "model_table", "question": "?", "answer": {}, "evidence": []},
    ]  # fmt: skip
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    route = {"method": "POST", "uri": "api/books/{book}/loans", "name": "books.lend",
             "action": "App\\Http\\Controllers\\BookController@lend", "middleware": ["api", "auth", "open"],
             "excluded": [], "binding_fields": [], "wheres": []}  # fmt: skip
    (folder / "routes_shop.jsonl").write_text(json.dumps(route) + "\n", encoding="utf-8")
    tables = {
        "books": {
            "columns": ["id", "title", "author_id", "pages"],
            "fks": ["author_id->authors.id"],
        }
    }
    (folder / "schema_shop.json").write_text(
        json.dumps({"tables": tables, "failed": {}}), encoding="utf-8"
    )
    words = {"table": {"Person": "people", "Book": "boox"}, "singular": {"mice": "mouse"}}
    (folder / "inflect_vectors.json").write_text(json.dumps(words), encoding="utf-8")
    return folder


def test_the_whole_of_it_gives_figures_for_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data(tmp_path / "data")
    written(tmp_path / "trees" / "shop")
    given = [
        "--data",
        str(folder),
        "--repos",
        str(tmp_path / "trees"),
        "--embedder",
        "fake",
        "--limit",
        "9",
    ]
    assert main(["codegraph", *given, "--json"]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    shop = result["apps"]["shop"]
    assert (shop["routes"]["exact"], shop["routes"]["total"]) == (1, 1)
    assert shop["columns"]["f1"] == 1.0 and shop["graph_seconds"] > 0
    assert result["questions"]["by_kind"] == {"model_table": 1.0, "route_action": 0.5}
    assert result["questions"]["evidence_recall_at_12"] == 1.0
    assert result["paraphrases"]["count"] == 1
    assert result["inflections"]["table"] == {
        "total": 2,
        "right": 1,
        "wrong": {"Book": "books"},
    }
    assert "left out: other" in printed.err
    assert "0.5" in codegraph.table(result) and any(
        "1 of 1" in line for line in quality_table(result)
    )
    assert not (tmp_path / "trees" / "shop" / ".ragstone").exists()


def test_a_tree_is_found_by_either_form_of_its_name(tmp_path: Path) -> None:
    for name in ("BookStack", "koel/koel", "owner+panel"):
        (tmp_path / name).mkdir(parents=True)
    found = {
        repo: codegraph.tree_of(tmp_path, repo)
        for repo in ("x/bookstack", "koel/koel", "owner/panel", "a/b")
    }
    assert [path.name if path else None for path in found.values()] == [
        "BookStack",
        "koel",
        "owner+panel",
        None,
    ]


def test_absent_data_and_absent_trees_are_skipped_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "codegraph",
                "--data",
                str(tmp_path / "nowhere"),
                "--repos",
                str(tmp_path),
                "--json",
            ]
        )
        == ABSENT
    )
    assert "is not there" in json.loads(capsys.readouterr().out)["skipped"]
    assert main(["codegraph", "--data", str(data(tmp_path / "data")), "--json"]) == ABSENT
    assert "--repos" in json.loads(capsys.readouterr().out)["skipped"]
