"""Commands of the console: their names as they are called, and what they say they do."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.code import tree
from ragstone.types import Alias, Graph, Json, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.kinds import COMMANDS
from ragstone_code.laravel.syntax import argument_at, called_name, class_of, receiver, text_of


def commands(app: App, sites: Iterable[LocatedCall]) -> tuple[Graph, dict[str, str]]:
    """Return the commands, and the class of each by the name it is called by."""
    nodes: list[Node] = []
    names: dict[str, str] = {}
    for known in app.classes.values():
        if known.definition.kind != "class" or not app.is_a(known.name, COMMANDS):
            continue
        signature = _said(app, known, ("signature", "name", "defaultName"), "signature")
        name = signature.split()[0] if signature.split() else ""
        attributes: dict[str, Json] = {
            "command": name,
            "signature": " ".join(signature.split()),
            "description": _said(app, known, ("description", "defaultDescription"), "description"),
        }
        nodes.append(app.own_class_node(known, "command", attributes))
        if name:
            names[name] = known.name
    closures = _closures(sites)
    called_by = tuple(
        Alias(str(node.attributes["command"]), node.key, "command", node.uri)
        for node in (*nodes, *closures)
        if node.attributes["command"]
    )
    return Graph(nodes=(*nodes, *closures), aliases=class_aliases(tuple(nodes)) + called_by), names


def _said(app: App, known: AppClass, properties: tuple[str, ...], attribute: str) -> str:
    """Return what a command says of itself, by an attribute or a property."""
    for one in known.definition.attributes:
        if not isinstance(one, tree.New):
            continue
        short = class_of(one).rpartition("\\")[2]
        if short.lower() == attribute:
            return text_of(argument_at(one, 0)) or ""
        if short == "AsCommand":
            place, name = (0, "name") if attribute == "signature" else (1, "description")
            text = text_of(argument_at(one, place, name))
            if text:
                return text
    for wanted in properties:
        found = app.find_property(known.name, wanted)
        text = text_of(found[1].default, found[0].name) if found and found[1].default is not None else None
        if text:
            return text
    return ""


def _closures(sites: Iterable[LocatedCall]) -> tuple[Node, ...]:
    """Return the commands that are closures: `Artisan::command(…)`."""
    found = []
    for site in sites:
        at = receiver(site.call)
        named = isinstance(at, tree.ClassName) and at.name.rpartition("\\")[2] == "Artisan"
        signature = text_of(argument_at(site.call, 0)) if named and called_name(site.call) == "command" else None
        if signature and signature.split():
            name = signature.split()[0]
            attributes: dict[str, Json] = {"command": name, "signature": " ".join(signature.split()), "description": ""}
            found.append(
                Node(f"command:{name}", "command", name, site.uri, site.line, language="php", framework="laravel",
                     attributes=attributes)
            )  # fmt: skip
    return tuple(found)
