"""What stands between the brackets of a CREATE TABLE: columns, indexes and foreign keys, in any of three dialects."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ragstone.types.graph import Json
from ragstone_code.laravel.calls import blueprint_methods
from ragstone_code.laravel.tables import Column, ForeignKey, MigrationLine, Table, TableIndex

NAME: Final = r"(?:[`\"\[]?[\w$-]+[`\"\]]?\.)?(?:`[^`]+`|\"[^\"]+\"|\[[^\]]+\]|[\w$]+)"
_KEY: Final = re.compile(
    rf"(?:CONSTRAINT\s+(?P<constraint>{NAME})\s+)?"
    rf"(?P<kind>PRIMARY\s+KEY|UNIQUE|FULLTEXT|SPATIAL|INDEX|KEY)(?:\s+(?:KEY|INDEX))?\s*(?P<name>{NAME})?\s*"
    r"(?:USING\s+\w+\s*)?\((?P<columns>(?:[^()]|\([^)]*\))*)\)",
    re.IGNORECASE,
)
_FOREIGN: Final = re.compile(
    rf"(?:CONSTRAINT\s+(?P<constraint>{NAME})\s+)?FOREIGN\s+KEY\s*(?:{NAME}\s*)?\((?P<columns>[^)]*)\)\s*"
    rf"REFERENCES\s+(?P<on>{NAME})\s*\((?P<references>[^)]*)\)(?P<more>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER: Final = re.compile(r"(?:CONSTRAINT\s+\S+\s+)?(?:CHECK|EXCLUDE|PERIOD)\b", re.IGNORECASE)
_COLUMN: Final = re.compile(rf"({NAME})\s+(.*)", re.DOTALL)
_TYPE: Final = re.compile(
    r"(?P<type>character varying|double precision|(?:timestamp|time)(?=\s*(?:\(\d+\))?\s+with(?:out)?\s+time\s+zone)"
    r"|[a-z_]\w*)\s*(?:\((?P<size>(?:[^()']|'(?:[^'\\]|\\.|'')*')*)\))?(?P<zone>\s+with(?:out)?\s+time\s+zone)?",
    re.IGNORECASE,
)
_DEFAULT: Final = re.compile(
    r"\bDEFAULT\s+('(?:[^'\\]|\\.|'')*'|\([^)]*\)|[\w.]+(?:\([^)]*\))?)(?:::[\w ]+)?", re.IGNORECASE
)
_ACTION: Final = re.compile(r"\bON\s+(DELETE|UPDATE)\s+(CASCADE|RESTRICT|SET\s+NULL|NO\s+ACTION|SET\s+DEFAULT)", re.I)
_INLINE: Final = re.compile(rf"\bREFERENCES\s+({NAME})\s*\(([^)]*)\)(.*)", re.IGNORECASE | re.DOTALL)


def unquote(name: str) -> str:
    """Return a name without its quotes and its schema."""
    last = re.split(r"\.(?=[^.]*$)", name.strip())[-1]
    return last.strip('`"[] ')


def split_list(text: str) -> list[str]:
    """Return what commas part, outside of brackets and quotes."""
    parts, depth, held = [], 0, ""
    for piece in re.findall(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|.", text, re.DOTALL):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append(held.strip())
            held = ""
        else:
            held += piece
    return [part for part in (*parts, held.strip()) if part]


def bracket_content(text: str) -> str:
    """Return what is between a text's first bracket and the one that closes it."""
    depth, held, started = 0, [], False
    for piece in re.findall(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|.", text, re.DOTALL):
        depth += (piece == "(") - (piece == ")")
        if started and depth == 0:
            break
        if started:
            held.append(piece)
        started = started or depth > 0
    return "".join(held)


def column_names(text: str) -> tuple[str, ...]:
    """Return the names in a list, without lengths and directions."""
    found = (re.match(NAME, part.strip()) for part in split_list(text))
    return tuple(unquote(one[0]) for one in found if one)


def apply_definition(table: Table, text: str, at: MigrationLine) -> tuple[str, ...]:
    """Put one definition into a table; return the columns it is about."""
    text = text.strip()
    foreign = _FOREIGN.match(text)
    if foreign:
        return _foreign(table, foreign, at)
    if _OTHER.match(text):
        return ()
    key = _KEY.match(text)
    if key:
        return _index(table, key)
    column = _COLUMN.match(text)
    return _column(table, unquote(column[1]), column[2], at) if column else ()


def alter_column(table: Table, name: str, text: str) -> tuple[str, ...]:
    """Do what `ALTER COLUMN name …` says."""
    column = table.columns.get(name)
    if column is None:
        return ()
    said = " ".join(text.split()).upper()
    if said.startswith(("SET NOT NULL", "DROP NOT NULL")):
        column = replace(column, nullable=said.startswith("DROP"))
    elif said.startswith("DROP DEFAULT"):
        column = replace(column, more={key: value for key, value in column.more.items() if key != "default"})
    elif said.startswith("SET DEFAULT"):
        column = replace(column, more={**column.more, **_more(text)})
    else:
        written = re.match(r"(?:SET\s+DATA\s+)?TYPE\s+(.*)", text, re.IGNORECASE | re.DOTALL)
        column = replace(column, type=_type(written[1])[0]) if written else column
    table.columns[name] = column
    return (name,)


def _column(table: Table, name: str, text: str, at: MigrationLine) -> tuple[str, ...]:
    kind, more = _type(text)
    upper = " ".join(text.upper().split())
    before = table.columns.get(name)
    nullable = "NOT NULL" not in upper and "PRIMARY KEY" not in upper
    table.add(Column(name, kind, nullable, before.at if before else at, {**more, **_more(text)}))
    if "PRIMARY KEY" in upper:
        table.indexes[table.named_index("primary", (name,))] = TableIndex("primary", (name,))
    elif re.search(r"\bUNIQUE\b", upper):
        table.indexes[table.named_index("unique", (name,))] = TableIndex("unique", (name,))
    inline = _INLINE.search(text)
    if inline:
        key = ForeignKey((name,), unquote(inline[1]), column_names(inline[2]), at, _actions(inline[3]))
        table.foreign[table.named_index("foreign", (name,))] = key
    return (name,)


def _type(text: str) -> tuple[str, dict[str, Json]]:
    """Return a column's type as Laravel names it, with its length or allowed values."""
    found = _TYPE.match(text.strip())
    if not found:
        return "unknown", {}
    written = " ".join(f"{found['type']}{found['zone'] or ''}".lower().split())
    kind = str(blueprint_methods()["sql types"].get(written, written))
    size = found["size"]
    if written == "tinyint" and size == "1":
        return "boolean", {}
    if size is None:
        return kind, {}
    if kind in ("enum", "set"):
        return kind, {"allowed": [one.strip("' ") for one in split_list(size)]}
    return kind, {"length": int(size)} if kind in ("string", "char") and size.isdigit() else {}


def _more(text: str) -> dict[str, Json]:
    """Return the rest of what is said of a column."""
    more: dict[str, Json] = {}
    default = _DEFAULT.search(text)
    if default and default[1].upper() != "NULL":
        more["default"] = default[1].strip("'").replace("''", "'")
    if re.search(r"\bUNSIGNED\b", text, re.IGNORECASE):
        more["unsigned"] = True
    if re.search(r"\bAUTO_?INCREMENT\b|\bnextval\(|^\s*\w*serial\b", text, re.IGNORECASE):
        more["auto_increment"] = True
    return more


def _actions(text: str) -> dict[str, Json]:
    return {f"on_{verb.lower()}": " ".join(does.lower().split()) for verb, does in _ACTION.findall(text)}


def _foreign(table: Table, found: re.Match[str], at: MigrationLine) -> tuple[str, ...]:
    columns = column_names(found["columns"])
    name = unquote(found["constraint"]) if found["constraint"] else table.named_index("foreign", columns)
    more = _actions(found["more"])
    table.foreign[name] = ForeignKey(columns, unquote(found["on"]), column_names(found["references"]), at, more)
    return columns


def _index(table: Table, found: re.Match[str]) -> tuple[str, ...]:
    written = found["kind"].split()[0].lower()
    kind = {"key": "index", "spatial": "spatialIndex"}.get(written, written)
    columns = column_names(found["columns"])
    given = found["constraint"] or found["name"]
    table.indexes[unquote(given) if given else table.named_index(kind, columns)] = TableIndex(kind, columns)
    return columns
