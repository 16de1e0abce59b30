"""What is asked about tables: the migrations that made them what they are, their columns and keys."""

from __future__ import annotations

import re
from typing import Final

from ragstone.types import Json, Link, Node
from ragstone_code.questions.asking import (
    Asked,
    Part,
    called,
    folder,
    full_name,
    listed,
    looked,
    place_of,
    places,
    strings,
)

_MIGRATING: Final = ("CREATES", "ALTERS", "RENAMES", "DROPS")
_SAID: Final = (
    ("CREATES", r"\bcreat\w*|\bintroduc\w*|\bmade\b"),
    ("ALTERS", r"\balter\w*|\bchang\w*|\bmodif\w*|\badd\w*|\bupdat\w*"),
    ("RENAMES", r"\brenam\w*"),
    ("DROPS", r"\bdropp?\w*|\bdelet\w*"),
)
_WHOLE: Final = r"\bhistory\b|\ball\b|\bevery\b|\bshape\b|\btouch\w*|\bevol\w*|\bor\b|\band\b|\binvolv\w*|\bover time\b"


def migrations(asked: Asked) -> Part:
    """Return the migrations of a table in order, under all of its names; or only those that created, altered … it."""
    table = _table(asked)
    if table is None:
        return _no_table(asked, {"migrations": []})
    links = _asked_for(asked, asked.links([table.key], *_MIGRATING, back=True), table)
    names = list(dict.fromkeys(called(link.source) for link in sorted(links, key=_when)))
    former = strings(table.attributes.get("former_names"))
    facts: dict[str, Json] = {"migrations": list(names), "former_names": list(former), "table": _name(table)}
    if table.attributes.get("dropped"):
        facts["dropped"] = table.attributes["dropped"]
    evidence = places(sorted(links, key=_when))
    if not names:
        where = looked(sorted({folder(node.uri) for node in asked.kind("migration")}))
        said = f"No migration {_doing(asked)} the table {_name(table)}; looked in {listed(where, 5) or 'all files'}."
        return Part(facts, said, place_of(table), [table], negative=True, looked_in=where)
    once = f", formerly {listed(former)}" if former else ""
    told = [f"{name} ({place[0]}:{place[1]})" for name, place in zip(names, evidence, strict=False)]
    said = f"The table {_name(table)}{once}: {listed(told, 30)}."
    nodes = [table, *asked.nodes(link.source for link in links).values()]
    return Part(facts, said, [*evidence, *place_of(table)], nodes)


def _asked_for(asked: Asked, links: list[Link], table: Node) -> list[Link]:
    """Return the links that a question means: those of a column, those that do what it says, or all."""
    columns = [called(node.key).rpartition(".")[2] for one in (asked.anchor, *asked.others) for node in one.nodes
               if node.kind == "column" and called(node.key).startswith(f"{_name(table)}.")]  # fmt: skip
    if columns:
        of_column = [link for link in links if set(columns) & set(_columns_of(link))]
        if of_column:
            return of_column
    wanted = [kind for kind, said in _SAID if re.search(said, asked.text)]
    if len(wanted) == 1 and wanted[0] != "ALTERS" and not re.search(_WHOLE, asked.text):
        return [link for link in links if link.kind == wanted[0]]
    if wanted == ["ALTERS"] and not re.search(_WHOLE, asked.text):
        return [link for link in links if link.kind != "CREATES"]
    return links


def _columns_of(link: Link) -> list[str]:
    told = link.attributes.get("columns")
    if isinstance(told, dict):
        return list(told)
    return (
        [str(one.get("name")) if isinstance(one, dict) else str(one) for one in told] if isinstance(told, list) else []
    )


def columns(asked: Asked) -> Part:
    """Return the columns a table has now, and its foreign keys."""
    table = _table(asked)
    if table is None:
        return _no_table(asked, {"columns": [], "foreign_keys": []})
    rows = table.attributes.get("columns")
    known = [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []
    names = [str(one.get("name")) for one in known]
    keys = list(dict.fromkeys(strings(table.attributes.get("foreign_keys"))))
    links = asked.links([table.key], "CREATES", "ALTERS", "RENAMES", back=True)
    facts: dict[str, Json] = {
        "columns": list(names),
        "types": {str(one.get("name")): one.get("type") for one in known},
        "foreign_keys": list(keys),
        "table": _name(table),
    }
    if asked.role == "model":
        facts["model"] = full_name(asked.node.key)
    foreign = f"; foreign keys: {listed(keys, 30)}" if keys else "; no foreign key"
    evidence = [*places(sorted(links, key=_when)), *place_of(table)]
    place = f" ({evidence[0][0]}:{evidence[0][1]})" if evidence else ""
    said = f"The table {_name(table)} has {listed(names, 60) or 'no column that is known'}{foreign}{place}."
    nodes = [table, *asked.nodes(link.source for link in links).values()]
    return Part(facts, said, evidence, nodes, negative=not names, looked_in=[] if names else [table.uri])


def of_migration(asked: Asked) -> Part:
    """Return what a migration does to which tables."""
    links = asked.links([asked.node.key], *_MIGRATING)
    rows = list(dict.fromkeys((link.kind, called(link.target).partition("#")[0]) for link in links))
    facts: dict[str, Json] = {"tables": list(dict.fromkeys(name for _, name in rows))}
    told = [f"{kind.lower()} {name}" for kind, name in rows]
    said = f"{called(asked.node.key)} {listed(told, 30) or 'touches no table that is known'} ({asked.node.place})."
    evidence = [*places(links), *place_of(asked.node)]
    where = [] if rows else [asked.node.uri]
    return Part(facts, said, evidence, [asked.node], negative=not rows, looked_in=where)


def _table(asked: Asked) -> Node | None:
    """Return the table in question: itself, that of a column, or that of a model."""
    if asked.node.kind == "table":
        return asked.node
    if asked.node.kind == "column":
        name = called(asked.node.key).rpartition(".")[0]
        return asked.nodes([f"table:{name}"]).get(f"table:{name}")
    walked = asked.walk("table", ("MAPS_TO",))
    return walked[0].nodes[-1] if walked else None


def _no_table(asked: Asked, facts: dict[str, Json]) -> Part:
    said = f"No table is known for {asked.anchor.mention.text}; looked in {asked.node.uri or 'all files'}."
    return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=[asked.node.uri])


def _when(link: Link) -> tuple[str, int]:
    return called(link.source), link.line


def _doing(asked: Asked) -> str:
    wanted = [kind.lower() for kind, said in _SAID if re.search(said, asked.text)]
    return " or ".join(wanted) or "touches"


def _name(table: Node) -> str:
    return called(table.key).partition("#")[0]
