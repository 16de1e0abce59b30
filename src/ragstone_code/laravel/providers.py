"""What stands for what in the container: bindings of interfaces to classes, by providers and by attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.code import tree
from ragstone.types import Confidence, Graph, Link
from ragstone_code.laravel.app import App
from ragstone_code.laravel.kinds import PROVIDERS
from ragstone_code.laravel.sites import Site
from ragstone_code.laravel.walking import (
    Part,
    called,
    chain,
    class_of,
    entries,
    given,
    listed,
    receiver,
    returned,
)  # fmt: skip

BINDING: Final = frozenset(
    ("bind", "bindIf", "singleton", "singletonIf", "scoped", "scopedIf", "instance", "extend", "alias")
)
ATTRIBUTES: Final = frozenset(
    ("illuminate\\container\\attributes\\bind", "illuminate\\container\\attributes\\bindwhen")
)
MAKING: Final = frozenset(("app", "make", "resolve", "get", "makeWith"))


def bindings(app: App, sites: Iterable[Site]) -> Graph:
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
        "BINDS", f"class:{app.proper(of)}", f"class:{app.proper(to)}", uri, line, sure, depends,
        attributes={"how": "container", "by": how},
    )  # fmt: skip


def _properties(app: App) -> Iterator[Link]:
    """Yield what `$bindings` and `$singletons` of providers say."""
    for known in app.classes.values():
        for one in known.definition.properties:
            name = one.name.lstrip("$")
            if name not in ("bindings", "singletons") or not app.is_a(known.name, PROVIDERS):
                continue
            for entry in entries(one.default):
                to = class_of(entry.value, known.name)
                of = class_of(entry.key, known.name) or (to if entry.key is None else "")
                if of and to:
                    yield _link(app, of, to, (known.uri, getattr(entry.value, "line", one.line), name, False))


def _attributes(app: App) -> Iterator[Link]:
    """Yield what `#[Bind]` on an interface says."""
    for known in app.classes.values():
        for one in known.definition.attributes:
            if isinstance(one, tree.New) and class_of(one).lower() in ATTRIBUTES:
                to = class_of(given(one, 0, "concrete"), known.name)
                if to:
                    depends = len(one.arguments) > 1
                    yield _link(app, known.name, to, (known.uri, one.line, "attribute", depends))


def _calls(app: App, sites: Iterable[Site]) -> Iterator[Link]:
    """Yield what `bind`, `singleton` and their like say, and `when(…)->needs(…)->give(…)`."""
    for site in sites:
        name = called(site.call)
        if name == "give":
            yield from _given_to(app, site)
        elif name == "withBindings" or name == "withSingletons":
            for entry in entries(given(site.call, 0)):
                of, to = class_of(entry.key), class_of(entry.value)
                if of and to:
                    yield _link(
                        app, of, to, (site.uri, getattr(entry.value, "line", site.line), name, site.conditional)
                    )
        elif name in BINDING and _is_container(site):
            pair = (1, 0) if name == "alias" else (0, 1)
            of = class_of(given(site.call, pair[0]), site.scope.owner)
            for to in _concrete(site, given(site.call, pair[1])) if of else ():
                yield _link(app, of, to, (site.uri, site.line, name, site.conditional))


def _given_to(app: App, site: Site) -> Iterator[Link]:
    """Yield a binding for one class only."""
    root, calls = chain(site.call)
    if [called(one) for one in calls[-3:]] != ["when", "needs", "give"]:
        return
    of = class_of(given(calls[-2], 0), site.scope.owner)
    only = [name for value in listed(given(calls[-3], 0)) if (name := class_of(value, site.scope.owner))]
    for to in _concrete(site, given(site.call, 0)) if of and root is not None else ():
        link = _link(app, of, to, (site.uri, site.line, "when", site.conditional))
        yield Link(
            link.kind, link.source, link.target, link.uri, link.line, link.confidence, link.conditional,
            attributes={**link.attributes, "for": [app.proper(name) for name in only]},
        )  # fmt: skip


def _is_container(site: Site) -> bool:
    """Return whether a call is one of the container's: `$this->app`, `app()`, `$app`, the facade."""
    at = receiver(site.call)
    if isinstance(at, tree.Member):
        return at.name in ("app", "container")
    if isinstance(at, tree.Variable):
        typed = any(name.startswith("Illuminate\\") for name in site.scope.types.get(at.name.lstrip("$"), ()))
        return at.name.lstrip("$") in ("app", "container") or typed
    if isinstance(at, tree.ClassName):
        return at.name.rpartition("\\")[2] == "App" and "Facades" in at.name
    return isinstance(at, tree.Call) and called(at) in ("app", "getInstance")


def _concrete(site: Site, value: Part | None) -> tuple[str, ...]:
    """Return the classes that are given: written, made, or returned by a closure."""
    if value is None:
        return ()
    own = class_of(value, site.scope.owner) if not isinstance(value, tree.Closure) else ""
    if own:
        return (own,)
    if isinstance(value, tree.Closure):
        found = [name for one in returned(value.function) for name in _made(one, site.scope.owner)]
        return tuple(dict.fromkeys(found))
    return site.scope.classes(value)


def _made(value: Part, owner: str) -> Iterator[str]:
    """Yield what a returned value is: made by `new` or asked of the container, on both sides of a choice."""
    if isinstance(value, tree.Choice):
        for side in (value.then, value.other):
            yield from _made(side, owner) if side is not None else ()
        return
    root, calls = chain(value)
    if isinstance(root, tree.New):
        yield class_of(root, owner)
    elif calls and called(calls[-1]) in MAKING and len(calls) <= 2:
        name = class_of(given(calls[-1], 0), owner)
        if name:
            yield name
