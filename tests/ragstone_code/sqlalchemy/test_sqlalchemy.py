from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.types import Graph
from ragstone_code.sqlalchemy import SqlAlchemy
from tests.ragstone_code.projects import files, told, unpacked, world_of

METADATA = """
import json, sys
{make}
found = {{}}
for table in metadata.tables.values():
    found[table.name] = {{
        "columns": {{one.name: bool(one.nullable) for one in table.columns}},
        "key": sorted(one.name for one in table.primary_key.columns),
        "related": sorted(f"{{key.parent.name}}->{{key.target_fullname}}" for key in table.foreign_keys),
    }}
json.dump(found, sys.stdout)
"""
UPGRADED = """
import json, sys, contextlib, io
from alembic import command
from alembic.config import Config
with contextlib.redirect_stdout(io.StringIO()):
    command.upgrade(Config("alembic.ini"), "head")
from sqlalchemy import create_engine, inspect
looked = inspect(create_engine("sqlite:///notes.db"))
found = {}
for table in looked.get_table_names():
    key = looked.get_pk_constraint(table)["constrained_columns"]
    found[table] = {
        "columns": {one["name"]: bool(one["nullable"]) for one in looked.get_columns(table)},
        "key": sorted(key),
        "related": sorted(
            f"{own}->{one['referred_table']}.{there}"
            for one in looked.get_foreign_keys(table)
            for own, there in zip(one["constrained_columns"], one["referred_columns"])
        ),
    }
found.pop("alembic_version")
json.dump(found, sys.stdout)
"""
PROJECTS = {
    "fastapi_notes": ("from notes.models import Base\nmetadata = Base.metadata", "backend"),
    "fastapi_shop": ("import shop.models\nfrom sqlmodel import SQLModel\nmetadata = SQLModel.metadata", ""),
    "flask_diary": ("import diary.models\nfrom diary.extensions import db\nmetadata = db.metadata", ""),
}


def models_only(name: str) -> dict[str, str]:
    return {path: text for path, text in files(name).items() if "/versions/" not in path}


def tables(graph: Graph) -> dict[str, Any]:
    found = {}
    for node in graph.nodes:
        if node.kind == "table" and not node.attributes.get("external") and not node.attributes["dropped"]:
            columns: Any = node.attributes["columns"]
            keys: Any = node.attributes["foreign_keys"]
            found[node.name] = {
                "columns": {one["name"]: one["nullable"] for one in columns},
                "key": sorted(one["name"] for one in columns if one.get("primary")),
                "related": sorted(keys),
            }
    return found


@pytest.mark.parametrize("name", PROJECTS)
def test_tables_of_models_are_those_of_their_metadata(name: str, tmp_path: Path) -> None:
    make, folder = PROJECTS[name]
    needed = ("sqlalchemy", "sqlmodel", "flask_sqlalchemy", "fastapi")
    theirs = told(METADATA.format(make=make), unpacked(name, tmp_path) / folder, *needed)
    assert tables(SqlAlchemy().read(world_of(models_only(name)))) == theirs


def test_tables_after_migrations_are_those_that_alembic_makes(tmp_path: Path) -> None:
    theirs = told(UPGRADED, unpacked("fastapi_notes", tmp_path) / "backend", "alembic", "sqlalchemy")
    graph = SqlAlchemy().read(world_of(files("fastapi_notes")))
    assert tables(graph) == theirs
    people = next(node for node in graph.nodes if node.key == "table:people")
    assert people.attributes["former_names"] == ["persons"]
    assert people.attributes["migrations"] == ["aa_people", "cc_between", "bb_later"]
    assert "table:scratch#aa_people" in {node.key for node in graph.nodes}


def test_models_relate_as_they_are_written() -> None:
    graph = SqlAlchemy().read(world_of(files("fastapi_notes")))
    found = {
        (link.source.rpartition(".")[2], link.attributes["name"]): (link.target, link.attributes["type"])
        for link in graph.links
        if link.kind == "RELATES"
    }
    assert found == {
        ("Note", "owner"): ("class:backend.notes.models.Person", "many_to_one"),
        ("Note", "tags"): ("class:backend.notes.models.Tag", "many_to_many"),
        ("Person", "notes"): ("class:backend.notes.models.Note", "relationship"),
    }
    maps = {link.source.rpartition(".")[2]: link.target for link in graph.links if link.kind == "MAPS_TO"}
    assert maps == {"Note": "table:notes", "Person": "table:people", "Tag": "table:tags"}
    pivot = next(link for link in graph.links if link.attributes.get("name") == "tags")
    assert pivot.attributes["pivot"] == "labels"


def test_conventions_name_tables_as_the_extensions_do() -> None:
    graph = SqlAlchemy().read(world_of(files("flask_diary")))
    maps = {
        link.source.rpartition(".")[2]: (link.target, link.confidence) for link in graph.links if link.kind == "MAPS_TO"
    }
    assert maps == {
        "User": ("table:user", "convention"),
        "Entry": ("table:diary_entry", "declared"),
        "LoginAttempt": ("table:login_attempt", "convention"),
    }


def test_taking_a_migration_away_restores_what_was_before() -> None:
    texts = files("fastapi_notes")
    del texts["backend/versions_of/versions/bb_later.py"]
    found = tables(SqlAlchemy().read(world_of(texts)))
    assert {"persons", "scratch"} <= set(found)
    assert set(found["notes"]["columns"]) == {"id", "body", "owner"}
