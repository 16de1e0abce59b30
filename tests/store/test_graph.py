from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ragstone.errors import StoreDamaged
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.example_graph import FILE, FRAMEWORK, ROUTE, SONG
from ragstone.types import CollectionKey, Link, Scope, Step

HERE = Scope("p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store of one collection with a graph in it."""
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.graph.put(CollectionKey("p", "c"), {"file:a": FILE, "frame": FRAMEWORK})
    return path


def spoil(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE graph_links SET confidence = 'perhaps' WHERE kind = 'MAPS_TO'",
        "UPDATE graph_nodes SET attributes = '{' WHERE kind = 'model'",
        "UPDATE graph_aliases SET collection = collection + 1",
        "DELETE FROM graph_owners",
    ],
)
def test_a_spoiled_graph_is_found_by_the_check(path: Path, statement: str) -> None:
    with SqliteStore(path) as store:
        assert all(finding.ok for finding in store.check())
    spoil(path, statement)
    with SqliteStore(path) as store:
        assert "graph" in {finding.name for finding in store.check() if not finding.ok}


def test_rows_that_cannot_be_read_are_reported_as_damage(path: Path) -> None:
    spoil(path, "UPDATE graph_links SET confidence = 'perhaps' WHERE kind = 'MAPS_TO'")
    with SqliteStore(path) as store, pytest.raises(StoreDamaged):
        store.graph.links(HERE, [SONG])


def test_a_link_to_a_missing_node_is_no_problem(path: Path) -> None:
    with SqliteStore(path) as store:
        targets = [link.target for link in store.graph.links(HERE, [SONG], kinds=["EXTENDS"])]
        assert (targets, store.graph.nodes(HERE, keys=targets)) == (["class:Vendor\\Model"], [])
        assert all(finding.ok for finding in store.check())


def test_a_copy_and_a_compacted_store_hold_the_same_graph(path: Path, tmp_path: Path) -> None:
    with SqliteStore(path) as store:
        store.compact(secure=True)
        full = (
            store.graph.nodes(HERE),
            store.graph.links(HERE, [ROUTE]),
            store.graph.unresolved(HERE),
        )
        store.backup(tmp_path / "copy.db")
    with SqliteStore(tmp_path / "copy.db") as copy:
        assert (
            copy.graph.nodes(HERE),
            copy.graph.links(HERE, [ROUTE]),
            copy.graph.unresolved(HERE),
        ) == full
        assert len(full[0]) == 4


def test_every_question_is_answered_by_an_index(path: Path) -> None:
    """A statement that looks at every row of a table would be slow in a large project."""
    queries: list[str] = []
    with SqliteStore(path) as store:
        with store.rows() as db:
            db.set_trace_callback(queries.append)
        store.graph.nodes(HERE, keys=[SONG])
        store.graph.nodes(HERE, kinds=["model"])
        store.graph.nodes(HERE, uris=["app/Song.php"])
        store.graph.find_aliases(HERE, ["song"])
        store.graph.links(HERE, [SONG], kinds=["MAPS_TO"])
        store.graph.links(HERE, [SONG], back=True)
        store.graph.walk(
            HERE,
            [ROUTE],
            [
                Step(("HANDLED_BY",)),
                Step(("USES_MODEL",), to=("model",)),
                Step(("CALLS",), back=True),
            ],
        )
        store.graph.unresolved(HERE, name="touch")
        store.graph.unresolved(HERE, sources=["x"])
        store.graph.put(CollectionKey("p", "c"), {"frame": FRAMEWORK})
    db = sqlite3.connect(path)
    graph = [statement for statement in queries if "graph_" in statement]
    plans = {
        step[3] for statement in graph for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
    }
    db.close()
    assert len(graph) >= 8
    assert not {
        plan for plan in plans if plan.startswith("SCAN") and "VIRTUAL TABLE" not in plan
    }


def test_ten_thousand_links_are_walked_along_their_index(tmp_path: Path) -> None:
    many = tuple(Link("CALLS", f"m:{n}", f"m:{n + 1}", "f", n) for n in range(10_000))
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        part = FILE + type(FILE)(links=many)
        assert store.graph.put(CollectionKey("p", "c"), {"file:a": part})["links"] == 10_002
        assert (
            store.graph.put(
                CollectionKey("p", "c"), {"file:a": FILE + type(FILE)(links=many[1:])}
            )["links"]
            == 1
        )
        (walked,) = store.graph.walk(HERE, ["m:5000"], [Step(("CALLS",))] * 4)
        assert walked.nodes[-1].key == "m:5004"
