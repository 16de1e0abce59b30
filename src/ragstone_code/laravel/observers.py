"""Observers of models: from `#[ObservedBy]`, from `Model::observe`, and from `$observers` of service providers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ragstone.types import Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.class_kinds import PROVIDERS, is_model
from ragstone_code.laravel.code_bodies import LocatedCall, method_body
from ragstone_code.laravel.syntax import (
    argument_at,
    array_entries,
    array_values,
    called_name,
    class_of,
    receiver,
)

ATTRIBUTE: Final = "illuminate\\database\\eloquent\\attributes\\observedby"
MODEL_EVENTS: Final = (
    "retrieved",
    "creating",
    "created",
    "updating",
    "updated",
    "saving",
    "saved",
    "restoring",
    "restored",
    "replicating",
    "trashed",
    "deleting",
    "deleted",
    "forceDeleting",
    "forceDeleted",
)
"""The events that a model fires, with Laravel's names."""


def read_observers(
    app: App,
    calls: Iterable[LocatedCall],
    models: Sequence[AppClass],
) -> Graph:
    """Return the observers of models with their events, and models with the hooks in their `boot` methods."""
    links: dict[tuple[str, str], Link] = {}
    registrations = (
        *_from_attributes(app, models),
        *_from_providers(app),
        *_from_calls(app, calls, models),
    )
    for link in registrations:
        links.setdefault((link.source, link.target), link)
    targets = dict.fromkeys(link.target for link in links.values())
    observers = tuple(_observer_node(app, target.removeprefix("class:")) for target in targets)
    hooked_models: list[Node] = []
    for model in models:
        hooks = list(_boot_hooks(app, model))
        if hooks:
            hooked_models.append(app.own_class_node(model, "model", {"hooks": hooks}))
    return Graph(
        nodes=(*observers, *hooked_models),
        links=tuple(links.values()),
        aliases=class_aliases(observers),
    )


def _boot_hooks(app: App, model: AppClass) -> Iterator[Json]:
    """Yield the model events that `boot…` methods of a model, its parents and its traits listen to."""
    for name in app.lineage(model.name):
        declaring_class = app.find_class(name)
        if declaring_class is None:
            continue
        for method in declaring_class.definition.methods:
            if not method.name.startswith("boot"):
                continue
            for call, _ in method_body(declaring_class, method).calls:
                event = called_name(call)
                if event in MODEL_EVENTS and isinstance(call.function, program_tree.Static):
                    yield f"{event} {declaring_class.uri}:{call.line}"


def _from_attributes(app: App, models: Iterable[AppClass]) -> Iterator[Link]:
    """Yield the observers that `#[ObservedBy]` names on a model or on a parent of it."""
    for model in models:
        for name in app.lineage(model.name):
            declaring_class = app.find_class(name)
            if declaring_class is None or declaring_class.definition.kind != "class":
                continue
            for attribute in declaring_class.definition.attributes:
                if (
                    not isinstance(attribute, program_tree.New)
                    or class_of(attribute).lower() != ATTRIBUTE
                ):
                    continue
                for observer in _observers_in(attribute, name):
                    at = (declaring_class.uri, attribute.line)
                    yield from _link(
                        app,
                        model.name,
                        observer,
                        at,
                        "attribute",
                    )


def _observers_in(attribute: program_tree.New, owner: str) -> Iterator[str]:
    """Yield the classes in the arguments of an attribute."""
    for argument in attribute.arguments:
        for value in array_values(argument.value):
            yield class_of(value, owner)


def _from_providers(app: App) -> Iterator[Link]:
    """Yield the observers in the property `$observers` of service providers."""
    for provider in app.classes.values():
        for declaration in provider.definition.properties:
            if declaration.name.lstrip("$") != "observers" or not app.is_a(
                provider.name, PROVIDERS
            ):
                continue
            for entry in array_entries(declaration.default):
                model = class_of(entry.key, provider.name)
                line = getattr(entry.key, "line", declaration.line)
                for value in array_values(entry.value):
                    observer = class_of(value, provider.name)
                    yield from _link(
                        app,
                        model,
                        observer,
                        (provider.uri, line),
                        "registered",
                    )


def _from_calls(
    app: App,
    calls: Iterable[LocatedCall],
    models: Sequence[AppClass],
) -> Iterator[Link]:
    """Yield the observers in calls of `Model::observe(…)`."""
    for located in calls:
        if called_name(located.call) != "observe":
            continue
        at = (located.uri, located.line)
        for model in _observed_models(app, located, models):
            for observer in _observers_of_call(located):
                yield from _link(app, model, observer, at, "registered")


def _observed_models(
    app: App,
    located: LocatedCall,
    models: Sequence[AppClass],
) -> Iterator[str]:
    """Yield the models that a call observes; `static::observe` observes every model with the class or trait."""
    owner = located.body.owner
    called_class = class_of(receiver(located.call), owner)
    if not called_class:
        return
    if called_class == owner:
        for model in models:
            if any(name.lower() == owner.lower() for name in app.lineage(model.name)):
                yield model.name
    elif is_model(app, called_class):
        yield called_class


def _observers_of_call(located: LocatedCall) -> Iterator[str]:
    """Yield the observer classes in the first argument of `observe`."""
    for value in array_values(argument_at(located.call, 0)):
        classes = located.body.classes_of(value)
        if classes:
            yield from classes
        else:
            yield class_of(value, located.body.owner)


def _link(
    app: App,
    model: str,
    observer: str,
    at: tuple[str, int],
    how: str,
) -> Iterator[Link]:
    """Yield the link from a model to its observer; nothing if either class is unknown."""
    if model and observer:
        source = f"class:{app.declared_name(model)}"
        target = f"class:{app.declared_name(observer)}"
        yield Link("OBSERVED_BY", source, target, *at, attributes={"how": how})


def _observer_node(app: App, name: str) -> Node:
    """Return the node of an observer with the events that it handles and the line of each handler."""
    if app.find_class(name) is None:
        return app.class_node(name, "observer")
    lines: dict[str, Json] = {}
    for event in MODEL_EVENTS:
        method = app.find_method(name, event)
        if method is not None:
            lines[event] = method[1].line
    return app.class_node(
        name,
        "observer",
        {"events": list(lines), "event_lines": lines},
    )
