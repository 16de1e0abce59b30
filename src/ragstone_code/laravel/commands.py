"""Console commands: the names they are called by, their signatures and descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragstone.types import Alias, Graph, Json, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.class_kinds import COMMANDS
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import argument_at, called_name, class_of, receiver, text_of


def read_commands(app: App, calls: Iterable[LocatedCall]) -> tuple[Graph, dict[str, str]]:
    """Return the graph of commands, and the class of each command by the name it is called by."""
    class_nodes: list[Node] = []
    classes: dict[str, str] = {}
    for app_class in app.classes.values():
        if app_class.definition.kind != "class" or not app.is_a(app_class.name, COMMANDS):
            continue
        signature = _read_signature(app, app_class)
        attributes = _command_attributes(signature, _read_description(app, app_class))
        class_nodes.append(app.own_class_node(app_class, "command", attributes))
        if attributes["command"]:
            classes[str(attributes["command"])] = app_class.name
    nodes = (*class_nodes, *_closure_commands(calls))
    aliases = class_aliases(class_nodes) + _command_aliases(nodes)
    return Graph(nodes=nodes, aliases=aliases), classes


def _command_attributes(signature: str, description: str) -> dict[str, Json]:
    """Return the attributes of a command node; the first word of a signature is the command's name."""
    words = signature.split()
    return {
        "command": words[0] if words else "",
        "signature": " ".join(words),
        "description": description,
    }


def _command_aliases(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the names that commands are called by."""
    aliases = (
        Alias(
            str(node.attributes["command"]),
            node.key,
            "command",
            node.uri,
        )
        for node in nodes
    )
    return tuple(alias for alias in aliases if alias.name)


def _read_signature(app: App, app_class: AppClass) -> str:
    """Return the signature that a command class declares, or its plain name."""
    declared = _read_attribute(app_class, "signature", position=0, parameter="name")
    if declared is None:
        return _read_property(app, app_class, ("signature", "name", "defaultName"))
    return declared


def _read_description(app: App, app_class: AppClass) -> str:
    """Return the description that a command class declares."""
    declared = _read_attribute(app_class, "description", position=1, parameter="description")
    if declared is None:
        return _read_property(app, app_class, ("description", "defaultDescription"))
    return declared


def _read_attribute(
    app_class: AppClass, name: str, *, position: int, parameter: str
) -> str | None:
    """Return the text of a PHP attribute: `#[Signature]`, `#[Description]` or an argument of `#[AsCommand]`."""
    for attribute in app_class.definition.attributes:
        if not isinstance(attribute, program_tree.New):
            continue
        short = class_of(attribute).rpartition("\\")[2]
        if short.lower() == name:
            return text_of(argument_at(attribute, 0)) or ""
        if short == "AsCommand":
            text = text_of(argument_at(attribute, position, parameter))
            if text:
                return text
    return None


def _read_property(app: App, app_class: AppClass, names: tuple[str, ...]) -> str:
    """Return the default of the first of these properties that is a written string."""
    for name in names:
        declared = app.find_property(app_class.name, name)
        if declared is None or declared[1].default is None:
            continue
        owner, class_property = declared
        text = text_of(class_property.default, owner.name)
        if text:
            return text
    return ""


def _closure_commands(calls: Iterable[LocatedCall]) -> Iterator[Node]:
    """Yield the commands that are closures: `Artisan::command('signature', …)`."""
    for located in calls:
        owner = receiver(located.call)
        if (
            not isinstance(owner, program_tree.ClassName)
            or owner.name.rpartition("\\")[2] != "Artisan"
        ):
            continue
        if called_name(located.call) != "command":
            continue
        attributes = _command_attributes(text_of(argument_at(located.call, 0)) or "", "")
        name = str(attributes["command"])
        if name:
            yield Node(
                f"command:{name}",
                "command",
                name,
                located.uri,
                located.line,
                language="php",
                framework="laravel",
                attributes=attributes,
            )
