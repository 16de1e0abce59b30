"""Short texts about routes, tables, models, events and settings, so that a search with plain words finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ragstone.types import Graph, Json, Link, Node, Rendered
from ragstone_code.descriptions import Description, render
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.link_names import (
    call_places,
    class_words,
    list_entries,
    source_names,
    table_names,
    target_names,
)
from ragstone_code.laravel.route_groups import describe_group
from ragstone_code.laravel.route_prose import describe_route
from ragstone_code.laravel.sentences import comment, full, lines, sentence, short, words

SETTING_COMMENT_LENGTH: Final = 120
"""Characters of a setting's comment: most of these comments are boilerplate of the framework."""
_NOTHING: Final = Description("", "")


def describe_graph(graph: Graph) -> tuple[Rendered, ...]:
    """Return a text for each node of a graph whose kind has one and that has a file."""
    index = GraphIndex(graph)
    rendered: list[Rendered] = []
    for node in index.nodes.values():
        describe = _DESCRIBERS.get(node.kind)
        if describe is None or not node.uri:
            continue
        description = describe(index, node)
        if description.text:
            rendered.append(render(node, description))
    return tuple(rendered)


# ── tables and models ────────────────────────────────────────────────────────────────────────


def _describe_table(index: GraphIndex, node: Node) -> Description:
    """Return the text of a table: its current columns, keys, model and migrations."""
    attributes = node.attributes
    columns = attributes.get("columns")
    column_texts: list[str] = []
    if isinstance(columns, list):
        column_texts = [
            _describe_column(column) for column in columns if isinstance(column, dict)
        ]
    models = source_names(index, "MAPS_TO", node.key)
    dropped = " It is dropped." if attributes.get("dropped") else ""
    former_names = list_entries(node, "former_names")
    about = [words(name) for name in (node.name, *former_names)]
    text = lines(
        f"Database table {node.name}.{dropped}",
        sentence("Models", models),
        sentence("Columns", column_texts),
        sentence("Foreign keys", list_entries(node, "foreign_keys")),
        sentence("Former names", former_names),
        sentence("Migrations", list_entries(node, "migrations")),
    )
    finding_words = f"stores, holds, keeps {', '.join(about)}, history, made and changed"
    return Description(f"Table {node.name}", text, finding_words)


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
    hooks = list_entries(node, "hooks")
    events = [hook.partition(" ")[0] for hook in hooks]
    text = lines(
        f"Eloquent model {full(node)}.",
        sentence("Table", table_names(index, key)),
        comment(node.doc),
        sentence("Relations", relations, "; "),
        sentence("Policy", target_names(index, "PROTECTED_BY", key)),
        sentence("Observed by", target_names(index, "OBSERVED_BY", key)),
        sentence("Hooks", events),
    )
    hook_words = ", does something when" if events else ""
    return Description(f"Model {name}", text, f"{words(name)}{hook_words}")


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
        f"Event {full(node)}.",
        comment(node.doc),
        sentence(
            "Fired from",
            call_places(index, "FIRES", node.key),
            "; ",
        ),
        sentence("Listeners", listeners),
    )
    event_words = f"{class_words(node)}, listeners, what happens after"
    return Description(f"Event {short(node.name)}", text, event_words)


def _describe_policy(index: GraphIndex, node: Node) -> Description:
    """Return the text of a policy: the models that it protects, and its abilities."""
    name = short(node.name)
    subject = words(name.removesuffix("Policy"))
    text = lines(
        f"Policy {full(node)}.",
        comment(node.doc),
        sentence("Protects", source_names(index, "PROTECTED_BY", node.key)),
        sentence("Abilities", list_entries(node, "abilities")),
    )
    return Description(f"Policy {name}", text, f"permissions, authorisation of {subject}")


def _describe_job(index: GraphIndex, node: Node) -> Description:
    """Return the text of a job, notification or mail: the calls that dispatch it; nothing if no call does."""
    places = call_places(index, "DISPATCHES", node.key)
    if not places:
        return _NOTHING
    kind = node.kind.capitalize()
    text = lines(
        f"{kind} {full(node)}.",
        comment(node.doc),
        sentence("Dispatched from", places, "; "),
    )
    return Description(f"{kind} {short(node.name)}", text, class_words(node))


def _describe_setting(index: GraphIndex, node: Node) -> Description:
    """Return the text of a settings file: its keys and its environment variables."""
    variables: list[str] = []
    env = node.attributes.get("env")
    if isinstance(env, list):
        variables = [str(entry["name"]) for entry in env if isinstance(entry, dict)]
    depth = node.name.count(".")
    if depth > 1 or (depth and not variables):
        return _NOTHING
    text = lines(
        f"Configuration {node.name} in {node.uri}.",
        comment(node.doc, SETTING_COMMENT_LENGTH),
        sentence("Keys", list_entries(node, "keys")),
        sentence("Environment", variables),
    )
    return Description(f"Settings {node.name}", text, words(node.name))


def _describe_command(index: GraphIndex, node: Node) -> Description:
    """Return the text of a console command: its name, description and signature."""
    name = node.attributes.get("command")
    if not name:
        return _NOTHING
    description = str(node.attributes.get("description") or "").rstrip(".")
    text = lines(
        f"Console command {name} in {node.place}.",
        f"{description}." if description else "",
        sentence("Signature", (str(node.attributes.get("signature") or ""),)),
    )
    return Description(f"Command {name}", text, f"{class_words(node)}, {words(str(name))}")


def _describe_task(index: GraphIndex, node: Node) -> Description:
    """Return the text of a scheduled task: the command or job that runs, and the time."""
    times = list_entries(node, "frequency")
    targets = target_names(index, "DISPATCHES", node.key)
    targets += target_names(index, "RUNS", node.key)
    title = node.attributes.get("title") or ""
    introduction = f"Scheduled {node.name}"
    if title:
        introduction += f" ({title})"
    text = lines(
        f"{introduction}.",
        sentence("Runs", targets),
        sentence("When", times),
    )
    return Description(f"Schedule {node.name}", text, words(node.name))


def _describe_channel(index: GraphIndex, node: Node) -> Description:
    """Return the text of a broadcast channel: its name and the class that authorises it."""
    decided_by = node.attributes.get("by")
    text = f"Broadcast channel {node.name}. Decided by {decided_by}."
    return Description(f"Channel {node.name}", text, words(node.name))


Describer = Callable[[GraphIndex, Node], Description]
_DESCRIBERS: Final[dict[str, Describer]] = {
    "route": describe_route,
    "route_group": describe_group,
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
