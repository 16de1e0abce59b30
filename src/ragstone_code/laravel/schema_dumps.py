"""SQL as dumps and migrations write it, MySQL's, PostgreSQL's and SQLite's: what it makes of the tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ragstone_code.laravel import sql_definitions
from ragstone_code.laravel.sql_definitions import NAME, column_names, split_list, unquote
from ragstone_code.laravel.tables import Event, Index, Place, Table, Tables

_PIECE: Final = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`)
      | (?P<comment>--[^\n]*|\#[^\n]*|/\*(?!!).*?\*/)
      | (?P<end>;)
      | (?P<copy>\bCOPY\s[^;]*?\sFROM\s+stdin;\n.*?\n\\\.)
      | (?P<other>[^'"`;\#/cC-]+|.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MIGRATED: Final = re.compile(r"INSERT\s+INTO\s+(?:[\w.\"`\[\]]*\.)?[\"`\[]?migrations[\"`\]]?", re.IGNORECASE)
_STAMPED: Final = re.compile(r"['\t]\s*(\d{4}_\d{2}_\d{2}_\d{6}_[^'\t\n]+?)['\t]")
_CREATE: Final = re.compile(
    rf"CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?({NAME})\s*(.*)", re.IGNORECASE | re.DOTALL
)
_INDEX: Final = re.compile(
    rf"CREATE\s+(UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?({NAME})\s+ON"
    rf"\s+(?:ONLY\s+)?({NAME})\s*(?:USING\s+\w+\s*)?\((.*)\)",
    re.IGNORECASE | re.DOTALL,
)
_ALTER: Final = re.compile(
    rf"ALTER\s+(?:IGNORE\s+)?TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?({NAME})\s+(.*)", re.IGNORECASE | re.DOTALL
)
_DROP: Final = re.compile(r"DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(.*)", re.IGNORECASE | re.DOTALL)
_RENAME: Final = re.compile(rf"RENAME\s+TABLE\s+({NAME})\s+TO\s+({NAME})", re.IGNORECASE)
_LIKE: Final = re.compile(rf"\(?\s*LIKE\s+({NAME})", re.IGNORECASE)


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a dump, each with the line it starts on."""
    line, start, held = 1, 0, ""
    for piece in _PIECE.finditer(text):
        kind, said = piece.lastgroup, piece[0]
        if kind in ("end", "copy"):
            if held.strip() or kind == "copy":
                yield start or line, (held + said).strip().rstrip(";")
            held, start = "", 0
        elif kind != "comment":
            blank = len(said) - len(said.lstrip())
            start = start or (line + said[:blank].count("\n") if said.strip() else 0)
            held += said
        line += said.count("\n")
    if held.strip():
        yield start, held.strip()


def migrated(text: str) -> list[str]:
    """Return the migrations that had run when a dump was made."""
    found: list[str] = []
    for _, sql in statements(text):
        copied = sql[:5].upper() == "COPY " and re.match(r"COPY\s+(?:\w+\.)?\"?migrations\b", sql, re.IGNORECASE)
        if copied or _MIGRATED.match(sql):
            found.extend(_STAMPED.findall(sql))
    return found


def run(sql: str, tables: Tables, at: Place) -> bool:
    """Do what one statement says to the tables; return whether it says anything about them."""
    sql = sql.strip().rstrip(";")
    return any(done(sql, tables, at) for done in (_created, _altered, _indexed, _dropped, _renamed))


def _created(sql: str, tables: Tables, at: Place) -> bool:
    found = _CREATE.match(sql)
    if not found:
        return False
    table = tables.create(unquote(found[1]), at)
    like = _LIKE.match(found[2])
    if like:
        model = tables.live(unquote(like[1]))
        table.columns = dict(model.columns) if model else {}
    else:
        for definition in split_list(sql_definitions.bracket_content(found[2])):
            sql_definitions.apply_definition(table, definition, at)
    table.events.append(Event("CREATES", at, tuple(table.columns), raw=True))
    return True


def _indexed(sql: str, tables: Tables, at: Place) -> bool:
    found = _INDEX.match(sql)
    if not found:
        return False
    kind = (found[1] or "index").strip().lower()
    table = tables.live(unquote(found[3]))
    if table is not None:
        table.indexes[unquote(found[2])] = Index(kind, column_names(found[4]))
        table.events.append(Event("ALTERS", at, column_names(found[4]), raw=True))
    return True


def _dropped(sql: str, tables: Tables, at: Place) -> bool:
    found = _DROP.match(sql)
    for name in (
        column_names(re.sub(r"\s+(?:CASCADE|RESTRICT)\s*$", "", found[1], flags=re.IGNORECASE)) if found else ()
    ):
        tables.drop(name, at)
    return bool(found)


def _renamed(sql: str, tables: Tables, at: Place) -> bool:
    found = _RENAME.match(sql)
    if found:
        tables.rename(unquote(found[1]), unquote(found[2]), at)
    return bool(found)


def _altered(sql: str, tables: Tables, at: Place) -> bool:
    found = _ALTER.match(sql)
    if not found:
        return False
    name = unquote(found[1])
    if tables.live(name) is None and re.match(r"(?:OWNER|DISABLE|ENABLE|SET|ALTER COLUMN \S+ ADD)\b", found[2], re.I):
        return True
    table = tables.altered(name, at)
    touched = [column for action in split_list(found[2]) for column in _acted(tables, table, action, at)]
    table.events.append(Event("ALTERS", at, tuple(dict.fromkeys(touched)), raw=True))
    return True


def _acted(tables: Tables, table: Table, action: str, at: Place) -> tuple[str, ...]:
    """Do one action of an ALTER TABLE; return the columns it touched."""
    for pattern, act in _ACTIONS:
        found = pattern.match(action.strip())
        if found:
            return act(tables, table, found, at)
    return ()


Act = Callable[[Tables, Table, "re.Match[str]", Place], tuple[str, ...]]


def _rename_column(tables: Tables, table: Table, found: re.Match[str], at: Place) -> tuple[str, ...]:
    pair = unquote(found[1]), unquote(found[2])
    tables.rename_column(table, *pair, at)
    return pair


def _rename_table(tables: Tables, table: Table, found: re.Match[str], at: Place) -> tuple[str, ...]:
    tables.rename(table.name, unquote(found[1]), at)
    return ()


def _change(tables: Tables, table: Table, found: re.Match[str], at: Place) -> tuple[str, ...]:
    pair = unquote(found[1]), unquote(found[2])
    if pair[0] != pair[1]:
        tables.rename_column(table, *pair, at)
    sql_definitions.apply_definition(table, f"{found[2]} {found[3]}", at)
    return tuple(dict.fromkeys(pair))


def _modify(_tables: Tables, table: Table, found: re.Match[str], at: Place) -> tuple[str, ...]:
    sql_definitions.apply_definition(table, found[1], at)
    return column_names(found[1].split()[0])


def _drop_key(_tables: Tables, table: Table, found: re.Match[str], _at: Place) -> tuple[str, ...]:
    name = unquote(found[2]) if found[2] else ""
    if found[1].upper().startswith("PRIMARY"):
        table.indexes = {key: one for key, one in table.indexes.items() if one.kind != "primary"}
    table.indexes.pop(name, None)
    table.foreign.pop(name, None)
    return ()


def _drop_column(_tables: Tables, table: Table, found: re.Match[str], _at: Place) -> tuple[str, ...]:
    name = unquote(found[1])
    table.drop(name)
    return (name,)


def _add(_tables: Tables, table: Table, found: re.Match[str], at: Place) -> tuple[str, ...]:
    inside = found[1].strip()
    written = split_list(sql_definitions.bracket_content(inside)) if inside.startswith("(") else [inside]
    return tuple(column for one in written for column in sql_definitions.apply_definition(table, one, at))


def _alter_column(_tables: Tables, table: Table, found: re.Match[str], _at: Place) -> tuple[str, ...]:
    return sql_definitions.alter_column(table, unquote(found[1]), found[2])


_ACTIONS: Final[tuple[tuple[re.Pattern[str], Act], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), act)
    for pattern, act in (
        (rf"RENAME\s+COLUMN\s+({NAME})\s+TO\s+({NAME})", _rename_column),
        (rf"RENAME\s+(?:INDEX|KEY|CONSTRAINT)\s+({NAME})\s+TO\s+({NAME})", lambda *_: ()),
        (rf"RENAME\s+(?:TO\s+|AS\s+)?({NAME})\s*$", _rename_table),
        (rf"CHANGE\s+(?:COLUMN\s+)?({NAME})\s+({NAME})\s+(.*)", _change),
        (r"MODIFY\s+(?:COLUMN\s+)?(.*)", _modify),
        (rf"DROP\s+(PRIMARY\s+KEY|FOREIGN\s+KEY|INDEX|KEY|CONSTRAINT)\s*(?:IF\s+EXISTS\s+)?({NAME})?", _drop_key),
        (rf"DROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?({NAME})", _drop_column),
        (r"ADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(.*)", _add),
        (rf"ALTER\s+(?:COLUMN\s+)?({NAME})\s+(.*)", _alter_column),
    )
)
