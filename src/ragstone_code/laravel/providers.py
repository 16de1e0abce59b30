"""What stands for what in the container: bindings of interfaces to classes, by providers and by attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.code import tree
from ragstone.types import Confidence, Graph, Link
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.kinds import PROVIDERS
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
)  # fmt: skip

BINDING: Final = frozenset(
    ("bind", "bindIf", "singleton", "singletonIf", "scoped", "scopedIf", "instance", "extend", "alias")
)
ATTRIBUTES: Final = frozenset(
    ("illuminate\\container\\attributes\\bind", "illuminate\\container\\attributes\\bindwhen")
)
MAKING: Final = frozenset(("app", "make", "resolve", "get", "makeWith"))


def bindings(app: App, sites: Iterable[LocatedCall]) -> Graph:
    """Return which class the container gives for which, with the line that says so."""
    links: dict[tuple[str, str], Link] = {}
    for link in (*_properties(app), *_attributes(app), *_calls(app, sites)):
        if link.source != link.target:
            links.setdefault((link.source, link.target), link)
    return Graph(links=tuple(links.values()))


def _link(app: App, of: str, to: str, said: tuple[str, int, str, bool]) -> Link:
    """Return one binding."""
    uri, line, how, depends = said
    sure: Confidence = "declared"
    return Link(
        "BINDS", f"class:{app.declared_name(of)}", f"class:{app.declared_name(to)}", uri, line, sure, depends,
        attributes={"how": "container", "by": how},
    )  # fmt: skip


def _properties(app: App) -> Iterator[Link]:
    """Yield what `$bindings` and `$singletons` of providers say."""
    for known in app.classes.values():
        for one in known.definition.properties:
            name = one.name.lstrip("$")
            if name not in ("bindings", "singletons") or not app.is_a(known.name, PROVIDERS):
                continue
            for entry in array_entries(one.default):
                to = class_of(entry.value, known.name)
                of = class_of(entry.key, known.name) or (to if entry.key is None else "")
                if of and to:
                    yield _link(app, of, to, (known.uri, getattr(entry.value, "line", one.line), name, False))


def _attributes(app: App) -> Iterator[Link]:
    """Yield what `#[Bind]` on an interface says."""
    for known in app.classes.values():
        for one in known.definition.attributes:
            if isinstance(one, tree.New) and class_of(one).lower() in ATTRIBUTES:
                to = class_of(argument_at(one, 0, "concrete"), known.name)
                if to:
                    depends = len(one.arguments) > 1
                    yield _link(app, known.name, to, (known.uri, one.line, "attribute", depends))


def _calls(app: App, sites: Iterable[LocatedCall]) -> Iterator[Link]:
    """Yield what `bind`, `singleton` and their like say, and `when(…)->needs(…)->give(…)`."""
    for site in sites:
        name = called_name(site.call)
        if name == "give":
            yield from _given_to(app, site)
        elif name == "withBindings" or name == "withSingletons":
            for entry in array_entries(argument_at(site.call, 0)):
                of, to = class_of(entry.key), class_of(entry.value)
                if of and to:
                    yield _link(
                        app, of, to, (site.uri, getattr(entry.value, "line", site.line), name, site.conditional)
                    )
        elif name in BINDING and _is_container(site):
            pair = (1, 0) if name == "alias" else (0, 1)
            of = class_of(argument_at(site.call, pair[0]), site.body.owner)
            for to in _concrete(site, argument_at(site.call, pair[1])) if of else ():
                yield _link(app, of, to, (site.uri, site.line, name, site.conditional))


def _given_to(app: App, site: LocatedCall) -> Iterator[Link]:
    """Yield a binding for one class only."""
    root, calls = call_chain(site.call)
    if [called_name(one) for one in calls[-3:]] != ["when", "needs", "give"]:
        return
    of = class_of(argument_at(calls[-2], 0), site.body.owner)
    only = [name for value in array_values(argument_at(calls[-3], 0)) if (name := class_of(value, site.body.owner))]
    for to in _concrete(site, argument_at(site.call, 0)) if of and root is not None else ():
        link = _link(app, of, to, (site.uri, site.line, "when", site.conditional))
        yield Link(
            link.kind, link.source, link.target, link.uri, link.line, link.confidence, link.conditional,
            attributes={**link.attributes, "for": [app.declared_name(name) for name in only]},
        )  # fmt: skip


def _is_container(site: LocatedCall) -> bool:
    """Return whether a call is one of the container's: `$this->app`, `app()`, `$app`, the facade."""
    at = receiver(site.call)
    if isinstance(at, tree.Member):
        return at.name in ("app", "container")
    if isinstance(at, tree.Variable):
        typed = any(name.startswith("Illuminate\\") for name in site.body.variable_types.get(at.name.lstrip("$"), ()))
        return at.name.lstrip("$") in ("app", "container") or typed
    if isinstance(at, tree.ClassName):
        return at.name.rpartition("\\")[2] == "App" and "Facades" in at.name
    return isinstance(at, tree.Call) and called_name(at) in ("app", "getInstance")


def _concrete(site: LocatedCall, value: SyntaxNode | None) -> tuple[str, ...]:
    """Return the classes that are given: written, made, or returned by a closure."""
    if value is None:
        return ()
    own = class_of(value, site.body.owner) if not isinstance(value, tree.Closure) else ""
    if own:
        return (own,)
    if isinstance(value, tree.Closure):
        found = [name for one in returned_values(value.function) for name in _made(one, site.body.owner)]
        return tuple(dict.fromkeys(found))
    return site.body.classes_of(value)


def _made(value: SyntaxNode, owner: str) -> Iterator[str]:
    """Yield what a returned value is: made by `new` or asked of the container, on both sides of a choice."""
    if isinstance(value, tree.Choice):
        for side in (value.then, value.other):
            yield from _made(side, owner) if side is not None else ()
        return
    root, calls = call_chain(value)
    if isinstance(root, tree.New):
        yield class_of(root, owner)
    elif calls and called_name(calls[-1]) in MAKING and len(calls) <= 2:
        name = class_of(argument_at(calls[-1], 0), owner)
        if name:
            yield name
