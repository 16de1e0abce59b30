"""The graph as it is asked: nodes, names, links, typed paths, and what is not known."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from ragstone.errors import InputError
from ragstone.store import catalog
from ragstone.store.codec import pack, unpack
from ragstone.store.graph.rows import Row, link_of, merged, node_of, outside
from ragstone.types import Alias, Link, Node, Scope, Step, Unresolved, Walked

MOST_STEPS: Final = 8
_NAMES: Final = ("l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7")
_NODES: Final = """
    SELECT n.key, n.kind, n.name, n.uri, n.line, n.line_end, n.signature, n.doc, n.language, n.framework, n.attributes
    FROM graph_nodes n JOIN graph_owners o ON o.id = n.owner WHERE n.collection = ?1 AND {which}
    ORDER BY n.key, n.framework = '', o.owner"""  # of one key, the row that wins comes first
_ONE_NODE: Final = _NODES.format(which="n.key = ?2")
_EVERY_NODE: Final = _NODES.format(which="?2 = ''")
_OF_KINDS: Final = "kind IN (SELECT value FROM json_each(?2))"
_KEYS_WITH: Final = "n.key IN (SELECT key FROM graph_nodes WHERE collection = ?1 AND {which})"
_NODES_OF_KINDS: Final = _NODES.format(which=_KEYS_WITH.format(which=_OF_KINDS))
_NODES_OF_URI: Final = _NODES.format(which=_KEYS_WITH.format(which="uri = ?2"))
_ALIASES: Final = """
    SELECT DISTINCT name, key, kind, uri FROM graph_aliases WHERE collection = ? AND folded = ?
    ORDER BY kind, key, uri"""
_LINK: Final = """
    SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes FROM graph_links
    WHERE collection = ? AND """
_KINDS: Final = "(? = '[]' OR kind IN (SELECT value FROM json_each(?)))"
_IN_ORDER: Final = " ORDER BY kind, ord, id LIMIT ?"
_LINKS_FROM: Final = _LINK + "source = ? AND " + _KINDS + _IN_ORDER
_LINKS_TO: Final = _LINK + "target = ? AND " + _KINDS + _IN_ORDER
_UNRESOLVED: Final = "SELECT kind, source, name, receiver, uri, line, reason FROM graph_unresolved WHERE collection = ?"
_UNRESOLVED_NAMED: Final = _UNRESOLVED + " AND name = ? ORDER BY uri, line, id LIMIT ?"
_UNRESOLVED_IN: Final = _UNRESOLVED + " AND source = ? AND (? IS NULL OR name = ?) ORDER BY uri, line, id LIMIT ?"
_UNRESOLVED_ALL: Final = _UNRESOLVED + " ORDER BY uri, line, id LIMIT ?"

# A path is one statement, made of these pieces: a link for every step, each from where the one before it leads.
_FIRST: Final = "SELECT {ids} FROM graph_links l0{hops} WHERE l0.collection = ? AND {here} = ?{conditions} LIMIT ?"
_HOP: Final = " CROSS JOIN graph_links {link} ON {link}.collection = l0.collection AND {here} = {at}"
_KIND: Final = " AND {link}.kind IN (SELECT value FROM json_each(?))"
_NOT_SEEN: Final = " AND {there} NOT IN ({seen})"
_LEADS_TO: Final = """
    AND coalesce((SELECT n.kind FROM graph_nodes n JOIN graph_owners o ON o.id = n.owner
                  WHERE n.collection = l0.collection AND n.key = {there} ORDER BY n.framework = '', o.owner LIMIT 1),
                 substr({there}, 1, max(instr({there}, ':') - 1, 0))) IN (SELECT value FROM json_each(?))"""
_LINKS_BY_ID: Final = """
    SELECT l.id, l.kind, l.source, l.target, l.uri, l.line, l.confidence, l.conditional, l.ord, l.attributes
    FROM json_each(?) wanted CROSS JOIN graph_links l ON l.id = wanted.value"""


@dataclass(frozen=True, slots=True)
class NodeConditions:
    """Which nodes are asked for: by key, by kind, by file; None asks for any."""

    keys: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    uris: Sequence[str] | None = None


def nodes(db: sqlite3.Connection, scope: Scope, which: NodeConditions, limit: int) -> list[Node]:
    """Return nodes that pass all that is asked, in the order of the keys, or else by collection and key."""
    found: list[Node] = []
    for name, number in catalog.in_scope(db, scope).items():
        for node in _candidates(db, name, number, which):
            if len(found) >= limit:
                return found
            if (which.kinds is None or node.kind in which.kinds) and (which.uris is None or node.uri in which.uris):
                found.append(node)
    return found


def _candidates(db: sqlite3.Connection, name: str, number: int, which: NodeConditions) -> Iterator[Node]:
    """Yield the nodes that may pass, by what narrows them most."""
    asked: list[tuple[str, str | bytes]]
    if which.keys is not None:
        asked = [(_ONE_NODE, pack(key)) for key in dict.fromkeys(which.keys)]
    elif which.uris is not None:
        asked = [(_NODES_OF_URI, pack(uri)) for uri in dict.fromkeys(which.uris)]
    elif which.kinds is not None:
        asked = [(_NODES_OF_KINDS, json.dumps(list(which.kinds)))]
    else:
        asked = [(_EVERY_NODE, "")]
    for statement, wanted in asked:
        yield from _whole(db.execute(statement, (number, wanted)), name)


def _whole(rows: sqlite3.Cursor, collection: str) -> Iterator[Node]:
    """Yield one node for all rows of a key."""
    for _, same in groupby(rows, key=itemgetter(0)):
        yield merged([node_of(row, collection) for row in same])


def find_aliases(db: sqlite3.Connection, scope: Scope, names: Sequence[str]) -> list[Alias]:
    """Return the aliases that are one of these names, whatever the case; in the order of the names."""
    places = catalog.in_scope(db, scope).items()
    return [
        Alias(unpack(written), unpack(key), unpack(kind), unpack(uri), name)
        for folded in dict.fromkeys(wanted.casefold() for wanted in names)
        for name, number in places
        for written, key, kind, uri in db.execute(_ALIASES, (number, pack(folded)))
    ]


def links(db: sqlite3.Connection, scope: Scope, keys: Sequence[str], step: Step, limit: int) -> list[Link]:
    """Return the links that one step from these nodes goes along: key by key, by kind, in their order."""
    statement, wanted = _LINKS_TO if step.back else _LINKS_FROM, json.dumps(step.kinds)
    found: list[Link] = []
    for name, number in catalog.in_scope(db, scope).items():
        for key in dict.fromkeys(keys):
            if len(found) >= limit:
                return found
            rows = db.execute(statement, (number, pack(key), wanted, wanted, limit - len(found)))
            found += [link_of(row, name) for row in rows]
    return found


def unresolved(
    db: sqlite3.Connection, scope: Scope, *, name: str | None, sources: Sequence[str] | None, limit: int
) -> list[Unresolved]:
    """Return references that nothing written decides: of a name, of some nodes, or all."""
    found: list[Unresolved] = []
    packed = None if name is None else pack(name)
    for number in catalog.in_scope(db, scope).values():
        asked: list[tuple[str, Row]]
        if sources is not None:
            asked = [(_UNRESOLVED_IN, (number, pack(one), packed, packed)) for one in dict.fromkeys(sources)]
        else:
            asked = [(_UNRESOLVED_ALL, (number,)) if packed is None else (_UNRESOLVED_NAMED, (number, packed))]
        for statement, parameters in asked:
            rows = db.execute(statement, (*parameters, max(0, limit - len(found))))
            found += map(_reference, rows)
    return found


def _reference(row: Row) -> Unresolved:
    kind, source, name, receiver, uri, line, reason = row
    return Unresolved(unpack(kind), unpack(source), unpack(name), unpack(receiver), unpack(uri), line, unpack(reason))


# ── typed paths ───────────────────────────────────────────────────────────────────────────────────


def walk(
    db: sqlite3.Connection, scope: Scope, anchors: Sequence[str], steps: Sequence[Step], *, limit: int
) -> list[Walked]:
    """Return the paths from the anchors along all of the steps, none of them through a node twice."""
    if len(steps) > MOST_STEPS:
        raise InputError(f"a path has at most {MOST_STEPS} steps", hint="ask for the parts of it")
    statement, parameters = _path(steps) if steps else ("", ())
    found: list[Walked] = []
    for name, number in catalog.in_scope(db, scope).items():
        for anchor in dict.fromkeys(anchors):
            missing = limit - len(found)
            if missing <= 0:
                return found
            rows = db.execute(statement, (number, pack(anchor), *parameters, missing)).fetchall() if steps else [()]
            found += _walked(db, (name, number), anchor, steps, rows)
    return found


def _path(steps: Sequence[Step]) -> tuple[str, Row]:
    """Return the statement for a list of steps and its parameters between the anchor and the limit."""
    hops: list[str] = []
    conditions: list[str] = []
    seen: list[str] = []
    parameters: list[str] = []
    for step, link in zip(steps, _NAMES, strict=False):
        ends = (link + ".source", link + ".target")
        here, there = reversed(ends) if step.back else ends
        if seen:
            hops.append(_HOP.format(link=link, here=here, at=seen[-1]))
        else:
            seen.append(here)
        if step.kinds:
            conditions.append(_KIND.format(link=link))
            parameters.append(json.dumps(step.kinds))
        conditions.append(_NOT_SEEN.format(there=there, seen=", ".join(seen)))
        if step.to:
            conditions.append(_LEADS_TO.format(there=there))
            parameters.append(json.dumps(step.to))
        seen.append(there)
    ids = ", ".join(name + ".id" for name in _NAMES[: len(steps)])
    statement = _FIRST.format(ids=ids, hops="".join(hops), here=seen[0], conditions="".join(conditions))
    return statement, tuple(parameters)


def _walked(
    db: sqlite3.Connection, place: tuple[str, int], anchor: str, steps: Sequence[Step], rows: Sequence[Row]
) -> list[Walked]:
    """Return the paths whose links these are, in the order of their links."""
    name, number = place
    ids = sorted({one for row in rows for one in row})
    known = {row[0]: link_of(row[1:], name) for row in db.execute(_LINKS_BY_ID, (catalog.id_list(ids),))}
    paths = sorted(rows, key=lambda row: [(known[one].kind, known[one].order, one) for one in row])
    nodes_at: dict[str, Node | None] = {}

    def at(key: str) -> Node | None:
        if key not in nodes_at:
            nodes_at[key] = next(_whole(db.execute(_ONE_NODE, (number, pack(key))), name), None)
        return nodes_at[key]

    found = []
    for row in paths:
        along = tuple(known[one] for one in row)
        keys = [link.source if step.back else link.target for link, step in zip(along, steps, strict=True)]
        if along or at(anchor):
            found.append(Walked(tuple(at(key) or outside(key, name) for key in (anchor, *keys)), along))
    return found
