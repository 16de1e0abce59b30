"""What calls in a followed Python program give."""

from __future__ import annotations

from typing import Final

from ragstone.code import tree
from ragstone_code.python.evaluating import ENVIRONMENT, Evaluating
from ragstone_code.python.methods import builtin, method
from ragstone_code.python.values import (
    Bound,
    Classed,
    Func,
    Generic,
    Made,
    Named,
    Scope,
    Unknown,
    Value,
    name_of,
)

DEEP: Final = 8
"""How many calls of the project's functions may stand in each other."""
Place = tuple[str, int]


class Calling(Evaluating):
    """Calls: the project's functions are followed, all others are kept with what they were given."""

    def arguments(self, given: tuple[tree.Argument, ...], scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        """Return what a call is given, by place and by name."""
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        for one in given:
            value = self.evaluate(one.value, scope)
            if one.spread and one.name == "**":
                kwargs.update({str(key): item for key, item in value.items()} if isinstance(value, dict) else {})
            elif one.spread:
                args.extend(value if isinstance(value, list | tuple) else [value])
            elif one.name:
                kwargs[one.name] = value
            else:
                args.append(value)
        return args, kwargs

    def _call(self, one: tree.Call, scope: Scope) -> Value:
        if isinstance(one.function, tree.Variable) and one.function.name in ("super", "getattr", "globals", "locals"):
            special = self._special(one, scope)
            if special is not NotImplemented:
                return special
        function = self.evaluate(one.function, scope)
        args, kwargs = self.arguments(one.arguments, scope)
        return self.call(function, args, kwargs, (scope.module.uri, one.line))

    def _special(self, one: tree.Call, scope: Scope) -> Value:
        name = one.function.name if isinstance(one.function, tree.Variable) else ""
        if name == "super":
            return Unknown("super()", one.line)
        args, _ = self.arguments(one.arguments, scope)
        if name == "getattr" and len(args) >= 2 and isinstance(args[1], str):
            return self.attribute(args[0], args[1])
        return scope.names if name in ("globals", "locals") and not args else NotImplemented

    def _closure(self, one: tree.Closure, scope: Scope) -> Value:
        return Func(one.function, f"{scope.module.name}.<lambda>", scope.module.uri, scope)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Return what a call gives."""
        if isinstance(function, Named):
            return self._outside(function.name, args, kwargs, place)
        if isinstance(function, Generic):
            return self.call(function.of, args, kwargs, place)
        if isinstance(function, Classed):
            return self._object(function, args, kwargs, place)
        if isinstance(function, Func):
            return self._wrapped(function, self.follow(function, args, kwargs, place), args)
        if isinstance(function, Bound):
            return self._method(function, args, kwargs, place)
        if isinstance(function, Made):
            return self._again(function, args, kwargs, place)
        return function if isinstance(function, Unknown) else Unknown("a call of what is not known", place[1])

    def _outside(self, name: str, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        if name == "dict" and not (args and not isinstance(args[0], dict)):
            return {**(args[0] if args else {}), **kwargs}
        made = builtin(name, args) if "." not in name else NotImplemented
        if made is not NotImplemented:
            return made
        if name.startswith(ENVIRONMENT):
            return Unknown("read from the environment", place[1])
        if name == "importlib.import_module" and args and isinstance(args[0], str):
            return self.resolve(args[0], place[0])
        return self._noted(Made(name, args, kwargs, *place, self.maybe > 0))

    def _noted(self, made: Made) -> Made:
        """Keep what was made, in its order."""
        self.objects.append(made)
        return made

    def _object(self, classed: Classed, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        made = self._noted(Made(classed.full, args, kwargs, *place, self.maybe > 0, classed))
        found = classed.find("__init__")
        if found is not None and isinstance(found[1], Func):
            self.follow(found[1], [made, *args], kwargs, place)
        return made

    def _method(self, bound: Bound, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        if bound.function is not None:
            static = bound.function.definition.static
            return self.follow(bound.function, args if static else [bound.of, *args], kwargs, place)
        if isinstance(bound.of, str | list | tuple | dict):
            return method(bound.of, bound.name, args, kwargs)
        if not isinstance(bound.of, Made | Classed | Func | Bound):
            return Unknown("a call of what is not known", place[1])
        made = self._noted(Made(name_of(bound), args, kwargs, *place, self.maybe > 0, bound.of, bound.name))
        if isinstance(bound.of, Made):
            bound.of.calls.append(made)
        return made

    def _again(self, made: Made, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Call what a call gave: a decorator on a function gives the function."""
        if made.of == "functools.partial" and made.args:
            return self.call(made.args[0], [*made.args[1:], *args], {**made.kwargs, **kwargs}, place)
        first = args[0] if args else None
        if isinstance(first, Func | Classed):
            made.applied.append(first)
            return Made(f"{made.of}()", args, kwargs, *place, self.maybe > 0, made) if made.method == "" else first
        found = made.on.find("__call__") if isinstance(made.on, Classed) and not made.method else None
        if found is not None and isinstance(found[1], Func):
            return self.follow(found[1], [made, *args], kwargs, place)
        return Made(f"{made.of}()", args, kwargs, *place, self.maybe > 0, made)

    def _wrapped(self, function: Func, result: Value, args: list[Value]) -> Value:
        """Return what a decorator of the project's own was called with: the view inside counts, not its wrapper."""
        given = next((one for one in args if isinstance(one, Func | Classed | Made)), None)
        inner = isinstance(result, Func) and result.scope.outer is not None and result is not given
        if given is None or not inner or not isinstance(result, Func) or result.uri != function.uri:
            return result
        lines = function.definition
        return (
            Made(function.full, list(args), {}, function.uri, function.line, self.maybe > 0, function)
            if lines.line <= result.line <= lines.line_end
            else result
        )

    def decorated(self, value: Value, made: Func | Classed, uri: str, line: int) -> None:
        """Let what decorates a function know it."""
        if isinstance(value, Made):
            value.applied.append(made)
        elif isinstance(value, Bound) and isinstance(value.of, Made) and value.function is None:
            value.of.calls.append(Made(name_of(value), [made], {}, uri, line, self.maybe > 0, value.of, value.name))

    def follow(self, function: Func, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Run a function of the project and return what it returns; too deep, or one that yields, is not known."""
        if self.deep >= DEEP:
            return Unknown("calls in calls without end", place[1])
        scope = Scope(function.scope.module, function.scope)
        if function.owner is not None:  # the names of a class body are none of its methods'
            scope.outer = function.scope.outer
        self._bind(function, args, kwargs, scope)
        kept, maybe = self.results, self.maybe
        self.results = []
        self.deep += 1
        try:
            self.block(function.definition.body.statements, scope)
        finally:
            found, self.results = self.results, kept
            self.deep -= 1
        sure = [value for level, value in found if level == maybe]
        likely = [value for _, value in found if value is not None and not isinstance(value, Unknown)]
        return next(iter([*likely, *sure]), None)

    def _bind(self, function: Func, args: list[Value], kwargs: dict[str, Value], scope: Scope) -> None:
        waiting = list(args)
        named = dict(kwargs)
        for parameter in function.definition.parameters:
            if parameter.spread:
                double = parameter is function.definition.parameters[-1] and not waiting and bool(named)
                scope.names[parameter.name] = dict(named) if double else tuple(waiting)
                waiting = []
            elif waiting:
                scope.names[parameter.name] = waiting.pop(0)
            elif parameter.name in named:
                scope.names[parameter.name] = named.pop(parameter.name)
            elif parameter.default is not None:
                scope.names[parameter.name] = self.evaluate(parameter.default, function.scope)
            else:
                scope.names[parameter.name] = Unknown(f"{parameter.name} is given at run time", function.line)
