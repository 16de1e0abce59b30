"""SQL of schema dumps and raw migration statements, applied to a `TableHistory`.

The dialects of MySQL, PostgreSQL and SQLite are understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ragstone_code.laravel import sql_definitions
from ragstone_code.laravel.sql_definitions import NAME, column_names, split_list, unquote
from ragstone_code.laravel.tables import (
    MigrationChange,
    MigrationLine,
    Table,
    TableHistory,
    TableIndex,
)

_PIECE: Final = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`)
      | (?P<comment>--[^\n]*|\#[^\n]*|/\*(?!!).*?\*/)
      | (?P<end>;)
      | (?P<copy>\bCOPY\s[^;]*?\sFROM\s+stdin;\n.*?\n\\\.)
      | (?P<other>[^'"`;\#/cC-]+|.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_INSERT_MIGRATIONS: Final = re.compile(
    r"INSERT\s+INTO\s+(?:[\w.\"`\[\]]*\.)?[\"`\[]?migrations[\"`\]]?",
    re.IGNORECASE,
)
_COPY_MIGRATIONS: Final = re.compile(r"COPY\s+(?:\w+\.)?\"?migrations\b", re.IGNORECASE)
_MIGRATION_NAME: Final = re.compile(r"['\t]\s*(\d{4}_\d{2}_\d{2}_\d{6}_[^'\t\n]+?)['\t]")
_CREATE_TABLE: Final = re.compile(
    rf"CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?({NAME})\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_CREATE_INDEX: Final = re.compile(
    rf"CREATE\s+(UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?({NAME})\s+ON"
    rf"\s+(?:ONLY\s+)?({NAME})\s*(?:USING\s+\w+\s*)?\((.*)\)",
    re.IGNORECASE | re.DOTALL,
)
_ALTER_TABLE: Final = re.compile(
    rf"ALTER\s+(?:IGNORE\s+)?TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?({NAME})\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
_IRRELEVANT_ALTER: Final = re.compile(
    r"(?:OWNER|DISABLE|ENABLE|SET|ALTER COLUMN \S+ ADD)\b", re.IGNORECASE
)
_DROP_TABLE: Final = re.compile(
    r"DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(.*)", re.IGNORECASE | re.DOTALL
)
_DROP_OPTION: Final = re.compile(r"\s+(?:CASCADE|RESTRICT)\s*$", re.IGNORECASE)
_RENAME_TABLE: Final = re.compile(rf"RENAME\s+TABLE\s+({NAME})\s+TO\s+({NAME})", re.IGNORECASE)
_LIKE: Final = re.compile(rf"\(?\s*LIKE\s+({NAME})", re.IGNORECASE)


def split_statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement of a dump with the line of its first word; comments are left out."""
    line = 1
    start = 0
    statement = ""
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        piece = match[0]
        if kind in ("end", "copy"):
            if statement.strip() or kind == "copy":
                yield start or line, (statement + piece).strip().rstrip(";")
            statement = ""
            start = 0
        elif kind != "comment":
            if not start and piece.strip():
                blank = len(piece) - len(piece.lstrip())
                start = line + piece[:blank].count("\n")
            statement += piece
        line += piece.count("\n")
    if statement.strip():
        yield start, statement.strip()


def migration_names(text: str) -> list[str]:
    """Return the names of the migrations that had run before a dump was written."""
    migrations: list[str] = []
    for _, sql in split_statements(text):
        if _COPY_MIGRATIONS.match(sql) or _INSERT_MIGRATIONS.match(sql):
            migrations.extend(_MIGRATION_NAME.findall(sql))
    return migrations


def apply_statement(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    """Apply one SQL statement to the tables; return whether the statement concerns tables."""
    statement = sql.strip().rstrip(";")
    appliers = (_create_table, _alter_table, _create_index, _drop_tables, _rename_table)
    return any(apply(statement, history, at) for apply in appliers)


def _create_table(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    match = _CREATE_TABLE.match(sql)
    if not match:
        return False
    table = history.create(unquote(match[1]), at)
    like = _LIKE.match(match[2])
    if like:
        template = history.find(unquote(like[1]))
        table.columns = dict(template.columns) if template else {}
    else:
        for definition in split_list(sql_definitions.bracket_content(match[2])):
            sql_definitions.apply_definition(table, definition, at)
    table.changes.append(MigrationChange("CREATES", at, tuple(table.columns), raw=True))
    return True


def _create_index(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    match = _CREATE_INDEX.match(sql)
    if not match:
        return False
    kind = (match[1] or "index").strip().lower()
    table = history.find(unquote(match[3]))
    if table is not None:
        columns = column_names(match[4])
        table.indexes[unquote(match[2])] = TableIndex(kind, columns)
        table.changes.append(MigrationChange("ALTERS", at, columns, raw=True))
    return True


def _drop_tables(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    match = _DROP_TABLE.match(sql)
    if not match:
        return False
    for name in column_names(_DROP_OPTION.sub("", match[1])):
        history.drop(name, at)
    return True


def _rename_table(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    match = _RENAME_TABLE.match(sql)
    if not match:
        return False
    history.rename(unquote(match[1]), unquote(match[2]), at)
    return True


def _alter_table(sql: str, history: TableHistory, at: MigrationLine) -> bool:
    match = _ALTER_TABLE.match(sql)
    if not match:
        return False
    name = unquote(match[1])
    if history.find(name) is None and _IRRELEVANT_ALTER.match(match[2]):
        return True
    table = history.find_to_alter(name, at)
    touched: list[str] = []
    for action in split_list(match[2]):
        touched.extend(_apply_action(action.strip(), history, table, at))
    columns = tuple(dict.fromkeys(touched))
    table.changes.append(MigrationChange("ALTERS", at, columns, raw=True))
    return True


# ── actions of ALTER TABLE ───────────────────────────────────────────────────────────────────

ActionHandler = Callable[[TableHistory, Table, "re.Match[str]", MigrationLine], tuple[str, ...]]
"""Applies one matched action and returns the names of the columns that it touches."""


def _apply_action(
    action: str,
    history: TableHistory,
    table: Table,
    at: MigrationLine,
) -> tuple[str, ...]:
    """Apply one action of an ALTER TABLE; return the columns that it touches."""
    for pattern, handler in _ACTIONS:
        match = pattern.match(action)
        if match:
            return handler(history, table, match, at)
    return ()


def _on_rename_column(
    history: TableHistory,
    table: Table,
    match: re.Match[str],
    at: MigrationLine,
) -> tuple[str, ...]:
    name = unquote(match[1])
    new_name = unquote(match[2])
    history.rename_column(table, name, new_name, at)
    return name, new_name


def _on_rename_index(
    _history: TableHistory,
    _table: Table,
    _match: re.Match[str],
    _at: MigrationLine,
) -> tuple[str, ...]:
    return ()


def _on_rename_table(
    history: TableHistory,
    table: Table,
    match: re.Match[str],
    at: MigrationLine,
) -> tuple[str, ...]:
    history.rename(table.name, unquote(match[1]), at)
    return ()


def _on_change_column(
    history: TableHistory,
    table: Table,
    match: re.Match[str],
    at: MigrationLine,
) -> tuple[str, ...]:
    name = unquote(match[1])
    new_name = unquote(match[2])
    if name != new_name:
        history.rename_column(table, name, new_name, at)
    sql_definitions.apply_definition(table, f"{match[2]} {match[3]}", at)
    return tuple(dict.fromkeys((name, new_name)))


def _on_modify_column(
    _history: TableHistory,
    table: Table,
    match: re.Match[str],
    at: MigrationLine,
) -> tuple[str, ...]:
    sql_definitions.apply_definition(table, match[1], at)
    return column_names(match[1].split()[0])


def _on_drop_key(
    _history: TableHistory,
    table: Table,
    match: re.Match[str],
    _at: MigrationLine,
) -> tuple[str, ...]:
    name = unquote(match[2]) if match[2] else ""
    if match[1].upper().startswith("PRIMARY"):
        table.indexes = {
            key: index for key, index in table.indexes.items() if index.kind != "primary"
        }
    table.indexes.pop(name, None)
    table.foreign.pop(name, None)
    return ()


def _on_drop_column(
    _history: TableHistory,
    table: Table,
    match: re.Match[str],
    _at: MigrationLine,
) -> tuple[str, ...]:
    name = unquote(match[1])
    table.drop(name)
    return (name,)


def _on_add(
    _history: TableHistory,
    table: Table,
    match: re.Match[str],
    at: MigrationLine,
) -> tuple[str, ...]:
    added = match[1].strip()
    texts = [added]
    if added.startswith("("):
        texts = split_list(sql_definitions.bracket_content(added))
    columns: list[str] = []
    for text in texts:
        columns.extend(sql_definitions.apply_definition(table, text, at))
    return tuple(columns)


def _on_alter_column(
    _history: TableHistory,
    table: Table,
    match: re.Match[str],
    _at: MigrationLine,
) -> tuple[str, ...]:
    return sql_definitions.alter_column(table, unquote(match[1]), match[2])


def _action(pattern: str, handler: ActionHandler) -> tuple[re.Pattern[str], ActionHandler]:
    """Return one row of the table of actions."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL), handler


_DROP_KEY: Final = (
    rf"DROP\s+(PRIMARY\s+KEY|FOREIGN\s+KEY|INDEX|KEY|CONSTRAINT)\s*(?:IF\s+EXISTS\s+)?({NAME})?"
)
_ACTIONS: Final[tuple[tuple[re.Pattern[str], ActionHandler], ...]] = (
    _action(rf"RENAME\s+COLUMN\s+({NAME})\s+TO\s+({NAME})", _on_rename_column),
    _action(rf"RENAME\s+(?:INDEX|KEY|CONSTRAINT)\s+({NAME})\s+TO\s+({NAME})", _on_rename_index),
    _action(rf"RENAME\s+(?:TO\s+|AS\s+)?({NAME})\s*$", _on_rename_table),
    _action(rf"CHANGE\s+(?:COLUMN\s+)?({NAME})\s+({NAME})\s+(.*)", _on_change_column),
    _action(r"MODIFY\s+(?:COLUMN\s+)?(.*)", _on_modify_column),
    _action(_DROP_KEY, _on_drop_key),
    _action(rf"DROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?({NAME})", _on_drop_column),
    _action(r"ADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(.*)", _on_add),
    _action(rf"ALTER\s+(?:COLUMN\s+)?({NAME})\s+(.*)", _on_alter_column),
)
"""The first pattern that matches an action decides."""
