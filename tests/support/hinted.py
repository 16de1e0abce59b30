"""Lists everything public that has type hints. As a program it prints the hints that cannot be resolved."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import ragstone

CALLED = ("__init__", "__call__", "__enter__", "__exit__", "__iter__")


def everything_public() -> dict[str, Any]:
    """Return all public classes, functions, methods and getters by name."""
    from ragstone import protocols, types
    from ragstone.indexing.events import EventBus, EventLog

    things: dict[str, Any] = {
        "EventBus": EventBus,
        "EventLog": EventLog,
    }  # an engine's `events` and `log`
    shared = {name: getattr(types, name) for name in dir(types)}
    things |= {name: thing for name, thing in shared.items() if inspect.isclass(thing)}
    for module in (protocols, ragstone):
        things |= {name: getattr(module, name) for name in module.__all__}
    things |= {kind.__qualname__: kind for kind in _handed_out(ragstone.Engine)}
    functions = {name: thing for name, thing in things.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in things.items() if inspect.isclass(thing)}
    methods = {
        f"{name}.{own}": each
        for name, kind in classes.items()
        for own, each in methods_of(kind).items()
    }
    return classes | functions | methods


def methods_of(kind: type) -> dict[str, Callable[..., Any]]:
    """Return the public methods, class methods and getters that a class of ours has, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for name in dir(kind):
        if name.startswith("_") and name not in CALLED:
            continue
        held = inspect.getattr_static(kind, name)
        own = (
            held.fget
            if isinstance(held, property)
            else held.func
            if isinstance(held, cached_property)
            else held
        )
        own = own.__func__ if isinstance(own, classmethod | staticmethod) else own
        if inspect.isfunction(own) and own.__module__.startswith("ragstone"):
            found[name] = own
    return found


def unresolved(thing: Any) -> str:  # noqa: ANN401  # a class or anything that can be called
    """Return why the hints of one thing cannot be told; nothing where they can."""
    try:
        typing.get_type_hints(thing)
        if not inspect.isclass(thing):
            inspect.signature(thing, eval_str=True)
    except (NameError, AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _handed_out(kind: type) -> Iterator[type]:
    """Yield the classes of ours that hints of a class's methods name."""
    for method in methods_of(kind).values():
        if not unresolved(method):
            for hint in typing.get_type_hints(method).values():
                yield from (
                    one
                    for one in _parts(hint)
                    if inspect.isclass(one) and one.__module__[:8] == "ragstone"
                )


def _parts(hint: object) -> Iterator[object]:
    yield hint
    for one in typing.get_args(hint):
        yield from (
            (each for some in one for each in _parts(some))
            if isinstance(one, list)
            else _parts(one)
        )


if __name__ == "__main__":
    for label, each in everything_public().items():
        print(label, unresolved(each), sep="\t")
