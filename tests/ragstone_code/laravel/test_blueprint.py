"""Blueprint calls and their effect on tables."""

from __future__ import annotations

import pytest

from ragstone.types import Json
from ragstone_code.laravel.calls import blueprint_methods
from tests.ragstone_code.laravel.shop import column, column_names, migrated, migration, node


def made(*lines: str) -> tuple[str, str]:
    return migration(
        "2020_01_01_000000_a",
        "Schema::create('t', function (Blueprint $table) {\n"
        + "\n".join(f"$table->{line};" for line in lines)
        + "\n});",
    )


def altered(*lines: str) -> tuple[str, str]:
    return migration(
        "2020_02_01_000000_b",
        "Schema::table('t', function (Blueprint $table) {\n"
        + "\n".join(f"$table->{line};" for line in lines)
        + "\n});",
    )


@pytest.mark.parametrize("method", sorted(blueprint_methods()["columns"]))
def test_every_column_method_adds_one_column_of_its_type(method: str) -> None:
    graph = migrated(made(f"{method}('x')"))
    assert column_names(graph, "t") == ["x"]
    assert column(graph, "t.x")["type"] == blueprint_methods()["columns"][method]["type"]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("id()", ["id"]), ("uuid()", ["uuid"]), ("ulid()", ["ulid"]), ("ipAddress()", ["ip_address"]),
        ("macAddress()", ["mac_address"]), ("softDeletes()", ["deleted_at"]), ("softDeletesTz('gone')", ["gone"]),
        ("rememberToken()", ["remember_token"]), ("timestamps()", ["created_at", "updated_at"]),
        ("nullableTimestamps()", ["created_at", "updated_at"]), ("timestampsTz()", ["created_at", "updated_at"]),
        ("datetimes()", ["created_at", "updated_at"]), ("morphs('owner')", ["owner_type", "owner_id"]),
        ("nullableUuidMorphs('owner')", ["owner_type", "owner_id"]),
        ("nestedSet()", ["_lft", "_rgt", "parent_id"]),
        ("addColumn('string', 'x', ['length' => 9])", ["x"]),
        ("after('y', function ($table) { $table->string('x'); })", ["x"]),
    ],
)  # fmt: skip
def test_a_call_without_a_name_gives_laravels_default_names(
    call: str, names: list[str]
) -> None:
    assert column_names(migrated(made(call)), "t") == names


def test_a_chain_sets_the_options_of_its_column() -> None:
    graph = migrated(
        made(
            "string('a', 40)->nullable()->default('x')->comment('why')->unique()",
            "enum('b', ['on', 'off'])->default('on')",
            "timestamp('c')->useCurrent()",
            "integer('d')->unsigned()->autoIncrement()",
            "string('e')->nullable(false)->index('by_e')",
            "string('f')->default(DB::raw('now()'))",
        )
    )
    expected: dict[str, dict[str, Json]] = {
        "a": {
            "type": "string",
            "length": 40,
            "nullable": True,
            "default": "x",
            "comment": "why",
        },
        "b": {"type": "enum", "allowed": ["on", "off"], "nullable": False, "default": "on"},
        "c": {"type": "timestamp", "nullable": False, "default": "CURRENT_TIMESTAMP"},
        "d": {"type": "integer", "nullable": False, "unsigned": True, "auto_increment": True},
        "e": {"type": "string", "nullable": False},
        "f": {"type": "string", "nullable": False, "default": "now()"},
    }
    for name, attributes in expected.items():
        assert column(graph, f"t.{name}") == {**attributes, "name": name, "table": "t"}
    assert node(graph, "table:t").attributes["indexes"] == [
        {"name": "t_a_unique", "kind": "unique", "columns": ["a"]},
        {"name": "by_e", "kind": "index", "columns": ["e"]},
    ]


@pytest.mark.parametrize(
    ("call", "key"),
    [
        ("foreignId('user_id')->constrained()", "user_id->users.id"),
        (
            "foreignId('author_id')->nullable()->constrained('users')->nullOnDelete()",
            "author_id->users.id",
        ),
        ("foreignId('person_code')->constrained(column: 'code')", "person_code->people.code"),
        ("foreignUuid('team_id')->references('key')->on('teams')", "team_id->teams.key"),
        ("foreign('x')->references('id')->on('users')->onDelete('cascade')", "x->users.id"),
        ("foreign(['a', 'b'])->references(['c', 'd'])->on('pairs')", "a,b->pairs.c,d"),
    ],
)
def test_every_way_to_write_a_foreign_key_gives_the_key(call: str, key: str) -> None:
    assert node(migrated(made(call)), "table:t").attributes["foreign_keys"] == [key]


def test_references_on_a_plain_column_makes_no_foreign_key() -> None:
    graph = migrated(made("unsignedInteger('user_id')->references('id')->on('users')"))
    assert node(graph, "table:t").attributes["foreign_keys"] == []


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        (
            ["dropColumn('a')"],
            ["b", "c_type", "c_id", "created_at", "updated_at", "deleted_at", "remember_token"],
        ),
        (
            ["dropColumn('a', 'b')"],
            ["c_type", "c_id", "created_at", "updated_at", "deleted_at", "remember_token"],
        ),
        (
            ["dropColumn(['a', 'b'])", "dropMorphs('c')"],
            ["created_at", "updated_at", "deleted_at", "remember_token"],
        ),
        (
            ["dropTimestamps()", "dropSoftDeletes()", "dropRememberToken()"],
            ["a", "b", "c_type", "c_id"],
        ),
        (
            ["dropConstrainedForeignId('b')", "dropTimestampsTz()"],
            ["a", "c_type", "c_id", "deleted_at", "remember_token"],
        ),
        (
            ["renameColumn('a', 'z')", "dropTimestamps()"],
            ["z", "b", "c_type", "c_id", "deleted_at", "remember_token"],
        ),
    ],
)
def test_columns_are_dropped_and_renamed(calls: list[str], left: list[str]) -> None:
    before = made("string('a')", "foreignId('b')->constrained()", "morphs('c')", "timestamps()", "softDeletes()",
                  "rememberToken()")  # fmt: skip
    assert column_names(migrated(before, altered(*calls)), "t") == left


def test_indexes_and_foreign_keys_are_dropped_by_name_or_columns() -> None:
    before = made("foreignId('a')->constrained('x')", "foreignId('b')->constrained('y')", "string('c')->index()",
                  "unique(['a', 'c'])", "fullText('c', 'words')", "primary('a')",
                  "rawIndex('lower(c)', 'low')")  # fmt: skip
    whole = node(migrated(before), "table:t").attributes
    assert whole["foreign_keys"] == ["a->x.id", "b->y.id"]
    assert isinstance(whole["indexes"], list)
    assert len(whole["indexes"]) == 5
    after = node(
        migrated(
            before,
            altered("dropForeign(['a'])", "dropForeign('t_b_foreign')", "dropIndex('t_c_index')", "dropPrimary()",
                    "dropUnique(['a', 'c'])", "renameIndex('words', 'text')"),
        ),
        "table:t",
    ).attributes  # fmt: skip
    assert after["foreign_keys"] == []
    assert isinstance(after["indexes"], list)
    assert [index["name"] for index in after["indexes"] if isinstance(index, dict)] == [
        "low",
        "text",
    ]


def test_a_blueprint_can_rename_or_drop_its_table() -> None:
    graph = migrated(made("id()"), altered("rename('u')"))
    assert column_names(graph, "u") == ["id"]
    assert [link.kind for link in graph.links] == ["CREATES", "RENAMES"]
    gone = migrated(made("id()"), altered("drop()"))
    assert [node.key for node in gone.nodes if node.kind == "table"] == [
        "table:t#2020_01_01_000000_a"
    ]


def test_morph_columns_use_the_key_type_of_the_application() -> None:
    provider = """<?php namespace App\\Providers; use Illuminate\\Support\\Facades\\Schema;
    class AppServiceProvider { public function boot() { Schema::morphUsingUuids(); } }"""
    plain = migrated(made("morphs('m')"))
    chosen = migrated(
        made("morphs('m')", "numericMorphs('n')"),
        ("app/Providers/AppServiceProvider.php", provider),
    )
    assert column(plain, "t.m_id")["type"] == "bigInteger"
    assert (column(chosen, "t.m_id")["type"], column(chosen, "t.n_id")["type"]) == (
        "uuid",
        "bigInteger",
    )
