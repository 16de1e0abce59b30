"""A small application's database for tests: migrations and models written in place."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.code.facts import FileFacts
from ragstone.code.symbols import read
from ragstone.code.world import World
from ragstone.types import Graph, Json, Node
from ragstone_code.laravel.models import read_models
from ragstone_code.laravel.schema import read_tables
from ragstone_code.php import lower


def world(files: Mapping[str, str]) -> World:
    """Return a project of these files."""

    def facts(uri: str) -> FileFacts | None:
        return read(files[uri], uri) if uri.endswith(".php") else None

    return World(tuple(sorted(files)), files.get, facts, lower)


def migration(name: str, up: str, more: str = "") -> tuple[str, str]:
    """Return a migration without a name of its own; its `up` starts on line 10."""
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


def model(name: str, body: str = "", *, extends: str = "Model", before: str = "") -> tuple[str, str]:
    """Return a model of the namespace App\\Models; its class starts on line 9 where nothing is before it."""
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
    """Return what migrations leave."""
    return read_tables(world(dict(files)))


def modelled(*files: tuple[str, str]) -> Graph:
    """Return what models say."""
    return read_models(world(dict(files)))


def node(graph: Graph, key: str) -> Node:
    """Return a node by its key."""
    return next(one for one in graph.nodes if one.key == key)


def column_names(graph: Graph, table: str) -> list[Json]:
    """Return the columns of a table that lives."""
    columns = node(graph, f"table:{table}").attributes["columns"]
    assert isinstance(columns, list)
    return [one["name"] for one in columns if isinstance(one, dict)]


def column(graph: Graph, name: str) -> Mapping[str, Json]:
    """Return what a column is, by `table.name`."""
    return node(graph, f"column:{name}").attributes


def links(graph: Graph, kind: str) -> list[tuple[str, str, str]]:
    """Return the links of a kind: from, to, and the place that says so."""
    return [(one.source, one.target, f"{one.uri}:{one.line}") for one in graph.links if one.kind == kind]
