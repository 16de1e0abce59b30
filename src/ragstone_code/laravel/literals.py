"""Values that the code spells out: literals, constants, class names and config entries, folded without execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ragstone_code.evaluate import (
    PHP,
    Arguments,
    Array,
    CallSite,
    ClassRef,
    Evaluator,
    Stubs,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.inheritance import ClassHierarchy, ClassPart
from ragstone_code.program_tree import (
    Call,
    Choice,
    ClassName,
    Collected,
    Expr,
    FunctionName,
    Literal,
    Member,
    Return,
    Static,
    Text,
    Variable,
)


class NotWritten:
    """The type of `NOT_WRITTEN`."""

    def __repr__(self) -> str:
        """Return the text that debuggers show."""
        return "(not written down)"


NOT_WRITTEN: Final = NotWritten()
"""The result for an expression whose value the code does not spell out."""
_MAX_DEPTH: Final = 12
_MODEL_PROXY: Final = "konekt\\concord\\proxies\\modelproxy"
"""Base class of model proxies: `UserProxy::modelClass()` is `User`."""


@dataclass(frozen=True, slots=True)
class ClassContext:
    """The class that declares an expression and the class it is evaluated for; they differ in traits and parents."""

    inside: str = ""
    """The declaring class or trait."""
    of: str = ""
    """The class the expression is evaluated for."""
    trait: bool = False
    uri: str = ""

    @classmethod
    def of_part(cls, part: ClassPart, class_name: str) -> ClassContext:
        """Return the context of an expression in a part of a class."""
        definition = part.definition
        return cls(definition.name, class_name, definition.kind == "trait")


@dataclass(slots=True)
class LiteralFolder:
    """Folds the expressions of one project to plain Python values."""

    lineage: ClassHierarchy
    packages: Mapping[str, object] = field(default_factory=dict)
    """Config of packages, used if the project has no config file of that name."""
    _configs: dict[str, object] = field(default_factory=dict)
    _evaluator: Evaluator | None = None

    def evaluate(self, expression: Expr, context: ClassContext) -> object:
        """Return the value of an expression; if it is not spelled out, follow the project's functions to a string."""
        value = self.value(expression, context)
        if value is not NOT_WRITTEN:
            return value
        if self._evaluator is None:
            stubs = Stubs(functions={"config": self.call_config, "env": call_env})
            self._evaluator = Evaluator(self.lineage.world, PHP, stubs)
        owner = context.of or context.inside
        result = first_known(self._evaluator.evaluate(expression, context.uri, owner=owner))
        if isinstance(result, ClassRef):
            return result.name
        return result if isinstance(result, str) else NOT_WRITTEN

    def call_config(self, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        """Return the result of `config(…)` for the evaluator: the project's value, else the default."""
        key = first_known(arguments.at(0, "key"))
        default = arguments.at(1, "default")
        value = (
            to_value(self.config(key))
            if isinstance(key, str)
            else Unknown("which is not known")
        )
        if isinstance(value, Unknown):
            text = f"config({key})"
            return Unknown(
                text,
                text,
                () if default is None else (default,),
            )
        return default if value is None else value

    def value(self, expression: Expr | None, context: ClassContext, depth: int = 0) -> object:
        """Return the value of an expression, or `NOT_WRITTEN`."""
        if depth > _MAX_DEPTH:
            return NOT_WRITTEN
        match expression:
            case Literal():
                return _literal_value(expression, context)
            case Text():
                return self._text_value(expression, context, depth)
            case Collected():
                return self._array_value(expression, context, depth)
            case Static():
                return self._static_value(expression, context, depth)
            case Call():
                return self._call_value(expression, context, depth)
            case Choice(then=None):
                return self._fallback_value(expression, context, depth)
            case Member(of=Variable(name="this")):
                return self._property_value(context.of, expression.name, context, depth)
        return NOT_WRITTEN

    def text(self, expression: Expr | None, context: ClassContext) -> str | None:
        """Return the value of an expression if it is a string, else None."""
        value = self.value(expression, context)
        return value if isinstance(value, str) else None

    def config(self, key: str) -> object:
        """Return a config entry: None if the file lacks it, `NOT_WRITTEN` if the file does not spell it out."""
        name, _, rest = key.partition(".")
        if name not in self._configs:
            value = self._file_value(f"config/{name}.php")
            self._configs[name] = (
                self.packages.get(name, NOT_WRITTEN) if value is NOT_WRITTEN else value
            )
        value = self._configs[name]
        for part in rest.split(".") if rest else ():
            value = value.get(part) if isinstance(value, dict) else NOT_WRITTEN
        return value

    def _file_value(self, uri: str) -> object:
        """Return the value that a file returns."""
        module = self.lineage.world.module(uri)
        for statement in module.statements if module else ():
            if isinstance(statement, Return):
                return self.value(statement.value, ClassContext())
        return NOT_WRITTEN

    def _text_value(self, text: Text, context: ClassContext, depth: int) -> object:
        """Return an interpolated string if all of its parts are known."""
        pieces: list[str] = []
        for part in text.parts:
            value = self.value(part, context, depth + 1)
            if not isinstance(value, (str, int)):
                return NOT_WRITTEN
            pieces.append(str(value))
        return "".join(pieces)

    def _array_value(self, array: Collected, context: ClassContext, depth: int) -> object:
        """Return an array as a list if its keys are 0, 1, 2 …, else as a dictionary."""
        entries: dict[object, object] = {}
        for entry in array.entries:
            value = self.value(entry.value, context, depth + 1)
            if entry.spread:
                _spread_entries(entries, value)
                continue
            key: object = len(entries)
            if entry.key is not None:
                key = self.value(entry.key, context, depth + 1)
            if isinstance(key, (str, int)):
                entries[key] = value
        is_list = list(entries) == list(range(len(entries)))
        return list(entries.values()) if is_list else entries

    def _fallback_value(self, choice: Choice, context: ClassContext, depth: int) -> object:
        """Return the value of `first ?: other`."""
        value = self.value(choice.test, context, depth + 1)
        if value is NOT_WRITTEN or value is None:
            return self.value(choice.other, context, depth + 1)
        return value

    def class_name(self, expression: Expr, context: ClassContext) -> str | None:
        """Return the class that an expression names: `Song`, `self`, `static`, `parent` or `$this`."""
        if isinstance(expression, Variable):
            return context.of if expression.name == "this" else None
        if not isinstance(expression, ClassName):
            return None
        name = expression.name.lower()
        if name == "self":
            return context.of if context.trait else context.inside
        if name == "static":
            return context.of
        if name == "parent":
            part = self.lineage.find(context.inside)
            return part.definition.extends[0] if part and part.definition.extends else None
        return expression.name

    def _static_value(self, expression: Static, context: ClassContext, depth: int) -> object:
        """Return the value of `X::class`, `X::$property` or `X::CONSTANT`."""
        class_name, name = self.class_name(expression.of, context), expression.name
        if class_name is None or not isinstance(name, str):
            return NOT_WRITTEN
        if name == "class":
            return class_name
        if name.startswith("$"):
            return self._property_value(class_name, name[1:], context, depth)
        for part in self.lineage.parts(class_name):
            constants = part.definition.constants
            if name in constants:
                return self.value(
                    constants[name],
                    ClassContext.of_part(part, class_name),
                    depth + 1,
                )
        return NOT_WRITTEN

    def _property_value(
        self, class_name: str, name: str | Expr, context: ClassContext, depth: int
    ) -> object:
        """Return the default of a property."""
        if not class_name or not isinstance(name, str):
            return NOT_WRITTEN
        declared = self.lineage.find_property(class_name, name)
        if declared is None:
            return NOT_WRITTEN
        part, class_property = declared
        return self.value(
            class_property.default,
            ClassContext.of_part(part, class_name),
            depth + 1,
        )

    def _call_value(self, call: Call, context: ClassContext, depth: int) -> object:
        """Return the result of the few calls that are certain: `config`, `env`, `get_class` and two methods."""
        function = call.function
        if isinstance(function, Static) and function.name == "modelClass":
            return self._proxied_model(function, context)
        if isinstance(function, Member) and function.name == "value" and not call.arguments:
            return self.value(function.of, context, depth + 1)
        if not isinstance(function, FunctionName) or not call.arguments:
            return NOT_WRITTEN
        name = function.name.lower().rpartition("\\")[2]
        if name == "get_class":
            return self.class_name(call.arguments[0].value, context) or NOT_WRITTEN
        default = call.arguments[1].value if len(call.arguments) > 1 else None
        if name == "env":
            return self.value(default, context, depth + 1)
        if name == "config":
            return self._config_call_value(
                call.arguments[0].value,
                default,
                context,
                depth,
            )
        return NOT_WRITTEN

    def _proxied_model(self, function: Static, context: ClassContext) -> object:
        """Return the model of `UserProxy::modelClass()`."""
        proxy = self.class_name(function.of, context)
        if not proxy or self.lineage.first_outside_ancestor(proxy).lower() != _MODEL_PROXY:
            return NOT_WRITTEN
        return proxy.removesuffix("Proxy")

    def _config_call_value(
        self, key: Expr, default: Expr | None, context: ClassContext, depth: int
    ) -> object:
        """Return the value of `config(key, default)`."""
        name = self.value(key, context, depth + 1)
        value = self.config(name) if isinstance(name, str) else NOT_WRITTEN
        if default and (value is NOT_WRITTEN or value is None):
            return self.value(default, context, depth + 1)
        return value


def _literal_value(literal: Literal, context: ClassContext) -> object:
    """Return a literal; `__CLASS__` in a trait is the class that uses the trait, which one file cannot tell."""
    if context.trait and literal.value == context.inside:
        return context.of
    return literal.value


def _spread_entries(entries: dict[object, object], value: object) -> None:
    """Add the entries of a spread array to `entries`; numeric keys are renumbered."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        entries[key if isinstance(key, str) else len(entries)] = item


def to_value(plain: object) -> Value:
    """Return a folded value as a value of the evaluator; `NOT_WRITTEN` becomes unknown."""
    if isinstance(plain, dict):
        return Array(items={key: to_value(item) for key, item in plain.items()})
    if isinstance(plain, list):
        return Array([to_value(item) for item in plain])
    if plain is None or isinstance(plain, str | int | float | bool):
        return plain
    return Unknown("it is not written down")


def call_env(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the result of `env(…)` for the evaluator: unknown, with the default as an option."""
    text = f"env({display_text(arguments.at(0))})"
    default = arguments.at(1)
    return Unknown(
        text,
        text,
        () if default is None else (default,),
    )
