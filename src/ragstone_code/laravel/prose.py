"""Short texts about routes, tables, models, events and settings, so that a search with plain words finds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ragstone.types import Graph, Json, Link, Node, Rendered
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.sentences import comment, full, lines, listing, sentence, short, words

ACTION_WORDS: Final = {
    "index": "list, show all",
    "show": "show one, view, read, get",
    "create": "form to create, add, new",
    "store": "create, add, make, save a new",
    "edit": "form to edit, change",
    "update": "update, edit, change, rename, save",
    "destroy": "delete, remove",
    "delete": "delete, remove",
}
"""Words that people use for the actions of a resource controller."""
VERB_WORDS: Final = {
    "POST": "create, submit",
    "PUT": "set, change",
    "PATCH": "change",
    "DELETE": "delete, remove",
    "GET": "get, show",
}
SETTING_COMMENT_LENGTH: Final = 120
"""Characters of a setting's comment: most of these comments are boilerplate of the framework."""
Description = tuple[str, str]
"""Title and text."""


def describe_graph(graph: Graph) -> tuple[Rendered, ...]:
    """Return a text for each node of a graph whose kind has one and that has a file."""
    index = GraphIndex(graph)
    rendered: list[Rendered] = []
    for node in index.nodes.values():
        describe = _DESCRIBERS.get(node.kind)
        if describe is None or not node.uri:
            continue
        title, text = describe(index, node)
        if text:
            rendered.append(
                Rendered(
                    node.key,
                    node.kind,
                    title,
                    text,
                    node.uri,
                    node.line,
                )
            )
    return tuple(rendered)


# ── names and places of links ──────────────────────────────────────────────────────────────────


def _entries(node: Node, name: str) -> list[str]:
    """Return the entries of a list attribute; nothing if the node has no such list."""
    return listing(node.attributes.get(name))


def _targets(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the short names of the targets of a node's links."""
    return [short(link.target) for link in index.links_from(kind, key)]


def _sources(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the short names of the sources of links to a node."""
    return [short(link.source) for link in index.links_to(kind, key)]


def _tables(index: GraphIndex, key: str) -> list[str]:
    """Return the tables of a model."""
    return [link.target.removeprefix("table:") for link in index.links_from("MAPS_TO", key)]


def _call_places(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the callers that link to a node, with file and line."""
    places: list[str] = []
    for link in index.links_to(kind, key):
        caller = _caller(link.source)
        places.append(f"{caller} at {link.uri}:{link.line}")
    return places


def _caller(key: str) -> str:
    """Return a method without the namespace of its class."""
    return key.partition(":")[2].rpartition("\\")[2]


def _class_words(node: Node) -> str:
    """Return the words of a class name and its namespace; the first part is the application's and left out."""
    _, _, rest = full(node).partition("\\")
    return words(rest or node.name)


# ── routes ───────────────────────────────────────────────────────────────────────────────────


def _describe_route(index: GraphIndex, node: Node) -> Description:
    """Return the text of a route: its action, middleware, validation, models and tables."""
    attributes = node.attributes
    uri = str(attributes.get("uri") or "")
    title = _route_title(node, uri)
    handlers = index.links_from("HANDLED_BY", node.key)
    action = index.nodes.get(handlers[0].target) if handlers else None
    action_name = str(attributes.get("action") or "")
    controller = index.nodes.get(f"class:{attributes.get('controller')}")
    bare_uri = re.sub(r"[{}?]", " ", uri)
    purpose = f"{_route_purpose(node)} {words(bare_uri, short(action_name))}"
    comments = dict.fromkeys(
        comment(described.doc) for described in (controller, action) if described
    )
    bound = [_model_with_table(index, link.target) for link in index.links_from("BINDS", node.key)]
    middleware = [
        _describe_middleware(index, link) for link in index.links_from("GUARDED_BY", node.key)
    ]
    text = lines(
        _served_by(node, title, action_name, action),
        sentence("About", (purpose,)),
        *comments,
        *_describe_action(index, action),
        sentence("Bound models", bound),
        sentence("Middleware", middleware),
        _authorisation(index, node.key),
    )
    return f"Route {title}", text


def _route_title(node: Node, uri: str) -> str:
    methods = "|".join(_entries(node, "methods"))
    title = f"{methods} {uri}"
    name = node.attributes.get("name")
    return f"{title} ({name})" if name else title


def _route_purpose(node: Node) -> str:
    """Return words for the purpose of a route: from the action's name, otherwise from the HTTP methods."""
    purpose = ACTION_WORDS.get(str(node.attributes.get("method") or ""))
    if purpose:
        return purpose
    purposes: dict[str, None] = {}
    for method in _entries(node, "methods"):
        if method in VERB_WORDS:
            purposes[VERB_WORDS[method]] = None
    return ", ".join(purposes)


def _served_by(
    node: Node,
    title: str,
    action_name: str,
    action: Node | None,
) -> str:
    text = f"Route {title} is served by {action_name or 'a closure'}"
    if action and action.uri:
        text += f" in {action.place}"
    text += "."
    if node.attributes.get("method_exists") is False:
        text += " That method does not exist."
    return text


def _describe_action(index: GraphIndex, action: Node | None) -> Iterator[str]:
    """Yield sentences about the method that serves a route."""
    if action is None:
        return
    key = action.key
    for link in index.links_from("VALIDATED_BY", key):
        yield _describe_validation(index, link)
    models = [_model_with_table(index, link.target) for link in index.links_from("USES_MODEL", key)]
    calls = [words(name) for name in _entries(action, "calls")]
    yield sentence("Validates in place", _entries(action, "validates"))
    yield sentence("Uses models", models)
    yield sentence("Returns", _targets(index, "RETURNS", key))
    yield sentence("Shows", _entries(action, "renders"))
    yield sentence("Fires", _targets(index, "FIRES", key))
    yield sentence("Dispatches", _targets(index, "DISPATCHES", key))
    yield _authorisation(index, key)
    yield sentence("Calls", calls)


def _describe_validation(index: GraphIndex, link: Link) -> str:
    """Return the form request of an action with its fields and its comment."""
    text = f"Validated by {short(link.target)}"
    request = index.nodes.get(link.target)
    fields = _entries(request, "fields") if request else []
    if request is None or not fields:
        return f"{text}."
    field_names = ", ".join(fields)
    text += f", fields {field_names}. {comment(request.doc)}"
    return text.rstrip()


def _authorisation(index: GraphIndex, key: str) -> str:
    """Return the abilities that the gate checks, each with its policy."""
    abilities: list[str] = []
    for link in index.links_from("AUTHORIZED_BY", key):
        ability = str(link.attributes.get("ability"))
        policy = link.attributes.get("policy")
        if policy:
            ability += f" of {short(str(policy))}"
        abilities.append(ability)
    return sentence("Authorised by", abilities)


def _describe_middleware(index: GraphIndex, link: Link) -> str:
    """Return a middleware as the route names it, with its class."""
    alias = link.target.partition(":")[2]
    text = str(link.attributes.get("written") or alias)
    class_names = _targets(index, "HANDLED_BY", link.target)
    description = text
    if class_names and class_names[0] != short(text):
        description = f"{text} ({class_names[0]})"
    return f"not {description}" if link.attributes.get("excluded") else description


def _model_with_table(index: GraphIndex, key: str) -> str:
    """Return a model with its table."""
    name = short(key)
    tables = _tables(index, key)
    return f"{name} (table {tables[0]})" if tables else name


# ── tables and models ────────────────────────────────────────────────────────────────────────


def _describe_table(index: GraphIndex, node: Node) -> Description:
    """Return the text of a table: its current columns, keys, model and migrations."""
    attributes = node.attributes
    columns = attributes.get("columns")
    column_texts: list[str] = []
    if isinstance(columns, list):
        column_texts = [_describe_column(column) for column in columns if isinstance(column, dict)]
    models = ", ".join(_sources(index, "MAPS_TO", node.key)) or "rows"
    dropped = " It is dropped." if attributes.get("dropped") else ""
    former_names: list[str] = []
    for name in _entries(node, "former_names"):
        former_names.append(f"{name} ({words(name)})")
    table_words = words(node.name)
    text = lines(
        f"Database table {node.name} stores, holds, keeps {models} ({table_words}).{dropped}",
        sentence("Columns", column_texts),
        sentence("Foreign keys", _entries(node, "foreign_keys")),
        sentence("Former names", former_names),
        sentence("History, migrations that made and changed it", _entries(node, "migrations")),
    )
    return f"Table {node.name}", text


def _describe_column(column: dict[str, Json]) -> str:
    """Return a column with its type."""
    name = str(column.get("name"))
    column_type = str(column.get("type") or "")
    parts = [name, column_type]
    if column.get("nullable"):
        parts.append("nullable")
    return " ".join(part for part in parts if part)


def _describe_model(index: GraphIndex, node: Node) -> Description:
    """Return the text of a model: its table, relations, policy and observers."""
    key = node.key
    name = short(node.name)
    relations = [_describe_relation(link) for link in index.links_from("RELATES", key)]
    hooks = _entries(node, "hooks")
    events = [hook.partition(" ")[0] for hook in hooks]
    text = lines(
        f"Eloquent model {full(node)}: {words(name)}.",
        sentence("Table", _tables(index, key)),
        comment(node.doc),
        sentence("Relations", relations, "; "),
        sentence("Policy", _targets(index, "PROTECTED_BY", key)),
        sentence("Observed by", _targets(index, "OBSERVED_BY", key)),
        sentence("Does something when", events),
    )
    return f"Model {name}", text


def _describe_relation(link: Link) -> str:
    """Return a relation with its type, its pivot table, and the model that it goes through."""
    attributes = link.attributes
    name = attributes.get("name")
    relation_type = attributes.get("type")
    text = f"{name} {relation_type} {short(link.target)}"
    details: list[str] = []
    for word in ("pivot", "through"):
        value = attributes.get(word)
        if value:
            details.append(f"{word} {value}")
    return f"{text} ({', '.join(details)})" if details else text


# ── events, policies, tasks, settings ────────────────────────────────────────────────────────


def _describe_event(index: GraphIndex, node: Node) -> Description:
    """Return the text of an event: the calls that fire it, and its listeners."""
    listeners: list[str] = []
    for link in index.links_to("LISTENS", node.key):
        how = link.attributes.get("how")
        place = f"{link.uri}:{link.line}"
        listeners.append(f"{short(link.source)} ({how}, {place})")
    text = lines(
        f"Event {full(node)}: {_class_words(node)}.",
        comment(node.doc),
        sentence(
            "Fired from",
            _call_places(index, "FIRES", node.key),
            "; ",
        ),
        sentence("Listeners, what happens after", listeners),
    )
    return f"Event {short(node.name)}", text


def _describe_policy(index: GraphIndex, node: Node) -> Description:
    """Return the text of a policy: the models that it protects, and its abilities."""
    name = short(node.name)
    subject = words(name.removesuffix("Policy"))
    text = lines(
        f"Policy {full(node)}: permissions, authorisation of {subject}.",
        comment(node.doc),
        sentence("Protects", _sources(index, "PROTECTED_BY", node.key)),
        sentence("Abilities", _entries(node, "abilities")),
    )
    return f"Policy {name}", text


def _describe_job(index: GraphIndex, node: Node) -> Description:
    """Return the text of a job, notification or mail: the calls that dispatch it; nothing if no call does."""
    places = _call_places(index, "DISPATCHES", node.key)
    if not places:
        return "", ""
    kind = node.kind.capitalize()
    text = lines(
        f"{kind} {full(node)}: {_class_words(node)}.",
        comment(node.doc),
        sentence("Dispatched from", places, "; "),
    )
    return f"{kind} {short(node.name)}", text


def _describe_setting(index: GraphIndex, node: Node) -> Description:
    """Return the text of a settings file: its keys and its environment variables."""
    variables: list[str] = []
    env = node.attributes.get("env")
    if isinstance(env, list):
        variables = [str(entry["name"]) for entry in env if isinstance(entry, dict)]
    depth = node.name.count(".")
    if depth > 1 or (depth and not variables):
        return "", ""
    text = lines(
        f"Configuration {node.name} ({node.uri}): {words(node.name)}.",
        comment(node.doc, SETTING_COMMENT_LENGTH),
        sentence("Keys", _entries(node, "keys")),
        sentence("Environment", variables),
    )
    return f"Settings {node.name}", text


def _describe_command(index: GraphIndex, node: Node) -> Description:
    """Return the text of a console command: its name, description and signature."""
    name = node.attributes.get("command")
    if not name:
        return "", ""
    description = node.attributes.get("description") or words(str(name))
    about = _class_words(node)
    introduction = f"Console command {name} ({about}) in {node.place}: {description}"
    text = lines(
        introduction.rstrip(".") + ".",
        sentence("Signature", (str(node.attributes.get("signature") or ""),)),
    )
    return f"Command {name}", text


def _describe_task(index: GraphIndex, node: Node) -> Description:
    """Return the text of a scheduled task: the command or job that runs, and the time."""
    when = _entries(node, "when")
    times = [words(time) or time for time in when]
    targets = _targets(index, "DISPATCHES", node.key)
    targets += _targets(index, "RUNS", node.key)
    title = node.attributes.get("title") or ""
    about = words(node.name)
    introduction = f"Scheduled {node.name} ({about}) {title}"
    text = lines(
        introduction.rstrip() + ".",
        sentence("Runs", targets),
        sentence("When", times),
    )
    return f"Schedule {node.name}", text


def _describe_channel(index: GraphIndex, node: Node) -> Description:
    """Return the text of a broadcast channel: its name and the class that authorises it."""
    decided_by = node.attributes.get("by")
    text = f"Broadcast channel {node.name}: {words(node.name)}. Decided by {decided_by}."
    return f"Channel {node.name}", text


Describer = Callable[[GraphIndex, Node], Description]
_DESCRIBERS: Final[dict[str, Describer]] = {
    "route": _describe_route,
    "table": _describe_table,
    "model": _describe_model,
    "event": _describe_event,
    "policy": _describe_policy,
    "config": _describe_setting,
    "schedule": _describe_task,
    "command": _describe_command,
    "channel": _describe_channel,
    "job": _describe_job,
    "notification": _describe_job,
    "mail": _describe_job,
}
