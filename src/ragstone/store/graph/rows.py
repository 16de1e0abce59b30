"""The graph's rows: what each pass gave, written where it differs; and nouns made of rows again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from ragstone.errors import InputError, StoreDamaged
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump, load, pack, unpack
from ragstone.store.failures import RESTORE
from ragstone.types import Alias, Confidence, Graph, Link, Node, Unresolved

Row = tuple[Any, ...]
_CONFIDENCES: Final = frozenset(get_args(Confidence))


@dataclass(frozen=True, slots=True)
class Table:
    """How one table's rows of an owner are found, added and taken out."""

    name: str
    find: str
    add: str
    drop: str


TABLES: Final = (
    Table(
        "nodes",
        """SELECT key, kind, name, uri, line, line_end, signature, doc, language, framework, attributes, id
           FROM graph_nodes WHERE owner = ?""",
        """INSERT INTO graph_nodes (key, kind, name, uri, line, line_end, signature, doc, language, framework,
                                    attributes, collection, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        "DELETE FROM graph_nodes WHERE id = ?",
    ),
    Table(
        "links",
        """SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes, id
           FROM graph_links WHERE owner = ?""",
        """INSERT INTO graph_links (kind, source, target, uri, line, confidence, conditional, ord, attributes,
                                    collection, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        "DELETE FROM graph_links WHERE id = ?",
    ),
    Table(
        "aliases",
        "SELECT folded, name, key, kind, uri, id FROM graph_aliases WHERE owner = ?",
        """INSERT INTO graph_aliases (folded, name, key, kind, uri, collection, owner)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        "DELETE FROM graph_aliases WHERE id = ?",
    ),
    Table(
        "unresolved",
        "SELECT kind, source, name, receiver, uri, line, reason, id FROM graph_unresolved WHERE owner = ?",
        """INSERT INTO graph_unresolved (kind, source, name, receiver, uri, line, reason, collection, owner)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        "DELETE FROM graph_unresolved WHERE id = ?",
    ),
)
_OWNERS: Final = "SELECT owner, id, stamp FROM graph_owners WHERE collection = ?"
_ONE_OWNER: Final = _OWNERS + " AND owner = ?"
_KEEP: Final = """
    INSERT INTO graph_kept (owner, data) VALUES (?1, ?2)
    ON CONFLICT (owner) DO UPDATE SET data = excluded.data WHERE data != excluded.data"""
_KEPT: Final = """
    SELECT o.owner, k.data FROM graph_owners o JOIN graph_kept k ON k.owner = o.id WHERE o.collection = ?"""
_ADD_OWNER: Final = "INSERT INTO graph_owners (collection, owner, stamp) VALUES (?, ?, ?)"

# Rows of another collection than their owner's, a confidence that is no word of ours, attributes that are no mapping.
_STRAY: Final = """
    SELECT count(*) FROM (
        SELECT owner, collection FROM graph_nodes UNION ALL SELECT owner, collection FROM graph_links
        UNION ALL SELECT owner, collection FROM graph_aliases UNION ALL SELECT owner, collection FROM graph_unresolved
    ) r LEFT JOIN graph_owners o ON o.id = r.owner WHERE o.collection IS NOT r.collection"""
_UNREADABLE: Final = """
    SELECT (SELECT count(*) FROM graph_nodes WHERE NOT json_valid(attributes))
         + (SELECT count(*) FROM graph_links WHERE NOT json_valid(attributes)
            OR confidence NOT IN ('runtime', 'evaluated', 'declared', 'convention', 'heuristic'))"""


@dataclass(frozen=True, slots=True)
class OwnedGraphs:
    """What owners give, with the stamps and the bytes that are kept for them."""

    parts: Mapping[str, Graph]
    stamps: Mapping[str, str]
    data: Mapping[str, bytes]


def put(db: sqlite3.Connection, place: CollectionIds, given: OwnedGraphs) -> dict[str, int]:
    """Make what each owner gave be exactly this; return how many of each table changed, and nodes of each kind."""
    written = {table.name: 0 for table in TABLES}
    known = {
        unpack(owner): (number, unpack(stamp)) for owner, number, stamp in db.execute(_OWNERS, (place.collection,))
    }
    for owner, part in given.parts.items():
        rows = (_nodes(part.nodes), _links(part.links), _aliases(part.aliases), _unresolved(part.unresolved))
        stamp = given.stamps.get(owner)
        nothing = stamp is None and not any(rows)
        number, before = known.get(owner, (None, None))
        if number is None:
            if nothing:
                continue
            number = db.execute(_ADD_OWNER, (place.collection, pack(owner), pack(stamp or ""))).lastrowid
        elif before != (stamp or ""):
            db.execute("UPDATE graph_owners SET stamp = ? WHERE id = ?", (pack(stamp or ""), number))
        for table, wanted in zip(TABLES, rows, strict=True):
            gone = _level(db, table, (place.collection, number), wanted)
            _count(written, table, [*gone, *wanted])
        if owner in given.data:
            db.execute(_KEEP, (number, given.data[owner]))
        if nothing:
            db.execute("DELETE FROM graph_owners WHERE id = ?", (number,))
    return written


def _level(db: sqlite3.Connection, table: Table, home: Row, wanted: dict[Row, None]) -> list[Row]:
    """Make an owner's rows of a table be these; return those taken out, and leave in `wanted` those put in."""
    gone: dict[Row, int] = {}
    for *columns, number in db.execute(table.find, home[1:]):
        row = tuple(columns)
        if row in wanted:
            del wanted[row]
        else:
            gone[row] = number
    if gone:
        db.executemany(table.drop, [(number,) for number in gone.values()])
    if wanted:
        db.executemany(table.add, [row + home for row in wanted])
    return list(gone)


def _count(written: dict[str, int], table: Table, rows: Sequence[Row]) -> None:
    """Add up what changed: rows, but nodes by their keys and also by kind (`kind:route`)."""
    if table.name != "nodes":
        written[table.name] += len(rows)
        return
    kinds = {row[0]: unpack(row[1]) for row in rows}
    written[table.name] += len(kinds)
    for kind in kinds.values():
        written[f"kind:{kind}"] = written.get(f"kind:{kind}", 0) + 1


def owner_stamps(db: sqlite3.Connection, place: CollectionIds, some: Sequence[str] | None = None) -> dict[str, str]:
    """Return every owner of a collection, or some of them, with their stamps."""
    if some is None:
        rows = db.execute(_OWNERS, (place.collection,)).fetchall()
    else:
        rows = [row for one in some for row in db.execute(_ONE_OWNER, (place.collection, pack(one)))]
    return {unpack(owner): unpack(stamp) for owner, _, stamp in rows}


def owner_data(db: sqlite3.Connection, place: CollectionIds) -> dict[str, bytes]:
    """Return what is kept for each owner of a collection."""
    return {unpack(owner): data for owner, data in db.execute(_KEPT, (place.collection,))}


def find_problem(db: sqlite3.Connection) -> str:
    """Return what is wrong with the graph, or nothing. A link may lead to what has no node: it is outside then."""
    stray = db.execute(_STRAY).fetchone()[0]
    unreadable = db.execute(_UNREADABLE).fetchone()[0]
    return f"{stray} rows have no owner, {unreadable} cannot be read" if stray or unreadable else ""


# ── nouns to rows ─────────────────────────────────────────────────────────────────────────────────


def _nodes(given: Iterable[Node]) -> dict[Row, None]:
    by_key: dict[str, list[Node]] = {}
    for node in given:
        by_key.setdefault(node.key, []).append(node)
    # Of one key that a pass gave twice, the one of a framework comes first, else the one given first.
    return dict.fromkeys(_node_row(merged(sorted(same, key=_plain))) for same in by_key.values())


def _plain(node: Node) -> bool:
    return not node.framework


def _node_row(node: Node) -> Row:
    if not node.key:
        raise InputError("a node needs a key", hint="give it one, such as `class:App\\Song`")
    return (
        pack(node.key),
        pack(node.kind),
        pack(node.name),
        pack(node.uri),
        node.line,
        node.line_end,
        pack(node.signature),
        pack(node.doc),
        pack(node.language),
        pack(node.framework),
        dump(node.attributes, f"the attributes of {node.key}") if node.attributes else "{}",
    )


def _links(given: Iterable[Link]) -> dict[Row, None]:
    return dict.fromkeys(map(_link_row, given))


def _link_row(link: Link) -> Row:
    if link.confidence not in _CONFIDENCES:
        raise InputError(
            f"a link's confidence is not {link.confidence!r}", hint=f"known: {', '.join(sorted(_CONFIDENCES))}"
        )
    return (
        pack(link.kind),
        pack(link.source),
        pack(link.target),
        pack(link.uri),
        link.line,
        link.confidence,
        int(link.conditional),
        link.order,
        dump(link.attributes, f"the attributes of {link.source} {link.kind} {link.target}")
        if link.attributes
        else "{}",
    )


def _aliases(given: Iterable[Alias]) -> dict[Row, None]:
    return dict.fromkeys(
        (pack(one.name.casefold()), pack(one.name), pack(one.key), pack(one.kind), pack(one.uri)) for one in given
    )


def _unresolved(given: Iterable[Unresolved]) -> dict[Row, None]:
    return dict.fromkeys(
        (
            pack(one.kind),
            pack(one.source),
            pack(one.name),
            pack(one.receiver),
            pack(one.uri),
            one.line,
            pack(one.reason),
        )
        for one in given
    )


# ── rows to nouns ─────────────────────────────────────────────────────────────────────────────────


def merged(same: Sequence[Node]) -> Node:
    """Return one node of all that passes say of a key: the first one's words, gaps filled by the others."""
    first = same[0]
    if len(same) == 1:
        return first
    attributes: dict[str, Any] = {}
    for node in reversed(same):
        attributes.update(node.attributes)
    filled = {
        name: next((value for node in same if (value := getattr(node, name))), getattr(first, name))
        for name in ("signature", "doc", "language", "framework")
    }
    placed = next((node for node in same if node.uri), first)
    line_end = placed.line_end or next(
        (node.line_end for node in same if _at(node) == _at(placed) and node.line_end), 0
    )
    return replace(first, **filled, uri=placed.uri, line=placed.line, line_end=line_end, attributes=attributes)


def _at(node: Node) -> tuple[str, int]:
    return node.uri, node.line


def node_of(row: Row, collection: str) -> Node:
    """Return a node of its columns."""
    key, kind, name, uri, line, line_end, signature, doc, language, framework, attributes = row
    return Node(
        unpack(key), unpack(kind), unpack(name), unpack(uri), line, line_end, unpack(signature), unpack(doc),
        unpack(language), unpack(framework), load(attributes), collection,
    )  # fmt: skip


def outside(key: str, collection: str) -> Node:
    """Return a node for what is linked to and given by nobody, such as a class of a library: its key says its kind."""
    kind, colon, name = key.partition(":")
    return Node(key, kind if colon else "", name or key, collection=collection)


def link_of(row: Row, collection: str) -> Link:
    """Return a link of its columns."""
    kind, source, target, uri, line, confidence, conditional, order, attributes = row
    if confidence not in _CONFIDENCES:
        raise StoreDamaged("the store is damaged: a link of no known confidence", hint=RESTORE)
    return Link(
        unpack(kind), unpack(source), unpack(target), unpack(uri), line, confidence, bool(conditional), order,
        load(attributes), collection,
    )  # fmt: skip
