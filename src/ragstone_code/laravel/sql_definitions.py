"""Column, index and foreign key definitions of `CREATE TABLE` and `ALTER TABLE`, in three SQL dialects."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ragstone.types.graph import Json
from ragstone_code.laravel.calls import blueprint_methods
from ragstone_code.laravel.tables import Column, ForeignKey, MigrationLine, Table, TableIndex

NAME: Final = r"(?:[`\"\[]?[\w$-]+[`\"\]]?\.)?(?:`[^`]+`|\"[^\"]+\"|\[[^\]]+\]|[\w$]+)"
_INDEX_DEFINITION: Final = re.compile(
    rf"(?:CONSTRAINT\s+(?P<constraint>{NAME})\s+)?"
    rf"(?P<kind>PRIMARY\s+KEY|UNIQUE|FULLTEXT|SPATIAL|INDEX|KEY)(?:\s+(?:KEY|INDEX))?\s*(?P<name>{NAME})?\s*"
    r"(?:USING\s+\w+\s*)?\((?P<columns>(?:[^()]|\([^)]*\))*)\)",
    re.IGNORECASE,
)
_FOREIGN_KEY_DEFINITION: Final = re.compile(
    rf"(?:CONSTRAINT\s+(?P<constraint>{NAME})\s+)?FOREIGN\s+KEY\s*(?:{NAME}\s*)?\((?P<columns>[^)]*)\)\s*"
    rf"REFERENCES\s+(?P<on>{NAME})\s*\((?P<references>[^)]*)\)(?P<more>.*)",
    re.IGNORECASE | re.DOTALL,
)
_IGNORED_DEFINITION: Final = re.compile(
    r"(?:CONSTRAINT\s+\S+\s+)?(?:CHECK|EXCLUDE|PERIOD)\b", re.IGNORECASE
)
_COLUMN_DEFINITION: Final = re.compile(rf"({NAME})\s+(.*)", re.DOTALL)
_TYPE_DEFINITION: Final = re.compile(
    r"(?P<type>character varying|double precision|(?:timestamp|time)(?=\s*(?:\(\d+\))?\s+with(?:out)?\s+time\s+zone)"
    r"|[a-z_]\w*)\s*(?:\((?P<size>(?:[^()']|'(?:[^'\\]|\\.|'')*')*)\))?(?P<zone>\s+with(?:out)?\s+time\s+zone)?",
    re.IGNORECASE,
)
_DEFAULT_VALUE: Final = re.compile(
    r"\bDEFAULT\s+('(?:[^'\\]|\\.|'')*'|\([^)]*\)|[\w.]+(?:\([^)]*\))?)(?:::[\w ]+)?",
    re.IGNORECASE,
)
_REFERENCE_ACTION: Final = re.compile(
    r"\bON\s+(DELETE|UPDATE)\s+(CASCADE|RESTRICT|SET\s+NULL|NO\s+ACTION|SET\s+DEFAULT)", re.I
)
_INLINE_REFERENCE: Final = re.compile(
    rf"\bREFERENCES\s+({NAME})\s*\(([^)]*)\)(.*)", re.IGNORECASE | re.DOTALL
)
_PIECE: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|.", re.DOTALL)
"""A quoted string, a quoted name, or one character."""


def unquote(name: str) -> str:
    """Return a name without its quotes and its schema."""
    last_part = re.split(r"\.(?=[^.]*$)", name.strip())[-1]
    return last_part.strip('`"[] ')


def split_list(text: str) -> list[str]:
    """Return the parts of a text between commas; commas in brackets and quotes do not count."""
    parts: list[str] = []
    part, depth = "", 0
    for piece in _PIECE.findall(text):
        depth += _bracket_step(piece)
        if piece == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += piece
    parts.append(part.strip())
    return [stripped for stripped in parts if stripped]


def bracket_content(text: str) -> str:
    """Return the text between the first bracket and the one that closes it."""
    content: list[str] = []
    depth, is_open = 0, False
    for piece in _PIECE.findall(text):
        depth += _bracket_step(piece)
        if is_open:
            if depth == 0:
                break
            content.append(piece)
        is_open = is_open or depth > 0
    return "".join(content)


def _bracket_step(piece: str) -> int:
    """Return 1 for an opening bracket, -1 for a closing one, else 0."""
    return {"(": 1, ")": -1}.get(piece, 0)


def column_names(text: str) -> tuple[str, ...]:
    """Return the names in a list of columns, without lengths and sort orders."""
    matches = (re.match(NAME, part.strip()) for part in split_list(text))
    return tuple(unquote(match[0]) for match in matches if match)


def apply_definition(table: Table, text: str, at: MigrationLine) -> tuple[str, ...]:
    """Add one definition to a table and return the columns it is about."""
    text = text.strip()
    foreign_key = _FOREIGN_KEY_DEFINITION.match(text)
    if foreign_key:
        return _add_foreign_key(table, foreign_key, at)
    if _IGNORED_DEFINITION.match(text):
        return ()
    index = _INDEX_DEFINITION.match(text)
    if index:
        return _add_index(table, index)
    column = _COLUMN_DEFINITION.match(text)
    if column:
        return _add_column(
            table,
            unquote(column[1]),
            column[2],
            at,
        )
    return ()


def alter_column(table: Table, name: str, text: str) -> tuple[str, ...]:
    """Apply `ALTER COLUMN name …` and return the changed columns."""
    column = table.columns.get(name)
    if column is None:
        return ()
    command = " ".join(text.split()).upper()
    if command.startswith("SET NOT NULL"):
        column = replace(column, nullable=False)
    elif command.startswith("DROP NOT NULL"):
        column = replace(column, nullable=True)
    elif command.startswith("DROP DEFAULT"):
        options = {key: value for key, value in column.more.items() if key != "default"}
        column = replace(column, more=options)
    elif command.startswith("SET DEFAULT"):
        column = replace(column, more={**column.more, **_read_options(text)})
    else:
        new_type = re.match(r"(?:SET\s+DATA\s+)?TYPE\s+(.*)", text, re.IGNORECASE | re.DOTALL)
        if new_type:
            column = replace(column, type=_read_type(new_type[1])[0])
    table.columns[name] = column
    return (name,)


def _add_column(table: Table, name: str, text: str, at: MigrationLine) -> tuple[str, ...]:
    """Add a column with its index and its foreign key; a redefined column keeps the line of its first definition."""
    column_type, type_options = _read_type(text)
    upper = " ".join(text.upper().split())
    previous = table.columns.get(name)
    is_primary = "PRIMARY KEY" in upper
    column = Column(
        name,
        column_type,
        nullable="NOT NULL" not in upper and not is_primary,
        at=previous.at if previous else at,
        more={**type_options, **_read_options(text)},
    )
    table.add(column)
    if is_primary:
        table.indexes[table.named_index("primary", (name,))] = TableIndex("primary", (name,))
    elif re.search(r"\bUNIQUE\b", upper):
        table.indexes[table.named_index("unique", (name,))] = TableIndex("unique", (name,))
    reference = _INLINE_REFERENCE.search(text)
    if reference:
        table.foreign[table.named_index("foreign", (name,))] = ForeignKey(
            (name,),
            unquote(reference[1]),
            column_names(reference[2]),
            at,
            _read_actions(reference[3]),
        )
    return (name,)


def _read_type(text: str) -> tuple[str, dict[str, Json]]:
    """Return a column's type by Laravel's name, with its length or its allowed values."""
    match = _TYPE_DEFINITION.match(text.strip())
    if not match:
        return "unknown", {}
    sql_type = " ".join(f"{match['type']}{match['zone'] or ''}".lower().split())
    size = match["size"]
    if sql_type == "tinyint" and size == "1":
        return "boolean", {}
    column_type = str(blueprint_methods()["sql types"].get(sql_type, sql_type))
    if size is None:
        return column_type, {}
    if column_type in ("enum", "set"):
        return column_type, {"allowed": [value.strip("' ") for value in split_list(size)]}
    if column_type in ("string", "char") and size.isdigit():
        return column_type, {"length": int(size)}
    return column_type, {}


def _read_options(text: str) -> dict[str, Json]:
    """Return the default, `unsigned` and `auto_increment` of a column definition."""
    options: dict[str, Json] = {}
    default = _DEFAULT_VALUE.search(text)
    if default and default[1].upper() != "NULL":
        options["default"] = default[1].strip("'").replace("''", "'")
    if re.search(r"\bUNSIGNED\b", text, re.IGNORECASE):
        options["unsigned"] = True
    if re.search(r"\bAUTO_?INCREMENT\b|\bnextval\(|^\s*\w*serial\b", text, re.IGNORECASE):
        options["auto_increment"] = True
    return options


def _read_actions(text: str) -> dict[str, Json]:
    """Return `on_delete` and `on_update` of a foreign key."""
    actions: dict[str, Json] = {}
    for event, action in _REFERENCE_ACTION.findall(text):
        actions[f"on_{event.lower()}"] = " ".join(action.lower().split())
    return actions


def _add_foreign_key(table: Table, match: re.Match[str], at: MigrationLine) -> tuple[str, ...]:
    """Add a foreign key to a table and return its columns."""
    columns = column_names(match["columns"])
    constraint = match["constraint"]
    name = unquote(constraint) if constraint else table.named_index("foreign", columns)
    table.foreign[name] = ForeignKey(
        columns,
        unquote(match["on"]),
        column_names(match["references"]),
        at,
        _read_actions(match["more"]),
    )
    return columns


def _add_index(table: Table, match: re.Match[str]) -> tuple[str, ...]:
    """Add an index to a table and return its columns."""
    keyword = match["kind"].split()[0].lower()
    kind = {"key": "index", "spatial": "spatialIndex"}.get(keyword, keyword)
    columns = column_names(match["columns"])
    written_name = match["constraint"] or match["name"]
    name = unquote(written_name) if written_name else table.named_index(kind, columns)
    table.indexes[name] = TableIndex(kind, columns)
    return columns
