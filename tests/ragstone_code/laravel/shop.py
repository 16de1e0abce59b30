"""A small application's database for tests: migrations and models written in place."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.types import Graph, Json, Node
from ragstone_code.laravel.models import read_models
from ragstone_code.laravel.schema import read_tables
from ragstone_code.project_files import World
from tests.ragstone_code.small_world import world_of


def world(files: Mapping[str, str]) -> World:
    """Return a project of these files."""
    return world_of(files)


def migration(name: str, up: str, more: str = "") -> tuple[str, str]:
    """Return a migration with an anonymous class; its `up` starts on line 10."""
    text = f"""<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\DB;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration {{
    public function up(): void {{
{up}
    }}
    {more}
    public function down(): void {{ Schema::dropIfExists('never'); }}
}};
"""
    return f"database/migrations/{name}.php", text


def model(
    name: str, body: str = "", *, extends: str = "Model", before: str = ""
) -> tuple[str, str]:
    """Return a model of the namespace App\\Models; its class starts on line 9 if nothing comes before it."""
    text = f"""<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;
use Illuminate\\Database\\Eloquent\\Relations\\Pivot;
use Illuminate\\Database\\Eloquent\\Relations\\MorphPivot;
{before}
class {name} extends {extends} {{
{body}
}}
"""
    return f"app/Models/{name}.php", text


def migrated(*files: tuple[str, str]) -> Graph:
    """Return the graph of the tables of a project."""
    return read_tables(world(dict(files)))


def modelled(*files: tuple[str, str]) -> Graph:
    """Return the graph of the models of a project."""
    return read_models(world(dict(files)))


def node(graph: Graph, key: str) -> Node:
    """Return a node by its key."""
    return next(node for node in graph.nodes if node.key == key)


def column_names(graph: Graph, table: str) -> list[Json]:
    """Return the columns of a current table."""
    columns = node(graph, f"table:{table}").attributes["columns"]
    assert isinstance(columns, list)
    return [column["name"] for column in columns if isinstance(column, dict)]


def column(graph: Graph, name: str) -> Mapping[str, Json]:
    """Return the attributes of a column, by `table.name`."""
    return node(graph, f"column:{name}").attributes


def links(graph: Graph, kind: str) -> list[tuple[str, str, str]]:
    """Return the links of a kind: source, target and place."""
    return [
        (link.source, link.target, f"{link.uri}:{link.line}")
        for link in graph.links
        if link.kind == kind
    ]
