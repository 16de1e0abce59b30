from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.types import Graph
from ragstone_code.sqlalchemy import SqlAlchemy
from tests.ragstone_code.projects import files, run_script, unpacked
from tests.ragstone_code.small_world import world_of

METADATA = """
import json, sys
{make}
schema = {{}}
for table in metadata.tables.values():
    schema[table.name] = {{
        "columns": {{column.name: bool(column.nullable) for column in table.columns}},
        "key": sorted(column.name for column in table.primary_key.columns),
        "related": sorted(f"{{key.parent.name}}->{{key.target_fullname}}" for key in table.foreign_keys),
    }}
json.dump(schema, sys.stdout)
"""
UPGRADED = """
import json, sys, contextlib, io
from alembic import command
from alembic.config import Config
with contextlib.redirect_stdout(io.StringIO()):
    command.upgrade(Config("alembic.ini"), "head")
from sqlalchemy import create_engine, inspect
inspector = inspect(create_engine("sqlite:///notes.db"))
schema = {}
for table in inspector.get_table_names():
    key = inspector.get_pk_constraint(table)["constrained_columns"]
    schema[table] = {
        "columns": {column["name"]: bool(column["nullable"]) for column in inspector.get_columns(table)},
        "key": sorted(key),
        "related": sorted(
            f"{own}->{foreign['referred_table']}.{there}"
            for foreign in inspector.get_foreign_keys(table)
            for own, there in zip(foreign["constrained_columns"], foreign["referred_columns"])
        ),
    }
schema.pop("alembic_version")
json.dump(schema, sys.stdout)
"""
PROJECTS = {
    "fastapi_notes": ("from notes.models import Base\nmetadata = Base.metadata", "backend"),
    "fastapi_shop": (
        "import shop.models\nfrom sqlmodel import SQLModel\nmetadata = SQLModel.metadata",
        "",
    ),
    "flask_diary": (
        "import diary.models\nfrom diary.extensions import db\nmetadata = db.metadata",
        "",
    ),
}


def models_only(name: str) -> dict[str, str]:
    return {path: text for path, text in files(name).items() if "/versions/" not in path}


def tables(graph: Graph) -> dict[str, Any]:
    schema = {}
    for node in graph.nodes:
        if (
            node.kind == "table"
            and not node.attributes.get("external")
            and not node.attributes["dropped"]
        ):
            columns: Any = node.attributes["columns"]
            keys: Any = node.attributes["foreign_keys"]
            schema[node.name] = {
                "columns": {column["name"]: column["nullable"] for column in columns},
                "key": sorted(column["name"] for column in columns if column.get("primary")),
                "related": sorted(keys),
            }
    return schema


@pytest.mark.parametrize("name", PROJECTS)
def test_tables_of_models_match_sqlalchemys_metadata(name: str, tmp_path: Path) -> None:
    make, folder = PROJECTS[name]
    needed = ("sqlalchemy", "sqlmodel", "flask_sqlalchemy", "fastapi")
    theirs = run_script(METADATA.format(make=make), unpacked(name, tmp_path) / folder, *needed)
    assert tables(SqlAlchemy().read(world_of(models_only(name)))) == theirs


def test_tables_after_migrations_match_alembic(tmp_path: Path) -> None:
    theirs = run_script(
        UPGRADED, unpacked("fastapi_notes", tmp_path) / "backend", "alembic", "sqlalchemy"
    )
    graph = SqlAlchemy().read(world_of(files("fastapi_notes")))
    assert tables(graph) == theirs
    people = next(node for node in graph.nodes if node.key == "table:people")
    assert people.attributes["former_names"] == ["persons"]
    assert people.attributes["migrations"] == ["aa_people", "cc_between", "bb_later"]
    assert "table:scratch#aa_people" in {node.key for node in graph.nodes}


def test_relations_match_the_models() -> None:
    graph = SqlAlchemy().read(world_of(files("fastapi_notes")))
    relations = {
        (link.source.rpartition(".")[2], link.attributes["name"]): (
            link.target,
            link.attributes["type"],
        )
        for link in graph.links
        if link.kind == "RELATES"
    }
    assert relations == {
        ("Note", "owner"): ("class:backend.notes.models.Person", "many_to_one"),
        ("Note", "tags"): ("class:backend.notes.models.Tag", "many_to_many"),
        ("Person", "notes"): ("class:backend.notes.models.Note", "relationship"),
    }
    maps = {
        link.source.rpartition(".")[2]: link.target
        for link in graph.links
        if link.kind == "MAPS_TO"
    }
    assert maps == {"Note": "table:notes", "Person": "table:people", "Tag": "table:tags"}
    pivot = next(link for link in graph.links if link.attributes.get("name") == "tags")
    assert pivot.attributes["pivot"] == "labels"


def test_table_names_by_convention_match_the_extensions() -> None:
    graph = SqlAlchemy().read(world_of(files("flask_diary")))
    maps = {
        link.source.rpartition(".")[2]: (link.target, link.confidence)
        for link in graph.links
        if link.kind == "MAPS_TO"
    }
    assert maps == {
        "User": ("table:user", "convention"),
        "Entry": ("table:diary_entry", "declared"),
        "LoginAttempt": ("table:login_attempt", "convention"),
    }


def test_without_a_migration_the_earlier_schema_remains() -> None:
    texts = files("fastapi_notes")
    del texts["backend/versions_of/versions/bb_later.py"]
    schema = tables(SqlAlchemy().read(world_of(texts)))
    assert {"persons", "scratch"} <= set(schema)
    assert set(schema["notes"]["columns"]) == {"id", "body", "owner"}
