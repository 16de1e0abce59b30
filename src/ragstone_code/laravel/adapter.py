"""The Laravel adapter: finds Laravel applications in a project and runs all passes over them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

from ragstone.protocols import ProjectFiles
from ragstone.types import Graph, Node
from ragstone_code.frameworks.passes import PassResult, run_pass
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.authorization import route_authorization
from ragstone_code.laravel.channels import read_channels
from ragstone_code.laravel.class_kinds import is_model, read_typed_classes
from ragstone_code.laravel.code_bodies import LocatedCall, find_calls
from ragstone_code.laravel.commands import read_commands
from ragstone_code.laravel.config import read_config
from ragstone_code.laravel.controllers import read_controllers
from ragstone_code.laravel.dispatches import read_dispatches
from ragstone_code.laravel.events import read_listeners
from ragstone_code.laravel.models import read_models
from ragstone_code.laravel.observers import read_observers
from ragstone_code.laravel.policies import Policies, build_policy_graph, find_policies
from ragstone_code.laravel.prose import describe_graph
from ragstone_code.laravel.providers import read_bindings
from ragstone_code.laravel.route_list import import_route_list
from ragstone_code.laravel.routes import read_routes
from ragstone_code.laravel.schedule import read_schedule
from ragstone_code.laravel.schema import read_tables
from ragstone_code.laravel.subfolder import relocate_graph, world_in_folder
from ragstone_code.laravel.unread_folders import read_unread_folders
from ragstone_code.project_files import World, WorldCache

KIND_WEIGHTS: Final = {
    "listener": 1,
    "event": 1,
    "job": 1,
    "controller": 2,
    "notification": 2,
    "mail": 2,
    "model": 3,
}
"""Decides the kind of a class if passes disagree: a notification that listens is a notification, a model a model."""
_FOREIGN_FOLDERS: Final = frozenset(("vendor", "node_modules", "tests", "stubs"))
_PACKAGE: Final = "laravel/framework"


@dataclass(slots=True)
class Laravel:
    """The adapter of Laravel."""

    name = "laravel"
    listing_command = "php artisan route:list --json"
    worlds: WorldCache = field(default_factory=WorldCache)

    def apply_listing(self, listing: str, graph: Graph) -> Graph:
        """Return the graph with the routes that the running application lists, as `runtime` evidence."""
        return import_route_list(listing, graph)

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether the project has a Laravel application, at its root or in a folder."""
        world = self.worlds.world_of(files)
        return next(find_applications(world), None) is not None

    def read(self, files: ProjectFiles) -> Graph:
        """Return the graph of all Laravel applications in the project."""
        world = self.worlds.world_of(files)
        graph = Graph()
        for folder in find_applications(world):
            application = _ApplicationReader(world_in_folder(world, folder))
            graph += relocate_graph(application.read(), folder)
        return graph


def find_applications(world: World) -> Iterator[str]:
    """Yield the folders that hold an application, with a slash at the end; empty for the project root."""
    for uri in world.uris:
        folder, slash, name = uri.rpartition("/")
        if not _FOREIGN_FOLDERS.isdisjoint(folder.split("/")):
            continue
        prefix = folder + slash
        if name == "composer.json" and _requires_laravel(world.text(uri) or ""):
            yield prefix
        elif name == "artisan" and _has_bootstrap_only(world, prefix):
            yield prefix


def _has_bootstrap_only(world: World, prefix: str) -> bool:
    """Return whether a folder has `bootstrap/app.php` but no `composer.json`."""
    return world.has(f"{prefix}bootstrap/app.php") and not world.has(f"{prefix}composer.json")


def _requires_laravel(text: str) -> bool:
    """Return whether a composer file is an application that requires Laravel."""
    if _PACKAGE not in text:
        return False
    try:
        composer = json.loads(text)
    except ValueError:
        return False
    if not isinstance(composer, dict):
        return False
    required = composer.get("require")
    return (
        isinstance(required, dict)
        and _PACKAGE in required
        and composer.get("type") != "library"
    )


@dataclass
class _ApplicationReader:
    """Runs the passes over one application. A pass that fails leaves a remark and does not stop the others."""

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
    def models(self) -> tuple[AppClass, ...]:
        """Return the classes that are models."""
        classes = (
            app_class
            for app_class in self.app.classes.values()
            if app_class.definition.kind == "class"
        )
        return tuple(app_class for app_class in classes if is_model(self.app, app_class.name))

    def read(self) -> Graph:
        """Return the graph of all passes, with prose about its nodes."""
        graph = self._read_routes_and_code()
        graph += self._read_events()
        graph += self._run_pass(
            "observers",
            lambda: read_observers(self.app, self.calls, self.models),
            Graph(),
        )
        graph += self._run_pass(
            "settings",
            lambda: read_config(self.app, self.calls),
            Graph(),
        )
        graph += self._run_pass(
            "channels",
            lambda: read_channels(self.app, self.calls),
            Graph(),
        )
        graph += self._run_pass(
            "bindings",
            lambda: read_bindings(self.app, self.calls),
            Graph(),
        )
        graph += self._read_console()
        keys = frozenset(node.key for node in graph.nodes)
        graph += self._run_pass(
            "classes",
            lambda: read_typed_classes(self.app, skipped_keys=keys),
            Graph(),
        )
        graph += self._run_pass(
            "unread folders", lambda: read_unread_folders(self.app), Graph()
        )
        nodes = tuple(_merge_nodes(graph.nodes))
        graph = replace(
            graph,
            nodes=nodes,
            aliases=tuple(dict.fromkeys(graph.aliases)),
        )
        graph += self._run_pass(
            "prose",
            lambda: Graph(rendered=describe_graph(graph)),
            Graph(),
        )
        return replace(graph, remarks=tuple(dict.fromkeys((*graph.remarks, *self.remarks))))

    def _read_routes_and_code(self) -> Graph:
        """Return routes, tables, models, policies, controllers and authorisation checks."""
        routes = self._run_pass(
            "routes",
            lambda: read_routes(self.world),
            Graph(),
        )
        tables = self._run_pass(
            "tables",
            lambda: read_tables(self.world),
            Graph(),
        )
        models = self._run_pass(
            "models",
            lambda: read_models(self.world),
            Graph(),
        )
        policies = self._run_pass(
            "policies",
            lambda: find_policies(self.app, self.calls),
            Policies(self.app),
        )
        policy_graph = self._run_pass(
            "policies",
            lambda: build_policy_graph(policies, self.models),
            Graph(),
        )
        controllers = self._run_pass(
            "controllers",
            lambda: read_controllers(self.app, _handler_keys(routes), policies, self.models),
            Graph(),
        )
        binds = [link for link in routes.links if link.kind == "BINDS"]
        authorization = self._run_pass(
            "authorisation",
            lambda: route_authorization(self.app, policies, _route_nodes(routes), binds),
            Graph(),
        )
        return routes + tables + models + policy_graph + controllers + authorization

    def _read_events(self) -> Graph:
        """Return listeners and dispatches; a class with a listener is an event, whatever it looks like."""
        no_events: tuple[Graph, frozenset[str]] = (Graph(), frozenset())
        listeners, events = self._run_pass(
            "events",
            lambda: read_listeners(self.app, self.calls),
            no_events,
        )
        return listeners + self._run_pass(
            "jobs",
            lambda: read_dispatches(self.app, self.calls, events),
            Graph(),
        )

    def _read_console(self) -> Graph:
        """Return commands, and the schedule that calls them by name."""
        no_commands: tuple[Graph, dict[str, str]] = (Graph(), {})
        commands, classes = self._run_pass(
            "commands",
            lambda: read_commands(self.app, self.calls),
            no_commands,
        )
        return commands + self._run_pass(
            "schedule",
            lambda: read_schedule(self.app, self.calls, classes),
            Graph(),
        )

    def _run_pass(
        self, name: str, read: Callable[[], PassResult], default: PassResult
    ) -> PassResult:
        """Return the result of a pass; if it fails, add a remark and return the default."""
        return run_pass(name, read, default, partial(self._note_failure, name))

    def _note_failure(self, name: str, reason: str) -> None:
        self.remarks.append(f"laravel: {name} could not be read: {reason}")


def _route_nodes(graph: Graph) -> list[Node]:
    """Return the routes among the nodes."""
    return [node for node in graph.nodes if node.kind == "route"]


def _handler_keys(graph: Graph) -> Iterator[str]:
    """Yield the keys of the methods that routes lead to, then those of the controllers that routes name."""
    routes = _route_nodes(graph)
    keys = {route.key for route in routes}
    for link in graph.links:
        if link.kind == "HANDLED_BY" and link.source in keys:
            yield link.target
    for route in routes:
        controller = route.attributes.get("controller")
        if controller:
            yield f"class:{controller}"


def _merge_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield one node per key: the kind with the highest weight, and the attributes of all."""
    merged: dict[str, Node] = {}
    for node in nodes:
        existing = merged.get(node.key)
        merged[node.key] = _merge_two_nodes(existing, node) if existing else node
    return iter(merged.values())


def _merge_two_nodes(existing: Node, node: Node) -> Node:
    """Return two nodes of one key as one; the heavier kind wins, then the earlier node."""
    winner, other = existing, node
    if KIND_WEIGHTS.get(node.kind, 0) > KIND_WEIGHTS.get(existing.kind, 0):
        winner, other = node, existing
    return replace(
        winner,
        uri=winner.uri or other.uri,
        line=winner.line or other.line,
        line_end=winner.line_end or other.line_end,
        doc=winner.doc or other.doc,
        signature=winner.signature or other.signature,
        attributes={**other.attributes, **winner.attributes},
    )
