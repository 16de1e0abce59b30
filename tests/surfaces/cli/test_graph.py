"""The commands about the code graph, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.surfaces.present.graph import node_json, related_json
from ragstone.surfaces.tools import RAG_RELATED
from ragstone.text.tokens import at_most
from tests.indexing.graph.quarry import STONE, UPDATE, write

Run = Callable[..., Any]


@pytest.fixture
def app(project: Path, quick: Run) -> Run:
    write(project)
    assert quick("sync", "--no-embed").code == 0
    return quick


@pytest.fixture
def engine(app: Run, project: Path) -> Engine:
    return Engine.open(project, config={"rag.embedding_provider": "fake"})


def test_related_names_each_link_and_its_place(app: Run) -> None:
    ran = app("related", "stones.update")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "route PUT api/stones/{stone}  routes/api.php:8"
    assert "→ HANDLED_BY" in ran.out
    assert "StoneController::update" in ran.out
    assert "routes/api.php:8" in ran.out


def test_related_is_narrowed_by_kind_and_path(app: Run) -> None:
    tables = app("related", "stones.update", "--hops", "2", "--kind", "table", "--json").json[
        "related"
    ]
    assert [one["key"] for one in tables] == ["table:stones"]
    models = app("related", "Stone", "--path", "app/Models/*", "--json").json["related"]
    assert {one["place"].partition(":")[0] for one in models} == {"app/Models/Pile.php"}


def test_filters_are_applied_before_the_limit(app: Run, project: Path) -> None:
    first = app("related", "Stone", "-n", "1", "--json").json["related"]
    assert not first[0]["place"].startswith("app/Models/")
    (model,) = app("related", "Stone", "-n", "1", "--path", "app/Models/*", "--json").json[
        "related"
    ]
    assert model["place"].startswith("app/Models/Pile.php")
    path = app("graph", "tables", "--json").json["tables"][0]["place"].partition(":")[0]
    run = {"run_id": "r1", "summary": "Weighed.", "changes": [{"path": path}]}
    (project / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert app("record-run", "run.json").code == 0
    assert app("history", "stones", "-n", "1", "--json").json["changes"][0]["kind"] == "run"
    (change,) = app("history", "stones", "-n", "1", "--kind", "migration", "--json").json[
        "changes"
    ]
    assert change["kind"] == "migration"


def test_a_route_is_listed_by_a_pattern_of_its_path(app: Run) -> None:
    assert len(app("graph", "routes", "api/*", "--json").json["routes"]) == 2
    assert "Nothing of kind unicorn" in app("related", "Stone", "--kind", "unicorn").out


def test_a_wrong_name_gets_a_suggestion_and_exit_code_4(app: Run) -> None:
    ran = app("related", "Stoone")
    assert (ran.code, ran.out) == (4, "")
    assert STONE in ran.err
    for words in (("impact", "Stoone"), ("history", "Stoone")):
        assert app(*words, "--json").json["error"]["code"] == "not_found"


def test_a_negative_answer_has_no_certainty(app: Run) -> None:
    printed = app("retrieve", "what guards POST /ghosts").out
    assert "There is no route POST /ghosts" in printed
    assert "written in the source" not in printed


def test_a_file_that_nothing_uses_has_no_other_file_that_depends_on_it(app: Run) -> None:
    assert app("impact", "README.md").out.startswith("No other file depends on README.md")


def test_impact_and_history_print_text_and_json(app: Run) -> None:
    assert "route (2)" in app("impact", "app/Models/Stone.php").out
    legend = app("impact", "app/Models/Stone.php").out.partition("\n\n")[2]
    assert "1 hop: one link of the code graph" in legend
    assert "evaluated: found by following the framework's files" in legend
    data = app("impact", "app/Models/Stone.php", "--kind", "route", "--json").json
    assert set(data["groups"]) == {"route"}
    assert data["total"] == 2
    ran = app("history", "stones", "--no-commits")
    assert ran.out.splitlines()[0].startswith("2024-02-01  migration  alters: 2024_02_01")
    assert (
        app("history", "stones", "--kind", "run", "--no-commits", "--json").json["changes"]
        == []
    )
    assert (
        app("history", "README.md", "--no-commits").out == "Nothing is recorded of README.md.\n"
    )


def test_routes_tables_and_models_are_listed_in_columns(app: Run) -> None:
    ran = app("graph", "routes", "stones")
    assert ran.out.splitlines() == [
        "GET  api/stones          StoneController@index   routes/api.php:7",
        "PUT  api/stones/{stone}  StoneController@update  routes/api.php:8",
    ]
    assert "(2 routes)" in ran.err
    assert (
        app("graph", "routes", "--path", "routes/web.php", "--json").json["routes"][0]["name"]
        == "home"
    )
    none = app("graph", "routes", "nothing")
    assert (none.out, none.err) == ("No route is known.\n", "")
    assert app("graph", "tables").out.split()[:4] == ["stones", "id,", "weight,", "shine"]
    models = app("graph", "models", "Stone", "--json").json["models"]
    assert [(one["key"], one["tables"], one["related"]) for one in models] == [
        (STONE, ["stones"], ["Pile"])
    ]


def test_the_report_counts_nodes_by_kind(app: Run) -> None:
    data = app("graph", "report", "--json").json
    assert data["kinds"]["route"] == 3
    assert data["unknowns"] == []
    assert "\n3   route\n" in app("graph", "report").out
    assert app("graph").out == app("graph", "report").out
    assert app("graph", "--json").json["kinds"] == data["kinds"]


def test_a_route_listing_is_imported(app: Run, project: Path) -> None:
    path = project / "routes.json"
    path.write_text(
        json.dumps([{"method": "GET|HEAD", "uri": "up", "action": "Closure"}]), encoding="utf-8"
    )
    data = app("graph", "routes", "--import", str(path), "--json").json
    assert "route:GET up" in [route["key"] for route in data["routes"]]
    path.write_text("no list", encoding="utf-8")
    assert app("graph", "routes", "--import", str(path)).code == 2


def test_a_run_is_recorded_from_a_file(app: Run, project: Path) -> None:
    path = project / "run.txt"
    path.write_text(
        json.dumps({"run_id": "r1", "summary": "s", "changes": [{"path": "a.php"}]}),
        encoding="utf-8",
    )
    assert app("record-run", str(path)).out == "Run r1 recorded with 1 change.\n"
    assert app("record-run", str(path), "--json").json["documents"] == 2
    assert [change["kind"] for change in app("history", "a.php", "--json").json["changes"]] == [
        "run"
    ]
    for wrong in (
        "",
        "[]",
        "{",
        '{"run_id": "r", "summary": "s", "colour": 1}',
        '{"summary": "s"}',
    ):
        path.write_text(wrong, encoding="utf-8")
        ran = app("record-run", str(path))
        assert ran.code == 2
        assert ran.err.startswith("error: ")


def test_related_nodes_are_the_same_in_library_command_and_tool(
    app: Run, engine: Engine
) -> None:
    node = engine.graph.node("stones.update")
    library = [related_json(related) for related in engine.graph.related(node)]
    command = app("related", "stones.update", "--json").json
    assert command["related"] == library
    assert command["node"] == node_json(node)
    tool = RAG_RELATED(engine, {"name": "stones.update"})
    assert [result["key"] for result in tool.data["results"]] == [
        result["key"] for result in library
    ]
    assert [result["links"][-1]["place"] for result in tool.data["results"]] == [
        result["links"][-1]["place"] for result in library
    ]
    assert all(one["links"][-1]["place"] in tool.text for one in library)
    engine.close()


def test_the_tool_respects_its_token_limit(engine: Engine) -> None:
    full = RAG_RELATED(engine, {"name": "Stone", "hops": 4})
    short = RAG_RELATED(engine, {"name": "Stone", "hops": 4, "max_tokens": 100})
    assert at_most(short.text) <= 130  # and the line that says how many are left out
    assert len(short.data["results"]) < len(full.data["results"])
    assert short.data["left_out"] == len(full.data["results"]) - len(short.data["results"])
    engine.close()


def test_the_tool_answers_a_wrong_name_with_a_suggestion(engine: Engine) -> None:
    answer = RAG_RELATED(engine, {"name": "Stoone"})
    assert answer.failed
    assert STONE in answer.text
    assert RAG_RELATED(engine, {}).failed
    nothing = RAG_RELATED(engine, {"name": UPDATE, "kind": "nothing"})
    assert nothing.failed
    assert "there are BINDS, GUARDED_BY" in nothing.text
    engine.close()
