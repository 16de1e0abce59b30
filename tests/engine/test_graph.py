"""The engine's verbs about code, on a small application of Laravel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError, NotFound
from ragstone.types import Node
from tests.indexing.graph.quarry import API, APP, SHINE, STONE, UPDATE, write

FAKE = {"rag.embedding_provider": "fake", "sources.git": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "app")


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=FAKE) as engine:
        report = engine.sync(embed=False)
        assert report.graph is not None
        assert (report.graph.frameworks, report.notes) == (("laravel",), ())
        yield engine


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (UPDATE, UPDATE),
        ("stones.update", UPDATE),
        ("Stones.Update", UPDATE),
        ("App\\Models\\Stone", STONE),
        ("\\App\\Models\\Stone", STONE),
        ("Stone", STONE),
        ("StoneController@update", "method:App\\Http\\Controllers\\StoneController::update"),
        ("stones", "table:stones"),
        ("app/Models/Stone.php", "file:app/Models/Stone.php"),
        ("./app/Models/Stone.php", "file:app/Models/Stone.php"),
        ("api/stones/{stone}", UPDATE),
        ("/api/stones/{any}/", UPDATE),
        ("PUT api/stones/{id}", UPDATE),
    ],
)
def test_a_node_is_found_by_any_of_its_names(engine: Engine, name: str, key: str) -> None:
    assert engine.graph.node(name).key == key


def test_a_file_is_found_by_its_whole_path(engine: Engine, folder: Path) -> None:
    path = str(folder / "app" / "Models" / "Stone.php")
    assert engine.graph.node(path).key == "file:app/Models/Stone.php"
    assert engine.graph.impact(path) == engine.graph.impact("app/Models/Stone.php")
    assert engine.graph.history(f"./{API}", commits=False) == []


def test_a_class_and_its_file_are_connected_to_the_routes_of_its_methods(
    engine: Engine,
) -> None:
    for name in (
        "App\\Http\\Controllers\\StoneController",
        "app/Http/Controllers/StoneController.php",
    ):
        near = engine.graph.related(name, kinds=["route"])
        assert [related.node.key for related in near] == ["route:GET api/stones", UPDATE]
        assert not [
            related
            for related in engine.graph.related(name)
            if "StoneController::" in related.node.key
        ]


def test_any_number_is_a_limit(engine: Engine) -> None:
    stone = engine.graph.node("Stone")
    assert engine.graph.explain(stone, 10**30) == engine.graph.explain(stone)
    assert engine.graph.history("stones", limit=10**30) == engine.graph.history("stones")


@pytest.mark.parametrize("at", [float("nan"), float("inf"), -1, 10**18, True, "now"])
def test_the_time_of_a_run_must_be_a_date(engine: Engine, at: float) -> None:
    with pytest.raises(InputError, match="at is"):
        engine.record_run("r", "Polished.", at=at)


def test_an_unknown_name_gets_similar_names_as_a_hint(engine: Engine) -> None:
    with pytest.raises(NotFound) as error:
        engine.graph.node("Stoone")
    assert STONE in error.value.hint
    for nonsense in ("", "  ", 3, None):
        with pytest.raises(InputError):
            engine.graph.node(nonsense)  # type: ignore[arg-type]


def test_an_ambiguous_name_gets_all_candidates_as_a_hint(engine: Engine, folder: Path) -> None:
    (folder / "app" / "Stone.php").write_text(
        "<?php\nnamespace App\\Old;\nclass Pick {}\n", encoding="utf-8"
    )
    (folder / "app" / "Pick.php").write_text(
        "<?php\nnamespace App\\New;\nclass Pick {}\n", encoding="utf-8"
    )
    engine.sync(embed=False)
    with pytest.raises(InputError) as error:
        engine.graph.node("Pick")
    assert "class:App\\New\\Pick" in error.value.hint
    assert "class:App\\Old\\Pick" in error.value.hint
    assert engine.graph.node("App\\New\\Pick").name == "Pick"


# ── what is known ─────────────────────────────────────────────────────────────────────────────────


def test_routes_tables_and_models_are_listed(engine: Engine) -> None:
    assert [node.key for node in engine.graph.routes()] == [
        "route:GET api/stones",
        UPDATE,
        "route:GET /",
    ]
    (table,) = engine.graph.tables()
    columns = table.attributes["columns"]
    assert isinstance(columns, list)
    assert [column["name"] for column in columns if isinstance(column, dict)] == [
        "id",
        "weight",
        "shine",
    ]
    assert [node.name for node in engine.graph.models()] == ["Pile", "Stone"]
    assert engine.graph.exists()


def test_a_node_is_explained_by_its_links(engine: Engine) -> None:
    story = engine.graph.explain(engine.graph.node("stones.update"))
    out_of = dict(story.out_of)
    (handled,) = out_of["HANDLED_BY"]
    assert handled.target == "method:App\\Http\\Controllers\\StoneController::update"
    assert f"{handled.uri}:{handled.line}" == "routes/api.php:8"
    assert "middleware:auth" in [link.target for link in out_of["GUARDED_BY"]]
    assert list(out_of)[0] == "HANDLED_BY"
    assert story.nodes[handled.target].place == "app/Http/Controllers/StoneController.php:15"
    assert story.confidence == "evaluated"
    assert engine.graph.explain(engine.graph.node("stones.update"), 1).more


def test_a_query_is_explained_as_a_search(engine: Engine) -> None:
    assert engine.explain("polish", mode="words").hits


def test_related_nodes_are_found_hop_by_hop(engine: Engine) -> None:
    near = {related.node.key: related for related in engine.graph.related("Stone")}
    assert near["table:stones"].links[0].kind == "MAPS_TO"
    assert "class:App\\Models\\Pile" in near
    assert all(related.hops == 1 for related in near.values())
    (table,) = engine.graph.related("stones.update", kinds=["table"], hops=2)
    assert (table.node.key, table.hops, len(table.links)) == ("table:stones", 2, 2)
    assert {
        related.node.kind for related in engine.graph.related("Stone", kinds=["MAPS_TO"])
    } == {"table"}
    assert len(engine.graph.related("Stone", limit=2)) == 2
    for wrong in ({"hops": 0}, {"hops": 5}, {"limit": -1}, {"kinds": "table"}):
        with pytest.raises(InputError):
            engine.graph.related("Stone", **wrong)


def test_the_impact_of_a_file_lists_routes_first(engine: Engine) -> None:
    impact = engine.graph.impact("app/Models/Stone.php")
    kinds = [kind for kind, _ in impact.groups]
    assert kinds[0] == "route"
    assert UPDATE in [node.key for node in impact.groups[0][1]]
    assert engine.graph.impact("README.md").total == 0
    with pytest.raises(NotFound):
        engine.graph.impact("nothing.php")


# ── staying level ─────────────────────────────────────────────────────────────────────────────────


def test_re_indexing_one_route_file_updates_exactly_the_routes_it_registers(
    engine: Engine, folder: Path
) -> None:
    more = APP[API].replace(
        "});", "    Route::delete('stones/{stone}', [StoneController::class, 'index']);\n});"
    )
    (folder / API).write_text(more, encoding="utf-8")
    report = engine.sync(embed=False)
    assert report.graph is not None
    assert {
        key: count for key, count in report.graph.changed.items() if key.startswith("kind:")
    } == {"kind:route": 1, "kind:route_group": 1}
    # The route, and the group that lists it.
    assert (report.graph.read, report.graph.resolved, report.graph.rendered) == (1, 1, 2)
    (folder / API).write_text(
        APP[API].replace("stones/{stone}", "stones/{stone}/shine"), encoding="utf-8"
    )
    report = engine.sync(embed=False)
    assert report.graph is not None
    assert (
        report.graph.changed["kind:route"] == 3
    )  # one goes, one comes, and the one that was added goes too
    assert (report.graph.rendered, report.graph.removed) == (2, 2)


def test_deleting_a_migration_restores_the_tables_earlier_columns(
    engine: Engine, folder: Path
) -> None:
    (folder / SHINE).unlink()
    engine.sync(embed=False)
    columns = engine.graph.node("stones").attributes["columns"]
    assert isinstance(columns, list)
    assert [column["name"] for column in columns if isinstance(column, dict)] == [
        "id",
        "weight",
    ]


def test_a_question_updates_the_graph_first(engine: Engine, folder: Path) -> None:
    (folder / "routes/web.php").write_text(
        APP["routes/web.php"].replace("home", "start"), encoding="utf-8"
    )
    assert engine.graph.node("start").key == "route:GET /"
    with pytest.raises(NotFound):
        engine.graph.node("home")


def test_a_graph_that_is_switched_off_is_not_made(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "code.graph": "off"}) as engine:
        report = engine.sync(embed=False)
        assert report.ok
        assert not engine.graph.exists()
        assert engine.graph.routes() == []


def test_a_search_makes_no_graph(folder: Path) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.admin.refresh(embed=False)
        assert engine.search("polish", mode="words")
        assert not engine.graph.exists()


def test_a_disabled_engine_answers_nothing_about_code(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "rag.enabled": False}) as engine:
        assert not engine.graph.exists()
        assert engine.graph.update() == ()
        assert engine.record_run("r", "s").documents == 0
        assert (
            engine.graph.nodes(),
            engine.graph.routes(),
            engine.graph.related("Stone"),
            engine.graph.history("Stone"),
        ) == ([], [], [], [])
        assert engine.graph.impact("Stone").total == 0


# ── what a running application says ───────────────────────────────────────────────────────────────


def listing() -> str:
    handled = "App\\Http\\Controllers\\StoneController@update"
    update = {
        "method": "PUT",
        "uri": "api/stones/{stone}",
        "name": "stones.update",
        "action": handled,
    }
    other = {"method": "GET|HEAD", "uri": "up", "action": "Closure", "middleware": []}
    return json.dumps([{**update, "middleware": ["api", "auth"]}, other])


def test_a_listing_of_routes_is_evidence_of_its_own_kind(engine: Engine, folder: Path) -> None:
    report = engine.graph.import_listing(listing())
    assert report.changed["links"] >= 1
    (handled,) = dict(engine.graph.explain(engine.graph.node("stones.update")).out_of)[
        "HANDLED_BY"
    ]
    assert (handled.confidence, handled.uri) == ("runtime", API)
    assert engine.graph.node("route:GET up").attributes["runtime"]
    assert (
        engine.graph.node("GET up")
        == engine.graph.node("up")
        == engine.graph.node("route:GET up")
    )
    (folder / "routes/web.php").write_text(APP["routes/web.php"] + "\n", encoding="utf-8")
    engine.sync(embed=False)
    assert engine.graph.node("route:GET up")  # it stays though files have changed
    engine.graph.import_listing("[]")
    with pytest.raises(NotFound):
        engine.graph.node("route:GET up")


@pytest.mark.parametrize(
    "wrong", ["", "{", "{}", "null", "3", 3, None, "[1, 2]", '[{"uri": 3}]']
)
def test_an_invalid_listing_is_refused_and_changes_nothing(engine: Engine, wrong: str) -> None:
    engine.graph.import_listing(listing())
    with pytest.raises(InputError):
        engine.graph.import_listing(wrong)
    assert len(engine.graph.routes()) == 4


def test_a_listing_without_an_application_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync(embed=False)
        with pytest.raises(InputError):
            engine.graph.import_listing(listing())


def test_a_node_object_is_accepted_instead_of_a_name(engine: Engine) -> None:
    node = engine.graph.node("Stone")
    assert engine.graph.related(node) == engine.graph.related("Stone")
    assert engine.graph.related(Node("class:Nobody", "class", "Nobody")) == []


def test_a_name_of_several_collections_is_listed_with_the_collections(tmp_path: Path) -> None:
    (tmp_path / "pick.py").write_text("class Picker:\n    pass\n")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        engine.admin.from_base64(engine.admin.to_base64(), collection="copy")
        with pytest.raises(InputError) as raised:
            engine.graph.related("Picker")
        assert "class:pick.Picker of the collection copy" in str(raised.value)
        assert engine.graph.node("Picker", collection="copy").collection == "copy"
