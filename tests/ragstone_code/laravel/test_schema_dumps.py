"""SQL of three dialects, applied to tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone_code.laravel import schema_dumps
from ragstone_code.laravel.tables import MigrationLine, Table, TableHistory

AT = MigrationLine("dump", "database/schema/x.sql", 1)

MYSQL = """/*!40101 SET NAMES utf8 */;
-- a comment; with a semicolon
DROP TABLE IF EXISTS `posts`;
CREATE TABLE `posts` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `user_id` int DEFAULT NULL,
  `title` varchar(200) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'a, (b); c',
  `shown` tinyint(1) NOT NULL DEFAULT '1',
  `state` enum('new','old') NOT NULL,
  `created_at` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `posts_title_unique` (`title`),
  KEY `posts_user_id_foreign` (`user_id`),
  CONSTRAINT `posts_user_id_foreign` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO `migrations` VALUES (1,'2020_01_01_000000_create_posts',1);
"""
POSTGRES = """SET client_encoding = 'UTF8';
CREATE TABLE public.posts (
    id bigint NOT NULL,
    user_id integer,
    title character varying(200) DEFAULT 'a, (b); c'::character varying NOT NULL,
    shown boolean DEFAULT true NOT NULL,
    state character varying(255) NOT NULL,
    created_at timestamp(0) without time zone,
    CONSTRAINT posts_state_check CHECK (((state)::text = ANY (ARRAY['new'::text, 'old'::text])))
);
ALTER TABLE public.posts OWNER TO someone;
ALTER TABLE ONLY public.posts ALTER COLUMN id SET DEFAULT nextval('public.posts_id_seq'::regclass);
ALTER TABLE ONLY public.posts ADD CONSTRAINT posts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts ADD CONSTRAINT posts_title_unique UNIQUE (title);
ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
COPY public.migrations (id, migration, batch) FROM stdin;
1\t2020_01_01_000000_create_posts\t1
\\.
"""
SQLITE = """CREATE TABLE IF NOT EXISTS "posts" ("id" integer primary key autoincrement not null, "user_id" integer,
 "title" varchar not null default 'a, (b); c', "shown" tinyint(1) not null default '1', "state" varchar
 check ("state" in ('new', 'old')) not null, "created_at" datetime,
 foreign key("user_id") references "users"("id") on delete cascade);
CREATE UNIQUE INDEX "posts_title_unique" on "posts" ("title");
INSERT INTO migrations VALUES(1,'2020_01_01_000000_create_posts',1);
"""


def read(text: str) -> TableHistory:
    tables = TableHistory()
    for line, sql in schema_dumps.split_statements(text):
        schema_dumps.apply_statement(sql, tables, MigrationLine("dump", "x.sql", line))
    return tables


def posts(text: str) -> Table:
    table = read(text).find("posts")
    assert table is not None
    return table


@pytest.mark.parametrize("text", [MYSQL, POSTGRES, SQLITE], ids=["mysql", "postgres", "sqlite"])
def test_a_dump_gives_the_same_table_in_every_dialect(text: str) -> None:
    table = posts(text)
    assert list(table.columns) == ["id", "user_id", "title", "shown", "state", "created_at"]
    assert [column.name for column in table.columns.values() if column.nullable] == [
        "user_id",
        "created_at",
    ]
    assert table.columns["title"].more["default"] == "a, (b); c"
    assert table.columns["title"].type == "string"
    assert table.columns["shown"].type == "boolean"
    assert table.columns["id"].more["auto_increment"] is True
    assert [key.text for key in table.foreign.values()] == ["user_id->users.id"]
    assert [key.more for key in table.foreign.values()] == [{"on_delete": "cascade"}]
    assert {(index.kind, index.columns) for index in table.indexes.values()} >= {
        ("primary", ("id",)),
        ("unique", ("title",)),
    }
    assert schema_dumps.migration_names(text) == ["2020_01_01_000000_create_posts"]


def test_statements_have_the_line_of_their_first_word() -> None:
    lines = {
        sql.split("(")[0].strip(): line for line, sql in schema_dumps.split_statements(MYSQL)
    }
    assert lines["DROP TABLE IF EXISTS `posts`"] == 3
    assert lines["CREATE TABLE `posts`"] == 4


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("ALTER TABLE t ADD c int", ["a", "b", "c"]),
        (
            "ALTER TABLE t ADD COLUMN IF NOT EXISTS c int, ADD (d int, e varchar(3))",
            ["a", "b", "c", "d", "e"],
        ),
        ("alter table `t` drop column `a`", ["b"]),
        ("ALTER TABLE t DROP a", ["b"]),
        ("ALTER TABLE t RENAME COLUMN a TO z", ["z", "b"]),
        ("ALTER TABLE t CHANGE `a` `z` varchar(9) NULL", ["z", "b"]),
        ("ALTER TABLE t MODIFY COLUMN a text, ADD INDEX ab (a, b)", ["a", "b"]),
        ("ALTER TABLE t DROP FOREIGN KEY a", ["a", "b"]),
        ("ALTER TABLE t ALTER COLUMN a TYPE jsonb USING a::jsonb", ["a", "b"]),
        ("ALTER TABLE public.t ADD CONSTRAINT k CHECK (a > 0)", ["a", "b"]),
    ],
)
def test_alter_statements_change_the_columns(sql: str, columns: list[str]) -> None:
    tables = read("CREATE TABLE t (a int, b int)")
    assert schema_dumps.apply_statement(sql, tables, AT)
    table = tables.find("t")
    assert table is not None
    assert list(table.columns) == columns


def test_tables_are_renamed_copied_and_dropped() -> None:
    tables = read(
        "CREATE TABLE t (a int); ALTER TABLE t RENAME TO u; CREATE TABLE v LIKE u; RENAME TABLE v TO w"
    )
    assert sorted(table.name for table in tables.current()) == ["u", "w"]
    copied = tables.find("w")
    assert copied is not None
    assert list(copied.columns) == ["a"]
    assert schema_dumps.apply_statement("DROP TABLE IF EXISTS u, w CASCADE", tables, AT)
    assert list(tables.current()) == []
    assert not schema_dumps.apply_statement("SELECT 1", tables, AT)


@given(
    st.text(alphabet="CREATE TABLE alter table()`'\",;ab int ADD COLUMN\n-#/*", max_size=120)
)
def test_any_text_can_be_read(text: str) -> None:
    tables = read(text)
    assert all(table.name for table in tables.current())
