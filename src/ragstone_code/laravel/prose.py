"""Prose about routes, tables, models, events and settings: short and exact, so that plain words have text to match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.types import Graph, Json, Link, Node, Rendered
from ragstone_code.laravel.graph_index import GraphIndex

PURPOSES: Final = {
    "index": "list, show all", "show": "show one, view, read, get", "create": "form to create, add, new",
    "store": "create, add, make, save a new", "edit": "form to edit, change",
    "update": "update, edit, change, rename, save", "destroy": "delete, remove", "delete": "delete, remove",
}  # fmt: skip
"""What the actions of a resource are called by people."""
VERBS: Final = {
    "POST": "create, submit",
    "PUT": "set, change",
    "PATCH": "change",
    "DELETE": "delete, remove",
    "GET": "get, show",
}
PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LONG: Final = 300
"""Characters of a comment that are kept: it is one voice among others."""
BRIEF: Final = 120
"""Those of a setting, whose comments are mostly the framework's own and say much about little."""
NOISE: Final = frozenset(
    ("invoke", "controller", "app", "http", "api", "controllers", "domains", "web", "events", "jobs", "models")
)


def describe_graph(graph: Graph) -> tuple[Rendered, ...]:
    """Return the prose of everything in a graph that is not a symbol by itself."""
    known = GraphIndex(graph)
    return tuple(
        Rendered(node.key, node.kind, title, text, node.uri, node.line)
        for node in known.nodes.values()
        if node.kind in _SAYING and node.uri
        for title, text in (_SAYING[node.kind](known, node),)
        if text
    )


def words(*texts: str) -> str:
    """Return the words of names, each once: `PlaylistFolderController@store` has playlist, folder and store."""
    found = (word.lower() for text in texts for word in PIECES.findall(text))
    return " ".join(dict.fromkeys(word for word in found if word not in NOISE and len(word) > 1))


def short(name: str) -> str:
    """Return a class's name without its namespace."""
    return name.removeprefix("class:").rpartition("\\")[2]


def full(node: Node) -> str:
    """Return the whole name of what a node is: a class with its namespace."""
    return node.key.partition(":")[2]


def listing(value: Json) -> list[str]:
    """Return the entries of an attribute that is a list."""
    return [str(one) for one in value] if isinstance(value, list) else []


def sentence(label: str, parts: Iterable[str], between: str = ", ") -> str:
    """Return `label: a, b.`, nothing where there are no parts."""
    said = between.join(dict.fromkeys(part for part in parts if part))
    return f"{label}: {said}." if said else ""


def lines(*said: str) -> str:
    """Return the sentences that are there, each on its line."""
    return "\n".join(one for one in said if one)


def comment(text: str, most: int = LONG) -> str:
    """Return what a doc comment says, without its signs and tags."""
    kept = []
    for line in text.splitlines():
        bare = line.strip().removeprefix("/**").removesuffix("*/").strip().lstrip("*").strip()
        if bare.startswith("@"):
            break
        if bare and not bare.startswith("{@"):
            kept.append(bare)
    said = " ".join(kept)
    return said if len(said) <= most else said[:most].rsplit(" ", 1)[0] + " …"


# ── routes ────────────────────────────────────────────────────────────────────────────────────────


def _route(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a route: what serves it, checks it, guards it and which models and tables it touches."""
    methods = listing(node.attributes.get("methods"))
    uri, name = str(node.attributes.get("uri") or ""), node.attributes.get("name")
    title = f"{'|'.join(methods)} {uri}" + (f" ({name})" if name else "")
    handled = known.links_from("HANDLED_BY", node.key)
    action = known.nodes.get(handled[0].target) if handled else None
    said = str(node.attributes.get("action") or "")
    method = str(node.attributes.get("method") or "")
    purpose = PURPOSES.get(method) or ", ".join(dict.fromkeys(VERBS[verb] for verb in methods if verb in VERBS))
    where = f" in {action.place}" if action and action.uri else ""
    missing = " That method does not exist." if node.attributes.get("method_exists") is False else ""
    controller = known.nodes.get(f"class:{node.attributes.get('controller')}")
    return f"Route {title}", lines(
        f"Route {title} is served by {said or 'a closure'}{where}.{missing}",
        sentence("About", (f"{purpose} {words(re.sub(r'[{}?]', ' ', uri), short(said))}",)),
        *dict.fromkeys(comment(one.doc) for one in (controller, action) if one),
        *_of_action(known, action),
        sentence("Bound models", (_model(known, link.target) for link in known.links_from("BINDS", node.key))),
        sentence("Middleware", (_guard(known, link) for link in known.links_from("GUARDED_BY", node.key))),
        _asked(known, node.key),
    )


def _of_action(known: GraphIndex, action: Node | None) -> Iterator[str]:
    """Yield what the method of a route does."""
    if action is None:
        return
    for link in known.links_from("VALIDATED_BY", action.key):
        request = known.nodes.get(link.target)
        fields = listing(request.attributes.get("fields")) if request else []
        doc = comment(request.doc) if request else ""
        yield f"Validated by {short(link.target)}" + (
            f", fields {', '.join(fields)}. {doc}".rstrip() if fields else "."
        )
    yield sentence("Validates in place", listing(action.attributes.get("validates")))
    yield sentence("Uses models", (_model(known, link.target) for link in known.links_from("USES_MODEL", action.key)))
    yield sentence("Returns", (short(link.target) for link in known.links_from("RETURNS", action.key)))
    yield sentence("Shows", listing(action.attributes.get("renders")))
    yield sentence("Fires", (short(link.target) for link in known.links_from("FIRES", action.key)))
    yield sentence("Dispatches", (short(link.target) for link in known.links_from("DISPATCHES", action.key)))
    yield _asked(known, action.key)
    yield sentence("Calls", (words(name) for name in listing(action.attributes.get("calls"))))


def _asked(known: GraphIndex, key: str) -> str:
    """Return what the gate is asked."""
    return sentence("Authorised by", (_ability(link) for link in known.links_from("AUTHORIZED_BY", key)))


def _ability(link: Link) -> str:
    """Return an ability with the policy that answers it."""
    policy = link.attributes.get("policy")
    return f"{link.attributes.get('ability')}" + (f" of {short(str(policy))}" if policy else "")


def _guard(known: GraphIndex, link: Link) -> str:
    """Return a middleware as it is written, with the class behind it."""
    written = str(link.attributes.get("written") or link.target.partition(":")[2])
    behind = [short(one.target) for one in known.links_from("HANDLED_BY", link.target)]
    without = "not " if link.attributes.get("excluded") else ""
    return without + written + (f" ({behind[0]})" if behind and behind[0] != short(written) else "")


def _model(known: GraphIndex, key: str) -> str:
    """Return a model with its table."""
    tables = [link.target.removeprefix("table:") for link in known.links_from("MAPS_TO", key)]
    return short(key) + (f" (table {tables[0]})" if tables else "")


# ── tables and models ─────────────────────────────────────────────────────────────────────────────


def _table(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a table: its columns as they are now, its keys, what made it and the model that lives in it."""
    columns = node.attributes.get("columns")
    shown = [_column(one) for one in columns if isinstance(one, dict)] if isinstance(columns, list) else []
    models = [short(link.source) for link in known.links_to("MAPS_TO", node.key)]
    gone = " It is dropped." if node.attributes.get("dropped") else ""
    former = listing(node.attributes.get("former_names"))
    return f"Table {node.name}", lines(
        f"Database table {node.name} stores, holds, keeps {', '.join(models) or 'rows'} ({words(node.name)}).{gone}",
        sentence("Columns", shown),
        sentence("Foreign keys", listing(node.attributes.get("foreign_keys"))),
        sentence("Former names", (f"{one} ({words(one)})" for one in former)),
        sentence("History, migrations that made and changed it", listing(node.attributes.get("migrations"))),
    )


def _column(one: dict[str, Json]) -> str:
    """Return a column with its type."""
    return " ".join(
        filter(None, (str(one.get("name")), str(one.get("type") or ""), "nullable" if one.get("nullable") else ""))
    )


def _of_model(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a model: its table, its relations, what protects and observes it."""
    return f"Model {short(node.name)}", lines(
        f"Eloquent model {full(node)}: {words(short(node.name))}.",
        sentence("Table", (link.target.removeprefix("table:") for link in known.links_from("MAPS_TO", node.key))),
        comment(node.doc),
        sentence("Relations", (_relation(link) for link in known.links_from("RELATES", node.key)), "; "),
        sentence("Policy", (short(link.target) for link in known.links_from("PROTECTED_BY", node.key))),
        sentence("Observed by", (short(link.target) for link in known.links_from("OBSERVED_BY", node.key))),
        sentence("Does something when", (hook.partition(" ")[0] for hook in listing(node.attributes.get("hooks")))),
    )


def _relation(link: Link) -> str:
    """Return a relation with its type, pivot and what it goes through."""
    more = [f"{word} {value}" for word in ("pivot", "through") if (value := link.attributes.get(word))]
    return f"{link.attributes.get('name')} {link.attributes.get('type')} {short(link.target)}" + (
        f" ({', '.join(more)})" if more else ""
    )


# ── events, policies, tasks, settings ─────────────────────────────────────────────────────────────


def _event(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return an event: where it is fired and what listens."""
    fired = (f"{_caller(link.source)} at {link.uri}:{link.line}" for link in known.links_to("FIRES", node.key))
    heard = (
        f"{short(link.source)} ({link.attributes.get('how')}, {link.uri}:{link.line})"
        for link in known.links_to("LISTENS", node.key)
    )
    return f"Event {short(node.name)}", lines(
        f"Event {full(node)}: {_about(node)}.",
        comment(node.doc),
        sentence("Fired from", fired, "; "),
        sentence("Listeners, what happens after", heard),
    )


def _about(node: Node) -> str:
    """Return the words of a class and of the folders it is in, without the first, which is the application's."""
    _, _, rest = full(node).partition("\\")
    return words(rest or node.name)


def _caller(key: str) -> str:
    """Return a method without the namespace of its class."""
    return key.partition(":")[2].rpartition("\\")[2]


def _policy(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a policy: whose it is and what may be asked of it."""
    return f"Policy {short(node.name)}", lines(
        f"Policy {full(node)}: permissions, authorisation of {words(short(node.name).removesuffix('Policy'))}.",
        comment(node.doc),
        sentence("Protects", (short(link.source) for link in known.links_to("PROTECTED_BY", node.key))),
        sentence("Abilities", listing(node.attributes.get("abilities"))),
    )


def _job(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a job, notification or mail: where it is sent from."""
    sent = [f"{_caller(link.source)} at {link.uri}:{link.line}" for link in known.links_to("DISPATCHES", node.key)]
    if not sent:
        return "", ""
    return f"{node.kind.capitalize()} {short(node.name)}", lines(
        f"{node.kind.capitalize()} {full(node)}: {_about(node)}.",
        comment(node.doc),
        sentence("Dispatched from", sent, "; "),
    )


def _setting(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a file of settings: its keys, the environment's names, what reads it."""
    env = node.attributes.get("env")
    names = [str(one["name"]) for one in env if isinstance(one, dict)] if isinstance(env, list) else []
    if node.name.count(".") > 1 or ("." in node.name and not names):
        return "", ""
    return f"Settings {node.name}", lines(
        f"Configuration {node.name} ({node.uri}): {words(node.name)}.",
        comment(node.doc, BRIEF),
        sentence("Keys", listing(node.attributes.get("keys"))),
        sentence("Environment", names),
    )


def _command(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a command of the console: how it is called and what it does."""
    name, does = node.attributes.get("command"), node.attributes.get("description")
    if not name:
        return "", ""
    return f"Command {name}", lines(
        f"Console command {name} ({_about(node)}) in {node.place}: {does or words(str(name))}".rstrip(".") + ".",
        sentence("Signature", (str(node.attributes.get("signature") or ""),)),
    )


def _task(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a task of the schedule: what runs and when."""
    when = [words(one) or one for one in listing(node.attributes.get("when"))]
    ran = (short(link.target) for kind in ("DISPATCHES", "RUNS") for link in known.links_from(kind, node.key))
    return f"Schedule {node.name}", lines(
        f"Scheduled {node.name} ({words(node.name)}) {node.attributes.get('title') or ''}".rstrip() + ".",
        sentence("Runs", ran),
        sentence("When", when),
    )


def _channel(known: GraphIndex, node: Node) -> tuple[str, str]:
    """Return a channel and who decides about it."""
    return (
        f"Channel {node.name}",
        f"Broadcast channel {node.name}: {words(node.name)}. Decided by {node.attributes.get('by')}.",
    )


_SAYING: Final = {
    "route": _route, "table": _table, "model": _of_model, "event": _event, "policy": _policy, "config": _setting,
    "schedule": _task, "command": _command, "channel": _channel, "job": _job, "notification": _job, "mail": _job,
}  # fmt: skip
