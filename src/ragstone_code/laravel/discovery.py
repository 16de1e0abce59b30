"""Listeners that the framework finds by itself: by the types that their handlers take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate

from ragstone.code import tree
from ragstone.types import Confidence
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.kinds import EVENT_PROVIDERS
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, array_values, called_name, returned_values

FOUND = re.compile(r"handle.*|__invoke", re.IGNORECASE)
"""Names of methods that discovery takes for handlers."""


@dataclass(frozen=True, slots=True)
class ListenerRegistration:
    """An event and one listener of it, as it is registered."""

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
        """Return how it is known."""
        return "convention" if self.how == "discovery" else "declared"


def discover_listeners(app: App, sites: tuple[LocatedCall, ...]) -> tuple[tuple[str, ...], list[ListenerRegistration]]:
    """Return the folders that are searched, none where discovery is off, and what was found in them."""
    folders = _folders(app, sites)
    found: list[ListenerRegistration] = []
    for folder in folders:
        fits = re.compile(translate(folder + "/*.php"))
        for known in app.classes.values():
            if known.definition.kind == "class" and fits.match(known.uri):
                found += _handlers(app, known)
    return folders, found


def _handlers(app: App, known: AppClass) -> Iterator[ListenerRegistration]:
    """Yield what the methods of a class listen to by the type of their first parameter."""
    for name in app.lineage(known.name):
        base = app.find_class(name)
        for method in base.definition.methods if base else ():
            if FOUND.fullmatch(method.name) and method.visibility == "public" and method.parameters and base:
                first = method.parameters[0].type
                for event in first.names if first else ():
                    if not event.islower():
                        yield ListenerRegistration(event, known.name, method.name, base.uri, method.line, "discovery")


def _folders(app: App, sites: tuple[LocatedCall, ...]) -> tuple[str, ...]:
    """Return the folders that are searched for listeners; none where discovery is off."""
    folders: list[str] = []
    configured = _configured(app)
    default = f"{app.prefix}app/Listeners"
    for site in sites:
        name = called_name(site.call)
        if name == "disableEventDiscovery":
            configured = False
        elif name == "withEvents":
            told = argument_at(site.call, 0, "discover")
            configured = not (isinstance(told, tree.Literal) and told.value is False)
            folders += _paths(app, told)
        elif name in ("setEventDiscoveryPaths", "addEventDiscoveryPaths"):
            folders += _paths(app, argument_at(site.call, 0))
    found = [*(folders or [default])] if configured else []
    for known in app.classes.values():
        if app.is_a(known.name, EVENT_PROVIDERS) and _asks(app, known):
            within = app.find_method(known.name, "discoverEventsWithin")
            told = [path for value in returned_values(within[1]) for path in _paths(app, value)] if within else []
            found += told or [default]
    return tuple(dict.fromkeys(found))


def _paths(app: App, value: SyntaxNode) -> list[str]:
    """Return the folders of a list of paths."""
    paths = [app.resolve_path(one) for one in array_values(value)]
    return [path for path in paths if path]


def _configured(app: App) -> bool:
    """Return whether the application is put together by `Application::configure`, which turns discovery on."""
    text = app.world.read(f"{app.prefix}bootstrap/app.php") or ""
    return "Application::configure" in text


def _asks(app: App, known: AppClass) -> bool:
    """Return whether a provider says that events are to be discovered."""
    found = app.find_method(known.name, "shouldDiscoverEvents")
    values = tuple(returned_values(found[1])) if found else ()
    return any(isinstance(value, tree.Literal) and value.value is True for value in values)
