"""What calls in a followed Python program give."""

from __future__ import annotations

from typing import Final

from ragstone.code import tree
from ragstone_code.python.evaluating import ENVIRONMENT, Evaluating
from ragstone_code.python.methods import builtin, method
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    GenericType,
    Scope,
    UnknownValue,
    Value,
    full_name,
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
            return UnknownValue("super()", one.line)
        args, _ = self.arguments(one.arguments, scope)
        if name == "getattr" and len(args) >= 2 and isinstance(args[1], str):
            return self.attribute(args[0], args[1])
        return scope.names if name in ("globals", "locals") and not args else NotImplemented

    def _closure(self, one: tree.Closure, scope: Scope) -> Value:
        return FunctionValue(one.function, f"{scope.module.name}.<lambda>", scope.module.uri, scope)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Return what a call gives."""
        if isinstance(function, ExternalName):
            return self._outside(function.name, args, kwargs, place)
        if isinstance(function, GenericType):
            return self.call(function.origin, args, kwargs, place)
        if isinstance(function, ClassValue):
            return self._object(function, args, kwargs, place)
        if isinstance(function, FunctionValue):
            return self._wrapped(function, self.follow(function, args, kwargs, place), args)
        if isinstance(function, BoundMember):
            return self._method(function, args, kwargs, place)
        if isinstance(function, CallResult):
            return self._again(function, args, kwargs, place)
        return function if isinstance(function, UnknownValue) else UnknownValue("a call of what is not known", place[1])

    def _outside(self, name: str, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        if name == "dict" and not (args and not isinstance(args[0], dict)):
            return {**(args[0] if args else {}), **kwargs}
        made = builtin(name, args) if "." not in name else NotImplemented
        if made is not NotImplemented:
            return made
        if name.startswith(ENVIRONMENT):
            return UnknownValue("read from the environment", place[1])
        if name == "importlib.import_module" and args and isinstance(args[0], str):
            return self.resolve(args[0], place[0])
        return self._noted(CallResult(name, args, kwargs, *place, self.maybe > 0))

    def _noted(self, made: CallResult) -> CallResult:
        """Keep what was made, in its order."""
        self.objects.append(made)
        return made

    def _object(self, classed: ClassValue, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        made = self._noted(CallResult(classed.full, args, kwargs, *place, self.maybe > 0, classed))
        found = classed.find("__init__")
        if found is not None and isinstance(found[1], FunctionValue):
            self.follow(found[1], [made, *args], kwargs, place)
        return made

    def _method(self, bound: BoundMember, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        if bound.function is not None:
            static = bound.function.definition.static
            return self.follow(bound.function, args if static else [bound.owner, *args], kwargs, place)
        if isinstance(bound.owner, str | list | tuple | dict):
            return method(bound.owner, bound.name, args, kwargs)
        if not isinstance(bound.owner, CallResult | ClassValue | FunctionValue | BoundMember):
            return UnknownValue("a call of what is not known", place[1])
        made = self._noted(CallResult(full_name(bound), args, kwargs, *place, self.maybe > 0, bound.owner, bound.name))
        if isinstance(bound.owner, CallResult):
            bound.owner.calls.append(made)
        return made

    def _again(self, made: CallResult, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Call what a call gave: a decorator on a function gives the function."""
        if made.callee == "functools.partial" and made.args:
            return self.call(made.args[0], [*made.args[1:], *args], {**made.kwargs, **kwargs}, place)
        first = args[0] if args else None
        if isinstance(first, FunctionValue | ClassValue):
            made.applied.append(first)
            return (
                CallResult(f"{made.callee}()", args, kwargs, *place, self.maybe > 0, made)
                if made.method == ""
                else first
            )
        found = made.on.find("__call__") if isinstance(made.on, ClassValue) and not made.method else None
        if found is not None and isinstance(found[1], FunctionValue):
            return self.follow(found[1], [made, *args], kwargs, place)
        return CallResult(f"{made.callee}()", args, kwargs, *place, self.maybe > 0, made)

    def _wrapped(self, function: FunctionValue, result: Value, args: list[Value]) -> Value:
        """Return what a decorator of the project's own was called with: the view inside counts, not its wrapper."""
        given = next((one for one in args if isinstance(one, FunctionValue | ClassValue | CallResult)), None)
        inner = isinstance(result, FunctionValue) and result.scope.outer is not None and result is not given
        if given is None or not inner or not isinstance(result, FunctionValue) or result.uri != function.uri:
            return result
        lines = function.definition
        return (
            CallResult(function.full, list(args), {}, function.uri, function.line, self.maybe > 0, function)
            if lines.line <= result.line <= lines.line_end
            else result
        )

    def decorated(self, value: Value, made: FunctionValue | ClassValue, uri: str, line: int) -> None:
        """Let what decorates a function know it."""
        if isinstance(value, CallResult):
            value.applied.append(made)
        elif isinstance(value, BoundMember) and isinstance(value.owner, CallResult) and value.function is None:
            value.owner.calls.append(
                CallResult(full_name(value), [made], {}, uri, line, self.maybe > 0, value.owner, value.name)
            )

    def follow(self, function: FunctionValue, args: list[Value], kwargs: dict[str, Value], place: Place) -> Value:
        """Run a function of the project and return what it returns; too deep, or one that yields, is not known."""
        if self.deep >= DEEP:
            return UnknownValue("calls in calls without end", place[1])
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
        likely = [value for _, value in found if value is not None and not isinstance(value, UnknownValue)]
        return next(iter([*likely, *sure]), None)

    def _bind(self, function: FunctionValue, args: list[Value], kwargs: dict[str, Value], scope: Scope) -> None:
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
                scope.names[parameter.name] = UnknownValue(f"{parameter.name} is given at run time", function.line)
