"""Laravel as a whole: whether a project is one, and everything its passes say of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from ragstone.code.world import World
from ragstone.errors import RagstoneError
from ragstone.types import Graph, Node
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.authorization import route_authorization
from ragstone_code.laravel.channels import channels
from ragstone_code.laravel.code_bodies import LocatedCall, find_calls
from ragstone_code.laravel.commands import commands
from ragstone_code.laravel.config import settings
from ragstone_code.laravel.controllers import actions
from ragstone_code.laravel.dispatches import sent
from ragstone_code.laravel.events import read_listeners
from ragstone_code.laravel.kinds import is_model, typed_classes
from ragstone_code.laravel.models import read_models
from ragstone_code.laravel.observers import read_observers
from ragstone_code.laravel.policies import Policies, build_policy_graph, find_policies
from ragstone_code.laravel.prose import describe_graph
from ragstone_code.laravel.providers import bindings
from ragstone_code.laravel.relocate import relocate_graph, world_in_folder
from ragstone_code.laravel.route_list import import_route_list
from ragstone_code.laravel.routes import read_routes
from ragstone_code.laravel.schedule import scheduled
from ragstone_code.laravel.schema import read_tables

FAILURES = (RagstoneError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What one pass may fail with on a strange program without taking the others along."""


class Laravel:
    """The adapter of Laravel."""

    name = "laravel"
    listing_command = "php artisan route:list --json"

    def apply_listing(self, listing: str, graph: Graph) -> Graph:
        """Return the graph with the routes that the running application lists, as `runtime` evidence."""
        return import_route_list(listing, graph)

    def detects(self, world: World) -> bool:
        """Return whether there is an application of Laravel in the project, at its top or in a folder."""
        return next(places(world), None) is not None

    def read(self, world: World) -> Graph:
        """Return everything the framework makes of the project's files."""
        whole = Graph()
        for place in places(world):
            whole += relocate_graph(_Reading(world_in_folder(world, place)).graph(), place)
        return whole


def places(world: World) -> Iterator[str]:
    """Yield the folders that hold an application, with a slash at the end; nothing in it for the top."""
    for uri in world.uris:
        folder, slash, name = uri.rpartition("/")
        if any(part in ("vendor", "node_modules", "tests", "stubs") for part in folder.split("/")):
            continue
        place = folder + slash
        asks = name == "composer.json" and _requires(world.read(uri) or "")
        built = name == "artisan" and world.has(f"{place}bootstrap/app.php") and not world.has(f"{place}composer.json")
        if asks or built:
            yield place


def _requires(text: str) -> bool:
    """Return whether a composer file asks for the framework to run."""
    if "laravel/framework" not in text:
        return False
    try:
        told = json.loads(text)
    except ValueError:
        return False
    required = told.get("require") if isinstance(told, dict) else None
    return isinstance(required, dict) and "laravel/framework" in required and told.get("type") != "library"


@dataclass
class _Reading:
    """One application while it is read; each pass by itself, so that one that fails leaves the others whole."""

    world: World
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def app(self) -> App:
        """Return the application."""
        return App(self.world, remarks=self.remarks)

    @cached_property
    def calls(self) -> tuple[LocatedCall, ...]:
        """Return the calls that passes look at."""
        return find_calls(self.app)

    @cached_property
    def known_models(self) -> tuple[AppClass, ...]:
        """Return the classes that are models and can be made."""
        own = (known for known in self.app.classes.values() if known.definition.kind == "class")
        return tuple(known for known in own if is_model(self.app, known.name))

    def graph(self) -> Graph:
        """Return all passes together, with prose about them."""
        mapped = self._part("routes", lambda: read_routes(self.world))
        whole = mapped
        whole += self._part("tables", lambda: read_tables(self.world))
        whole += self._part("models", lambda: read_models(self.world))
        known = self._policies()
        whole += self._part("policies", lambda: build_policy_graph(known, self.known_models))
        whole += self._part("controllers", lambda: actions(self.app, _handled(mapped), known, self.known_models))
        binds = [link for link in mapped.links if link.kind == "BINDS"]
        on_routes = [node for node in mapped.nodes if node.kind == "route"]
        whole += self._part("authorisation", lambda: route_authorization(self.app, known, on_routes, binds))
        whole += self._sent()
        whole += self._part("observers", lambda: read_observers(self.app, self.calls, self.known_models))
        whole += self._part("settings", lambda: settings(self.app, self.calls))
        whole += self._part("channels", lambda: channels(self.app, self.calls))
        whole += self._part("bindings", lambda: bindings(self.app, self.calls))
        whole += self._run()
        taken = frozenset(node.key for node in whole.nodes)
        whole += self._part("classes", lambda: typed_classes(self.app, taken=taken))
        whole = replace(whole, nodes=tuple(_merged(whole.nodes)), aliases=tuple(dict.fromkeys(whole.aliases)))
        whole += self._part("prose", lambda: Graph(rendered=describe_graph(whole)))
        return replace(whole, remarks=tuple(dict.fromkeys((*whole.remarks, *self.remarks))))

    def _policies(self) -> Policies:
        """Return what the gate was told; an empty gate where that cannot be read."""
        found = [Policies(self.app)]

        def told() -> Graph:
            found.append(find_policies(self.app, self.calls))
            return Graph()

        self.remarks += self._part("policies", told).remarks
        return found[-1]

    def _sent(self) -> Graph:
        """Return listeners, and what is sent; what is listened to is an event whatever its class says."""
        names: list[frozenset[str]] = [frozenset()]

        def listening() -> Graph:
            graph, events = read_listeners(self.app, self.calls)
            names.append(events)
            return graph

        listened = self._part("events", listening)
        return listened + self._part("jobs", lambda: sent(self.app, self.calls, names[-1]))

    def _run(self) -> Graph:
        """Return commands and the schedule, which calls them by their names."""
        names: list[dict[str, str]] = [{}]

        def console() -> Graph:
            graph, called = commands(self.app, self.calls)
            names.append(called)
            return graph

        ran = self._part("commands", console)
        return ran + self._part("schedule", lambda: scheduled(self.app, self.calls, names[-1]))

    def _part(self, name: str, made: Callable[[], Graph]) -> Graph:
        """Return what a pass makes; one that fails makes a remark."""
        try:
            return made()
        except FAILURES as error:
            return Graph(remarks=(f"laravel: {name} could not be read: {type(error).__name__}: {error}",))


def _handled(mapped: Graph) -> Iterator[str]:
    """Yield the methods that routes lead to, and the controllers they name, where a method is inherited too."""
    starts = [node for node in mapped.nodes if node.kind == "route"]
    keys = {node.key for node in starts}
    yield from (link.target for link in mapped.links if link.kind == "HANDLED_BY" and link.source in keys)
    yield from (f"class:{name}" for node in starts if (name := node.attributes.get("controller")))


WEIGHT = {"listener": 1, "event": 1, "job": 1, "controller": 2, "notification": 2, "mail": 2}
"""Which kind of one class counts where passes say several: a notification that listens is a notification."""


def _merged(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield one node for each key: the weightiest kind, all attributes."""
    found: dict[str, Node] = {}
    for node in nodes:
        there = found.get(node.key)
        if there is None:
            found[node.key] = node
            continue
        first, second = (there, node) if WEIGHT.get(there.kind, 0) >= WEIGHT.get(node.kind, 0) else (node, there)
        found[node.key] = replace(
            first,
            uri=first.uri or second.uri,
            line=first.line or second.line,
            line_end=first.line_end or second.line_end,
            doc=first.doc or second.doc,
            signature=first.signature or second.signature,
            attributes={**second.attributes, **first.attributes},
        )
    return iter(found.values())
