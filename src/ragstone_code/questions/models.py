"""What is asked about models: their table, policy, observer and relations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragstone.types import Json, Link, Node
from ragstone_code.questions.asking import (
    Asked,
    Part,
    Place,
    at,
    called,
    ends,
    folder,
    full_name,
    listed,
    looked,
    place_of,
    places,
    strings,
)

_NO_ABILITIES = frozenset({"before", "after", "__construct", "__call"})


def table(asked: Asked) -> Part:
    """Return the table a model's rows are in, and how that is known."""
    walked = asked.walk()
    if not walked:
        said = f"{_name(asked.node)} maps to no table that is known; looked in {asked.node.uri or 'no file'}."
        return Part(
            {"table": None}, said, place_of(asked.node), [asked.node], negative=True, looked_in=[asked.node.uri]
        )
    link, found = walked[0].links[-1], walked[0].nodes[-1]
    how = link.attributes.get("how")
    made = asked.links([found.key], "CREATES", back=True)
    facts: dict[str, Json] = {"table": _table_name(found), "how": how, "model": full_name(asked.node.key)}
    said = f"{_name(asked.node)} uses the table {_table_name(found)} ({_how(how)}, {link.uri}:{link.line})."
    evidence = [*places([link]), *places(made), *place_of(asked.node), *place_of(found)]
    return Part(facts, said, evidence, [asked.node, found], walked)


def policy(asked: Asked) -> Part:
    """Return the policy that guards a model, or that there is none."""
    walked = asked.walk()
    if not walked:
        return _no_policy(asked)
    link, found = walked[0].links[-1], walked[0].nodes[-1]
    abilities = _abilities(asked, found)
    facts: dict[str, Json] = {
        "policy": full_name(found.key),
        "file": found.uri,
        "line": found.line,
        "abilities": [name for name, _ in abilities],
        "how": link.attributes.get("how"),
        "registered_at": f"{link.uri}:{link.line}",
    }
    defined = f"; it defines {listed([name for name, _ in abilities])}" if abilities else "; it defines no ability"
    how = f"{_how(facts['how'])}, {link.uri}:{link.line}"
    said = f"{_name(asked.node)} is guarded by {full_name(found.key)}{at(found)}: {how}{defined}."
    evidence = [*places([link]), *place_of(found), *(place for _, place in abilities)]
    return Part(facts, said, evidence, [found, asked.node], walked)


def _abilities(asked: Asked, found: Node) -> list[tuple[str, Place]]:
    """Return the public methods of a policy with their places; those of the framework's own making left out."""
    prefix = f"method:{full_name(found.key)}::"
    methods = [
        node
        for node in (asked.store.graph.nodes(asked.scope, uris=[found.uri], limit=5000) if found.uri else [])
        if node.key.startswith(prefix) and not re.match(r"\s*(?:private|protected)\b", node.signature)
    ]
    lines = {node.key.removeprefix(prefix): (node.uri, node.line) for node in methods}
    told = strings(found.attributes.get("abilities"))
    names = told or [name for name in lines if name not in _NO_ABILITIES]
    return [(name, lines.get(name, (found.uri, found.line))) for name in names]


def _no_policy(asked: Asked) -> Part:
    """Return that no policy is registered and none is there by convention, and where that was looked for."""
    policies = asked.kind("policy")
    links = asked.links([node.key for node in policies], "PROTECTED_BY", back=True)
    registered = [link for link in links if link.attributes.get("how") == "registered"]
    providers = [node for node in asked.kind("provider") if re.search(r"Auth|App", node.name)]
    where = looked([*(link.uri for link in registered), *(node.uri for node in providers), *_folders(policies)])
    said = f"{_name(asked.node)} has no policy: none registered, none by attribute, none by convention; "
    said += f"looked in {listed(where, 5) or 'all files'}."
    first = min(registered, key=lambda link: (link.uri, link.line), default=None)
    evidence = [*places([first] if first else []), *(place for node in providers for place in place_of(node))]
    evidence += place_of(asked.node)
    return Part({"policy": None}, said, evidence, [asked.node], negative=True, looked_in=where)


def observer(asked: Asked) -> Part:
    """Return the observers attached to a model, or that there is none."""
    walked = asked.walk()
    if not walked:
        known = asked.kind("observer")
        links = asked.links([node.key for node in known], "OBSERVED_BY", back=True)
        where = looked([asked.node.uri, *(link.uri for link in links), *_folders(known)])
        said = f"No observer is attached to {_name(asked.node)}: none by attribute, none registered; "
        said += f"looked in {listed(where, 5) or 'all files'}."
        return Part({"observer": None}, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    links = [path.links[-1] for path in walked]
    found = ends(walked)
    facts: dict[str, Json] = {"observer": full_name(found[0].key), "how": links[0].attributes.get("how")}
    facts |= {"file": found[0].uri, "line": found[0].line}
    if len(found) > 1:
        facts["observers"] = [full_name(node.key) for node in found]
    names = [f"{full_name(node.key)}{at(node)}" for node in found]
    said = f"{_name(asked.node)} is observed by {listed(names)}: {_how(facts['how'])}, {links[0].uri}:{links[0].line}."
    evidence = [*places(links), *(place for node in found for place in place_of(node)), *place_of(asked.node)]
    return Part(facts, said, evidence, [*found, asked.node], walked)


def of_policy(asked: Asked) -> Part:
    """Return the models that a policy or an observer is for, or that use a table."""
    walked = asked.walk()
    found = ends(walked)
    facts: dict[str, Json] = {"models": [full_name(node.key) for node in found]}
    if asked.role == "policy":
        facts["abilities"] = [name for name, _ in _abilities(asked, asked.node)]
    if not found:
        said = f"No model is known for {asked.anchor.mention.text}; looked at all models."
        where = _folders(asked.kind("model"))
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    told = [f"{full_name(node.key)}{at(node)}" for node in found]
    said = f"{asked.anchor.mention.text} belongs to {listed(told)}."
    evidence = [*places(path.links[-1] for path in walked), *(place for node in found for place in place_of(node))]
    return Part(facts, said, [*evidence, *place_of(asked.node)], [*found, asked.node], walked)


def relations(asked: Asked) -> Part:
    """Return a model's relations: all, one that is named, those of one trait, or those to one model."""
    node = asked.node
    owner = full_name(node.key)
    known = [one for one in asked.kind("model_relation") if full_name(one.key) == owner]
    links = asked.links([node.key], "RELATES")
    rows = {**_from_links(links), **{one.key.rpartition("::")[2]: _row(one) for one in known}}
    lines = {one.key.rpartition("::")[2]: (one.uri, one.line) for one in known}
    lines |= {str(link.attributes.get("name")): (link.uri, link.line) for link in links if link.uri}
    chosen = _chosen(asked, rows, lines)
    facts: dict[str, Json] = {"relations": [rows[name] for name in chosen]}
    evidence = [lines[name] for name in chosen if name in lines]
    if not chosen:
        said = f"{called(owner) or owner} has no relation that is written down; looked in {node.uri or 'no file'}."
        return Part(facts, said, place_of(node), [node], negative=True, looked_in=[node.uri])
    said = f"{owner} has {listed([_told(rows[name]) for name in chosen], 30)} ({evidence[0][0]}:{evidence[0][1]})."
    traits = [place for other in asked.others for one in other.nodes for place in place_of(one)]
    used = [link for link in asked.links([node.key], "USES_TRAIT") if link.target in _keys(asked)]
    evidence += [*places(used), *traits, *place_of(node)]
    nodes = [one for one in known if one.key.rpartition("::")[2] in chosen]
    return Part(facts, said, evidence, [node, *nodes])


def _chosen(asked: Asked, rows: dict[str, Json], lines: dict[str, Place]) -> list[str]:
    """Return the names of the relations that are asked for, in the order they are written."""
    one = re.split(r"::|->|@|\.", asked.anchor.mention.text.removesuffix("()"))[-1]
    names = sorted(rows, key=lambda name: lines.get(name, ("", 0)))
    if asked.role != "model" or one != asked.anchor.mention.text:
        named = [name for name in names if name.lower() == one.lower()]
        if named:
            return named
    others = [node for other in asked.others for node in other.nodes]
    traits = {node.uri for node in others if node.kind in ("trait", "class") and node.uri}
    through = [name for name in names if name in lines and lines[name][0] in traits]
    if through:
        return through
    wanted = {full_name(node.key) for node in others if node.kind == "model"}
    wanted |= {_table_name(node) for node in others if node.kind == "table"}
    return [name for name in names if _leads_to(rows[name], wanted)] or names


def _leads_to(row: Json, wanted: set[str]) -> bool:
    """Return whether a relation leads to one of these models, or goes over one of these tables."""
    return isinstance(row, dict) and any(row.get(key) in wanted for key in ("related", "through", "pivot"))


def _keys(asked: Asked) -> set[str]:
    return {node.key for other in asked.others for node in other.nodes}


def _from_links(links: Iterable[Link]) -> dict[str, Json]:
    return {
        str(link.attributes["name"]): {
            "name": link.attributes["name"],
            "type": link.attributes.get("type"),
            "related": full_name(link.target),
            "pivot": link.attributes.get("pivot"),
            "through": link.attributes.get("through"),
        }
        for link in links
        if link.attributes.get("name")
    }


def _row(node: Node) -> Json:
    about = node.attributes
    row: dict[str, Json] = {"name": about.get("name") or node.key.rpartition("::")[2]}
    row |= {key: about.get(key) for key in ("type", "related", "pivot", "through")}
    return row


def _told(row: Json) -> str:
    if not isinstance(row, dict):
        return ""
    pivot = f" over {row['pivot']}" if row.get("pivot") else ""
    through = f" through {row['through']}" if row.get("through") else ""
    return f"{row['name']} ({row.get('type')} {row.get('related') or 'any model'}{pivot}{through})"


def _table_name(node: Node) -> str:
    return called(node.key).partition("#")[0]


def _folders(nodes: Iterable[Node]) -> list[str]:
    return looked(sorted({folder(node.uri) for node in nodes if node.uri}))


def _name(node: Node) -> str:
    return full_name(node.key)


def _how(how: Json) -> str:
    words = {"convention": "by convention", "explicit": "written in the model", "attribute": "by attribute"}
    return words.get(str(how), str(how or "written"))
