"""Answers about tables: their migrations, columns and keys."""

from __future__ import annotations

import re
from typing import Any, Final

from ragstone.types import Json, Link, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    class_name,
    folders_of,
    join_names,
    place_of,
    places_of_links,
    plain_name,
    string_list,
    table_name,
)

_MIGRATION_LINKS: Final = ("CREATES", "ALTERS", "RENAMES", "DROPS")
_MIGRATION_VERBS: Final = (
    ("CREATES", r"\bcreat\w*|\bintroduc\w*|\bmade\b"),
    ("ALTERS", r"\balter\w*|\bchang\w*|\bmodif\w*|\badd\w*|\bupdat\w*"),
    ("RENAMES", r"\brenam\w*"),
    ("DROPS", r"\bdropp?\w*|\bdelet\w*"),
)
"""Kinds of links, and the words that ask for them."""
_WHOLE_HISTORY: Final = re.compile(
    r"\bhistory\b|\ball\b|\bevery\b|\bshape\b|\btouch\w*|\bevol\w*|\bor\b|\band\b|\binvolv\w*|\bover time\b"
)
"""Words that ask for all migrations of a table."""


def find_migrations(query: GraphQuery) -> AnswerPart:
    """Return the migrations of a table in order; only those that create, alter … it if the question says so."""
    table = _find_table(query)
    if table is None:
        return _no_table(query, {"migrations": []})
    all_links = query.links_to([table.key], *_MIGRATION_LINKS)
    links = _selected_links(query, all_links, table)
    ordered_links = sorted(links, key=_migration_order)
    names = list(dict.fromkeys(plain_name(link.source) for link in ordered_links))
    former_names = string_list(table.attributes.get("former_names"))
    facts: dict[str, Json] = {
        "migrations": list(names),
        "former_names": list(former_names),
        "table": table_name(table.key),
    }
    if table.attributes.get("dropped"):
        facts["dropped"] = table.attributes["dropped"]
    if not names:
        return _no_migration(query, table, facts)
    evidence = places_of_links(ordered_links)
    texts = [
        f"{name} ({uri}:{line})" for name, (uri, line) in zip(names, evidence, strict=False)
    ]
    formerly = f", formerly {join_names(former_names)}" if former_names else ""
    sentence = f"The table {table_name(table.key)}{formerly}: {join_names(texts, 30)}."
    migrations = query.nodes(link.source for link in links)
    return AnswerPart(
        facts,
        sentence,
        [*evidence, *place_of(table)],
        [table, *migrations.values()],
    )


def _no_migration(query: GraphQuery, table: Node, facts: dict[str, Json]) -> AnswerPart:
    """Return that no migration does what the question asks for."""
    verbs = " or ".join(kind.lower() for kind in _asked_link_kinds(query)) or "touches"
    looked_in = folders_of(query.nodes_of_kind("migration"))
    sentence = f"No migration {verbs} the table {table_name(table.key)}; looked in {join_names(looked_in, 5) or 'all files'}."
    return AnswerPart(
        facts,
        sentence,
        place_of(table),
        [table],
        negative=True,
        looked_in=looked_in,
    )


def _selected_links(query: GraphQuery, links: list[Link], table: Node) -> list[Link]:
    """Return the links that the question asks for: those of a column, those of one kind, or all."""
    columns = _mentioned_columns(query, table)
    column_links = [link for link in links if not columns.isdisjoint(_linked_columns(link))]
    if column_links:
        return column_links
    kinds = _asked_link_kinds(query)
    if len(kinds) != 1 or _WHOLE_HISTORY.search(query.text):
        return links
    if kinds == ["ALTERS"]:
        return [link for link in links if link.kind != "CREATES"]
    return [link for link in links if link.kind == kinds[0]]


def _asked_link_kinds(query: GraphQuery) -> list[str]:
    """Return the kinds of links that the words of the question ask for."""
    return [kind for kind, words in _MIGRATION_VERBS if re.search(words, query.text)]


def _mentioned_columns(query: GraphQuery, table: Node) -> set[str]:
    """Return the columns of a table that the question names."""
    prefix = f"{table_name(table.key)}."
    columns: set[str] = set()
    for node in (*query.anchor.nodes, *query.other_nodes()):
        name = plain_name(node.key)
        if node.kind == "column" and name.startswith(prefix):
            columns.add(name.rpartition(".")[2])
    own_columns = {str(row.get("name")) for row in _column_rows(table)}
    return columns | own_columns.intersection(query.other_names())


def _linked_columns(link: Link) -> list[str]:
    """Return the columns that a migration changes."""
    columns = link.attributes.get("columns")
    if isinstance(columns, dict):
        return list(columns)
    if not isinstance(columns, list):
        return []
    return [_column_name(column) for column in columns]


def _column_name(column: Any) -> str:  # noqa: ANN401 an element of a JSON list
    """Return the name of a column, which is a string or a dictionary with a name."""
    return str(column.get("name") if isinstance(column, dict) else column)


def find_columns(query: GraphQuery) -> AnswerPart:
    """Return the current columns and foreign keys of a table."""
    table = _find_table(query)
    if table is None:
        return _no_table(query, {"columns": [], "foreign_keys": []})
    columns = _column_rows(table)
    names = [str(column.get("name")) for column in columns]
    foreign_keys = list(dict.fromkeys(string_list(table.attributes.get("foreign_keys"))))
    facts: dict[str, Json] = {
        "columns": list(names),
        "types": {str(column.get("name")): column.get("type") for column in columns},
        "foreign_keys": list(foreign_keys),
        "table": table_name(table.key),
    }
    if query.role == "model":
        facts["model"] = class_name(query.node.key)
    links = query.links_to([table.key], "CREATES", "ALTERS", "RENAMES")
    evidence = [*places_of_links(sorted(links, key=_migration_order)), *place_of(table)]
    foreign_text = (
        f"foreign keys: {join_names(foreign_keys, 30)}" if foreign_keys else "no foreign key"
    )
    place = f" ({evidence[0][0]}:{evidence[0][1]})" if evidence else ""
    columns_text = join_names(names, 60) or "no column that is known"
    sentence = f"The table {table_name(table.key)} has {columns_text}; {foreign_text}{place}."
    migrations = query.nodes(link.source for link in links)
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [table, *migrations.values()],
        negative=not names,
        looked_in=[] if names else [table.uri],
    )


def _column_rows(table: Node) -> list[dict[str, Any]]:
    """Return the columns in the attributes of a table."""
    rows = table.attributes.get("columns")
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, dict)]


def find_migrated_tables(query: GraphQuery) -> AnswerPart:
    """Return the tables that a migration changes, and how."""
    migration = query.node
    links = query.links_from([migration.key], *_MIGRATION_LINKS)
    changes = list(dict.fromkeys((link.kind, table_name(link.target)) for link in links))
    facts: dict[str, Json] = {"tables": list(dict.fromkeys(name for _, name in changes))}
    texts = [f"{kind.lower()} {name}" for kind, name in changes]
    changes_text = join_names(texts, 30) or "touches no table that is known"
    sentence = f"{plain_name(migration.key)} {changes_text} ({migration.place})."
    return AnswerPart(
        facts,
        sentence,
        [*places_of_links(links), *place_of(migration)],
        [migration],
        negative=not changes,
        looked_in=[] if changes else [migration.uri],
    )


def _find_table(query: GraphQuery) -> Node | None:
    """Return the table in question: the node itself, the table of a column, or the table of a model."""
    if query.node.kind == "table":
        return query.node
    if query.node.kind == "column":
        key = f"table:{plain_name(query.node.key).rpartition('.')[0]}"
        return query.nodes([key]).get(key)
    walked = query.walk("table", ("MAPS_TO",))
    return walked[0].nodes[-1] if walked else None


def _no_table(query: GraphQuery, facts: dict[str, Json]) -> AnswerPart:
    """Return that no table is known for the node."""
    node = query.node
    sentence = f"No table is known for {query.anchor.mention.text}; looked in {node.uri or 'all files'}."
    return query.negative_part(facts, sentence, [node.uri])


def _migration_order(link: Link) -> tuple[str, int]:
    """Return the sort key of a migration's link."""
    return plain_name(link.source), link.line
