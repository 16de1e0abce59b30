"""What observes models: attributes, `Model::observe`, and `$observers` of providers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ragstone.code import tree
from ragstone.types import Graph, Json, Link, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.code_bodies import LocatedCall, method_body
from ragstone_code.laravel.kinds import PROVIDERS, is_model
from ragstone_code.laravel.syntax import argument_at, array_entries, array_values, called_name, class_of, receiver

ATTRIBUTE: Final = "illuminate\\database\\eloquent\\attributes\\observedby"
OBSERVABLE: Final = (
    "retrieved", "creating", "created", "updating", "updated", "saving", "saved", "restoring", "restored",
    "replicating", "trashed", "deleting", "deleted", "forceDeleting", "forceDeleted",
)  # fmt: skip
"""What a model tells of, as the framework names it."""


def read_observers(app: App, sites: Iterable[LocatedCall], models: Sequence[AppClass]) -> Graph:
    """Return which class observes which model, and what for."""
    links: dict[tuple[str, str], Link] = {}
    for link in (*_attributes(app, models), *_properties(app), *_calls(app, sites, models)):
        links.setdefault((link.source, link.target), link)
    targets = dict.fromkeys(link.target for link in links.values())
    nodes = tuple(_observer(app, target.removeprefix("class:")) for target in targets)
    hooked = tuple(node for model in models if (node := _hooked(app, model)))
    return Graph(nodes=(*nodes, *hooked), links=tuple(links.values()), aliases=class_aliases(nodes))


def _hooked(app: App, model: AppClass) -> Node | None:
    """Return a model with what it does at its own events, in `booted` and where its traits boot; None for nothing."""
    hooks: list[Json] = []
    for name in app.lineage(model.name):
        known = app.find_class(name)
        for method in known.definition.methods if known else ():
            if known is None or not method.name.startswith("boot"):
                continue
            hooks += [
                f"{called_name(call)} {known.uri}:{call.line}"
                for call, _ in method_body(known, method).calls
                if called_name(call) in OBSERVABLE and isinstance(call.function, tree.Static)
            ]
    return app.own_class_node(model, "model", {"hooks": hooks}) if hooks else None


def _attributes(app: App, models: Iterable[AppClass]) -> Iterator[Link]:
    """Yield what `#[ObservedBy]` says of a model, and of the models it descends from."""
    for model in models:
        for name in app.lineage(model.name):
            known = app.find_class(name)
            for one in known.definition.attributes if known and known.definition.kind == "class" else ():
                if known and isinstance(one, tree.New) and class_of(one).lower() == ATTRIBUTE:
                    values = [value for argument in one.arguments for value in array_values(argument.value)]
                    for value in values:
                        yield from _link(app, model.name, class_of(value, name), (known.uri, one.line, "attribute"))


def _properties(app: App) -> Iterator[Link]:
    """Yield what `$observers` of a provider says."""
    for known in app.classes.values():
        for one in known.definition.properties:
            if one.name.lstrip("$") == "observers" and app.is_a(known.name, PROVIDERS):
                for entry in array_entries(one.default):
                    model = class_of(entry.key, known.name)
                    for value in array_values(entry.value):
                        line = getattr(entry.key, "line", one.line)
                        yield from _link(app, model, class_of(value, known.name), (known.uri, line, "registered"))


def _calls(app: App, sites: Iterable[LocatedCall], models: Sequence[AppClass]) -> Iterator[Link]:
    """Yield what `Model::observe(…)` says; `static::observe` says it of every model that boots by it."""
    for site in sites:
        if called_name(site.call) != "observe":
            continue
        owner = site.body.owner
        for model in _observed(app, class_of(receiver(site.call), owner), owner, models):
            for value in array_values(argument_at(site.call, 0)):
                for name in site.body.classes_of(value) or (class_of(value, owner),):
                    yield from _link(app, model, name, (site.uri, site.line, "registered"))


def _observed(app: App, named: str, owner: str, models: Sequence[AppClass]) -> Iterator[str]:
    """Yield the models a call is about: the one it names, or those of the class or the trait it stands in."""
    if named and named == owner:
        wanted = named.lower()
        yield from (one.name for one in models if any(part.lower() == wanted for part in app.lineage(one.name)))
    elif named and is_model(app, named):
        yield named


def _link(app: App, model: str, observer: str, said: tuple[str, int, str]) -> Iterator[Link]:
    """Yield the link, nothing where one of both is not written."""
    uri, line, how = said
    if model and observer:
        source, target = f"class:{app.declared_name(model)}", f"class:{app.declared_name(observer)}"
        yield Link("OBSERVED_BY", source, target, uri, line, attributes={"how": how})


def _observer(app: App, name: str) -> Node:
    """Return an observer with what it waits for."""
    known = app.find_class(name)
    lines = {
        event: found[1].line for event in OBSERVABLE if known and (found := app.find_method(name, event)) is not None
    }  # fmt: skip
    return app.class_node(name, "observer", {"events": list(lines), "event_lines": dict(lines)} if known else None)
