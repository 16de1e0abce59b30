"""Short texts about routes, so that a search with plain words finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.types import Link, Node
from ragstone_code.descriptions import Description, action_words
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.link_names import list_entries, table_names, target_names
from ragstone_code.laravel.sentences import comment, lines, sentence, short, words

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

_PARAMETER: Final = re.compile(r"\{[^}]*\}")


def describe_route(index: GraphIndex, node: Node) -> Description:
    """Return the title and text of a route: its action, middleware, validation, models and tables."""
    attributes = node.attributes
    uri = str(attributes.get("uri") or "")
    title = _route_title(node, uri)
    handlers = index.links_from("HANDLED_BY", node.key)
    action = index.nodes.get(handlers[0].target) if handlers else None
    action_name = str(attributes.get("action") or "")
    controller = index.nodes.get(f"class:{attributes.get('controller')}")
    bare_uri = re.sub(r"[{}?]", " ", uri)
    calls = list_entries(action, "calls") if action else []
    finding_words = [_route_purpose(node), words(bare_uri, short(action_name)), words(*calls)]
    comments = dict.fromkeys(
        comment(described.doc) for described in (controller, action) if described
    )
    bound = [
        _model_with_table(index, link.target) for link in index.links_from("BINDS", node.key)
    ]
    middleware = [
        _describe_middleware(index, link) for link in index.links_from("GUARDED_BY", node.key)
    ]
    text = lines(
        _served_by(node, title, action_name, action),
        *comments,
        *_describe_action(index, action),
        sentence("Bound models", bound),
        sentence("Middleware", middleware),
        _authorisation(index, node.key),
    )
    return Description(f"Route {title}", text, ", ".join(filter(None, finding_words)))


def _route_title(node: Node, uri: str) -> str:
    methods = "|".join(list_entries(node, "methods"))
    title = f"{methods} {uri}"
    name = node.attributes.get("name")
    return f"{title} ({name})" if name else title


def _route_purpose(node: Node) -> str:
    """Return words for the purpose of a route: from the action's name, otherwise from the HTTP methods."""
    purpose = ACTION_WORDS.get(str(node.attributes.get("method") or ""))
    if purpose:
        return purpose
    path = _PARAMETER.sub("", str(node.attributes.get("uri") or "")).rstrip("/")
    own_words = action_words(f"{node.attributes.get('method') or ''} {path.rpartition('/')[2]}")
    purposes: dict[str, None] = {own_words: None} if own_words else {}
    for method in list_entries(node, "methods"):
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
    models = [
        _model_with_table(index, link.target) for link in index.links_from("USES_MODEL", key)
    ]
    yield sentence("Validates in place", list_entries(action, "validates"))
    yield sentence("Uses models", models)
    yield sentence("Returns", target_names(index, "RETURNS", key))
    yield sentence("Shows", list_entries(action, "renders"))
    yield sentence("Fires", target_names(index, "FIRES", key))
    yield sentence("Dispatches", target_names(index, "DISPATCHES", key))
    yield _authorisation(index, key)


def _describe_validation(index: GraphIndex, link: Link) -> str:
    """Return the form request of an action with its fields and its comment."""
    text = f"Validated by {short(link.target)}"
    request = index.nodes.get(link.target)
    fields = list_entries(request, "fields") if request else []
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
    class_names = target_names(index, "HANDLED_BY", link.target)
    description = text
    if class_names and class_names[0] != short(text):
        description = f"{text} ({class_names[0]})"
    return f"not {description}" if link.attributes.get("excluded") else description


def _model_with_table(index: GraphIndex, key: str) -> str:
    """Return a model with its table."""
    name = short(key)
    tables = table_names(index, key)
    return f"{name} (table {tables[0]})" if tables else name
