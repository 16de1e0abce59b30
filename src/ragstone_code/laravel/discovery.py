"""Event listeners that Laravel discovers by the parameter types of their handlers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

from ragstone.types import Confidence
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.class_kinds import EVENT_PROVIDERS
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_values,
    called_name,
    returned_values,
)

HANDLER_NAME: Final = re.compile(r"handle.*|__invoke", re.IGNORECASE)
"""Names of the methods that discovery takes for handlers."""


@dataclass(frozen=True, slots=True)
class ListenerRegistration:
    """An event, a listener of it, and the place that registers the listener."""

    event: str
    listener: str
    method: str
    uri: str
    line: int
    how: str
    registered: str = ""
    conditional: bool = False

    @property
    def confidence(self) -> Confidence:
        """Return `convention` if discovery found the listener, else `declared`."""
        return "convention" if self.how == "discovery" else "declared"


def discover_listeners(
    app: App, calls: Sequence[LocatedCall]
) -> tuple[tuple[str, ...], list[ListenerRegistration]]:
    """Return the folders that Laravel searches (none if discovery is off) and the listeners in them."""
    folders = _discovery_folders(app, calls)
    registrations: list[ListenerRegistration] = []
    for folder in folders:
        pattern = re.compile(translate(folder + "/*.php"))
        for app_class in app.classes.values():
            if app_class.definition.kind == "class" and pattern.match(app_class.uri):
                registrations += _read_handlers(app, app_class)
    return folders, registrations


def _read_handlers(app: App, listener: AppClass) -> Iterator[ListenerRegistration]:
    """Yield the events that a class handles, by the type of each handler's first parameter."""
    for name in app.lineage(listener.name):
        ancestor = app.find_class(name)
        if ancestor is None:
            continue
        for method in ancestor.definition.methods:
            for event in _handled_events(method):
                yield ListenerRegistration(
                    event,
                    listener.name,
                    method.name,
                    ancestor.uri,
                    method.line,
                    "discovery",
                )


def _handled_events(method: program_tree.Function) -> list[str]:
    """Return the event classes that a public handler method takes; none for other methods."""
    is_handler = HANDLER_NAME.fullmatch(method.name) and method.visibility == "public"
    if not is_handler or not method.parameters:
        return []
    parameter_type = method.parameters[0].type
    if parameter_type is None:
        return []
    return [name for name in parameter_type.names if not name.islower()]


def _discovery_folders(app: App, calls: Sequence[LocatedCall]) -> tuple[str, ...]:
    """Return the folders that are searched for listeners; none if discovery is off."""
    default = f"{app.prefix}app/Listeners"
    enabled = _is_on_by_default(app)
    configured: list[str] = []
    for located in calls:
        name = called_name(located.call)
        if name == "disableEventDiscovery":
            enabled = False
        elif name == "withEvents":
            discover = argument_at(located.call, 0, "discover")
            enabled = not (
                isinstance(discover, program_tree.Literal) and discover.value is False
            )
            configured += _resolve_paths(app, discover)
        elif name in ("setEventDiscoveryPaths", "addEventDiscoveryPaths"):
            configured += _resolve_paths(app, argument_at(located.call, 0))
    folders: list[str] = []
    if enabled:
        folders += configured or [default]
    for app_class in app.classes.values():
        if app.is_a(app_class.name, EVENT_PROVIDERS) and _should_discover(app, app_class):
            folders += _provider_folders(app, app_class) or [default]
    return tuple(dict.fromkeys(folders))


def _provider_folders(app: App, provider: AppClass) -> list[str]:
    """Return the folders that a provider's `discoverEventsWithin` returns."""
    method = app.find_method(provider.name, "discoverEventsWithin")
    folders: list[str] = []
    if method:
        for value in returned_values(method[1]):
            folders += _resolve_paths(app, value)
    return folders


def _resolve_paths(app: App, value: SyntaxNode) -> list[str]:
    """Return the known paths of an array of paths."""
    paths = [app.resolve_path(element) for element in array_values(value)]
    return [path for path in paths if path]


def _is_on_by_default(app: App) -> bool:
    """Return whether `Application::configure` builds the application, which turns discovery on."""
    text = app.world.text(f"{app.prefix}bootstrap/app.php") or ""
    return "Application::configure" in text


def _should_discover(app: App, provider: AppClass) -> bool:
    """Return whether a provider's `shouldDiscoverEvents` returns true."""
    method = app.find_method(provider.name, "shouldDiscoverEvents")
    if method is None:
        return False
    values = returned_values(method[1])
    return any(
        isinstance(value, program_tree.Literal) and value.value is True for value in values
    )
