"""Container bindings: which class the container gives for an interface, by providers and PHP attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ragstone.types import Graph, Json, Link
from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.class_kinds import PROVIDERS
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    array_values,
    call_chain,
    called_name,
    class_of,
    receiver,
    returned_values,
)

BINDING_CALLS: Final = frozenset(
    (
        "bind",
        "bindIf",
        "singleton",
        "singletonIf",
        "scoped",
        "scopedIf",
        "instance",
        "extend",
        "alias",
    )
)
BIND_ATTRIBUTES: Final = frozenset(
    ("illuminate\\container\\attributes\\bind", "illuminate\\container\\attributes\\bindwhen")
)
CONTAINER_CALLS: Final = frozenset(("app", "make", "resolve", "get", "makeWith"))


@dataclass(frozen=True, slots=True)
class ContainerBinding:
    """A class or interface, the class the container gives for it, and the place that says so."""

    abstract: str
    concrete: str
    uri: str
    line: int
    how: str
    conditional: bool = False
    consumers: tuple[str, ...] | None = None
    """The classes that the binding is limited to; None if it holds for all."""

    def link(self, app: App) -> Link:
        """Return the binding as a link."""
        attributes: dict[str, Json] = {"how": "container", "by": self.how}
        if self.consumers is not None:
            attributes["for"] = [app.declared_name(name) for name in self.consumers]
        return Link(
            "BINDS",
            f"class:{app.declared_name(self.abstract)}",
            f"class:{app.declared_name(self.concrete)}",
            self.uri,
            self.line,
            "declared",
            self.conditional,
            attributes=attributes,
        )


def read_bindings(app: App, calls: Iterable[LocatedCall]) -> Graph:
    """Return a link for each container binding, with the line that declares it."""
    links: dict[tuple[str, str], Link] = {}
    for binding in (
        *_property_bindings(app),
        *_attribute_bindings(app),
        *_call_bindings(calls),
    ):
        link = binding.link(app)
        if link.source != link.target:
            links.setdefault((link.source, link.target), link)
    return Graph(links=tuple(links.values()))


def _property_bindings(app: App) -> Iterator[ContainerBinding]:
    """Yield the entries of `$bindings` and `$singletons` of providers."""
    for app_class in app.classes.values():
        for declared in app_class.definition.properties:
            name = declared.name.lstrip("$")
            if name not in ("bindings", "singletons") or not app.is_a(
                app_class.name, PROVIDERS
            ):
                continue
            for entry in array_entries(declared.default):
                concrete = class_of(entry.value, app_class.name)
                abstract = class_of(entry.key, app_class.name)
                if entry.key is None:
                    abstract = concrete
                if abstract and concrete:
                    line = getattr(entry.value, "line", declared.line)
                    yield ContainerBinding(abstract, concrete, app_class.uri, line, name)


def _attribute_bindings(app: App) -> Iterator[ContainerBinding]:
    """Yield the bindings that `#[Bind]` on an interface declares."""
    for app_class in app.classes.values():
        for attribute in app_class.definition.attributes:
            if (
                not isinstance(attribute, program_tree.New)
                or class_of(attribute).lower() not in BIND_ATTRIBUTES
            ):
                continue
            concrete = class_of(argument_at(attribute, 0, "concrete"), app_class.name)
            if concrete:
                yield ContainerBinding(
                    app_class.name,
                    concrete,
                    app_class.uri,
                    attribute.line,
                    "attribute",
                    conditional=len(attribute.arguments) > 1,
                )


def _call_bindings(calls: Iterable[LocatedCall]) -> Iterator[ContainerBinding]:
    """Yield the bindings of `bind`, `singleton` and their relatives, and of `when(…)->needs(…)->give(…)`."""
    for located in calls:
        name = called_name(located.call)
        if name == "give":
            yield from _contextual_bindings(located)
        elif name in ("withBindings", "withSingletons"):
            yield from _array_bindings(located, name)
        elif name in BINDING_CALLS and _is_container_call(located):
            yield from _direct_bindings(located, name)


def _array_bindings(located: LocatedCall, name: str) -> Iterator[ContainerBinding]:
    """Yield the bindings of `withBindings([Abstract::class => Concrete::class])`."""
    for entry in array_entries(argument_at(located.call, 0)):
        abstract, concrete = class_of(entry.key), class_of(entry.value)
        if abstract and concrete:
            line = getattr(entry.value, "line", located.line)
            yield ContainerBinding(
                abstract, concrete, located.uri, line, name, located.conditional
            )


def _direct_bindings(located: LocatedCall, name: str) -> Iterator[ContainerBinding]:
    """Yield the bindings of `$app->bind(Abstract::class, Concrete::class)`; `alias` has its arguments reversed."""
    abstract_position, concrete_position = (1, 0) if name == "alias" else (0, 1)
    abstract = class_of(argument_at(located.call, abstract_position), located.body.owner)
    if not abstract:
        return
    for concrete in _concrete_classes(located, argument_at(located.call, concrete_position)):
        yield ContainerBinding(
            abstract,
            concrete,
            located.uri,
            located.line,
            name,
            located.conditional,
        )


def _contextual_bindings(located: LocatedCall) -> Iterator[ContainerBinding]:
    """Yield the bindings of `when(Consumer::class)->needs(Abstract::class)->give(Concrete::class)`."""
    start, calls = call_chain(located.call)
    if [called_name(call) for call in calls[-3:]] != ["when", "needs", "give"]:
        return
    owner = located.body.owner
    abstract = class_of(argument_at(calls[-2], 0), owner)
    if not abstract or start is None:
        return
    consumers = [class_of(value, owner) for value in array_values(argument_at(calls[-3], 0))]
    named_consumers = tuple(name for name in consumers if name)
    for concrete in _concrete_classes(located, argument_at(located.call, 0)):
        binding = ContainerBinding(
            abstract,
            concrete,
            located.uri,
            located.line,
            "when",
            located.conditional,
        )
        yield replace(binding, consumers=named_consumers)


def _is_container_call(located: LocatedCall) -> bool:
    """Return whether the receiver is the container: `$this->app`, `app()`, `$app` or the `App` facade."""
    owner = receiver(located.call)
    if isinstance(owner, program_tree.Member):
        return owner.name in ("app", "container")
    if isinstance(owner, program_tree.Variable):
        variable = owner.name.lstrip("$")
        types = located.body.variable_types.get(variable, ())
        has_framework_type = any(name.startswith("Illuminate\\") for name in types)
        return variable in ("app", "container") or has_framework_type
    if isinstance(owner, program_tree.ClassName):
        return owner.name.rpartition("\\")[2] == "App" and "Facades" in owner.name
    return isinstance(owner, program_tree.Call) and called_name(owner) in ("app", "getInstance")


def _concrete_classes(located: LocatedCall, value: SyntaxNode | None) -> tuple[str, ...]:
    """Return the classes that a binding gives: a class name, a new object, or a closure's return values."""
    if value is None:
        return ()
    owner = located.body.owner
    if isinstance(value, program_tree.Closure):
        names: list[str] = []
        for returned in returned_values(value.function):
            names += _created_classes(returned, owner)
        return tuple(dict.fromkeys(names))
    class_name = class_of(value, owner)
    return (class_name,) if class_name else located.body.classes_of(value)


def _created_classes(value: SyntaxNode, owner: str) -> Iterator[str]:
    """Yield the classes that a value creates with `new` or asks the container for, on both sides of `?:`."""
    if isinstance(value, program_tree.Choice):
        for option in (value.then, value.other):
            if option is not None:
                yield from _created_classes(option, owner)
        return
    start, calls = call_chain(value)
    if isinstance(start, program_tree.New):
        yield class_of(start, owner)
    elif calls and called_name(calls[-1]) in CONTAINER_CALLS and len(calls) <= 2:
        name = class_of(argument_at(calls[-1], 0), owner)
        if name:
            yield name
