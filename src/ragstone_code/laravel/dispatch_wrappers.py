"""Functions of the application that dispatch their parameter: `function execute($job) { dispatch($job); }`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import LocatedCall, find_calls
from ragstone_code.laravel.syntax import called_name, class_of, receiver


@dataclass(frozen=True, slots=True)
class DispatchWrapper:
    """A function or method, and the call inside of it that sends its parameter."""

    name: str
    owner: str
    """The class of a method; empty for a function."""
    inner: LocatedCall


def find_wrappers(
    calls: Iterable[LocatedCall], sending_calls: frozenset[str]
) -> list[DispatchWrapper]:
    """Return the functions that pass one of their parameters to a sending call."""
    wrappers: dict[tuple[str, str], DispatchWrapper] = {}
    for located in calls:
        function = located.body.function
        if function is None or called_name(located.call).lower() not in sending_calls:
            continue
        if function.name.lower() in sending_calls or not _sends_parameter(located, function):
            continue
        key = (located.body.owner.lower(), function.name.lower())
        wrappers.setdefault(key, DispatchWrapper(function.name, located.body.owner, located))
    return list(wrappers.values())


def _sends_parameter(located: LocatedCall, function: program_tree.Function) -> bool:
    """Return whether the first argument of a call is an untouched parameter of the function around it."""
    parameters = {parameter.name.lstrip("$") for parameter in function.parameters}
    for argument in located.call.arguments[:1]:
        value = argument.value
        if isinstance(value, program_tree.Variable):
            return value.name.lstrip("$") in parameters
    return False


def wrapped_calls(
    app: App, wrappers: Iterable[DispatchWrapper]
) -> Iterator[tuple[LocatedCall, DispatchWrapper]]:
    """Yield the calls of wrappers with a new object as an argument, each with its wrapper."""
    by_name: dict[str, list[DispatchWrapper]] = {}
    names: set[str] = set()
    for wrapper in wrappers:
        by_name.setdefault(wrapper.name.lower(), []).append(wrapper)
        names.add(wrapper.name)
    if not names:
        return
    for located in find_calls(app, tuple(f"{name}(new " for name in sorted(names))):
        for wrapper in by_name.get(called_name(located.call).lower(), ()):
            if _owner_of_call(app, located) == wrapper.owner.lower():
                yield located, wrapper


def _owner_of_call(app: App, located: LocatedCall) -> str | None:
    """Return the class that declares the called method, in lower case; empty for a function, None if unknown."""
    called_on = receiver(located.call)
    if called_on is None:
        return ""
    owner = located.body.owner
    is_this = (
        isinstance(called_on, program_tree.Variable) and called_on.name.lstrip("$") == "this"
    )
    class_name = owner if is_this else class_of(called_on, owner)
    method = app.find_method(class_name, called_name(located.call)) if class_name else None
    return method[0].name.lower() if method else None
