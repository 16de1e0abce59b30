"""Finds the type of an expression, such as the receiver of a call, from written types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.code.resolve.entities import (
    OUTSIDE,
    CodeFile,
    Entity,
    FunctionEntity,
    Namespace,
    NoMatch,
    TypedValue,
    TypeEntity,
    WrittenType,
    failure_of,
)
from ragstone.code.resolve.inheritance import find_member, parents
from ragstone.code.resolve.lookup import find_function, find_inside, find_name
from ragstone.code.resolve.receivers import Receiver, ReceiverStep, parse_receiver
from ragstone.code.resolve.signatures import return_type
from ragstone.code.resolve.type_names import type_names

_THIS: Final = {
    "php": "$this",
    "python": "self",
    "script": "this",
    "jvm": "this",
    "csharp": "this",
    "rust": "self",
    "swift": "self",
    "ruby": "self",
    "c": "this",
}
"""The name of the current instance."""
_OWN_TYPE: Final = {
    "php": ("self", "static"),
    "python": ("cls",),
    "rust": ("Self",),
    "swift": ("Self",),
}
"""Names of the current type."""
_SUPER: Final = {"php": "parent", "csharp": "base"}
"""The name of the parent, if it is not `super`."""
_SAME_TYPE: Final = frozenset(
    "static $this this Self typing.Self t.Self te.Self typing_extensions.Self".split()
)
"""Return types that mean the type of the receiver."""
_OWN_TYPE_RETURNS: Final = ("self", "static")
_IMPLICIT_THIS: Final = frozenset(("jvm", "csharp", "swift", "c"))
"""Families that can name fields and methods of the current type without a receiver."""
_OUTER_METHODS: Final = frozenset(("jvm", "csharp"))
"""Families that can also call methods of outer types without a receiver."""
_CALL_CREATES: Final = frozenset(("python", "jvm", "swift", "c"))
"""Families where the call of a type creates an instance."""
_CALLED_TYPES: Final = frozenset(("python", "script", "go", "jvm", "swift"))
"""Families whose bindings can name a called function instead of a type."""
_MAX_DEPTH: Final = 8
_MAX_EXPRESSION: Final = 200

Value = TypedValue | Namespace | NoMatch


class ExpressionTyper:
    """Finds the types of expressions in one file."""

    def __init__(self, file: CodeFile) -> None:
        self.file = file
        self._locals: dict[tuple[str, str], list[WrittenType]] = {}
        self._values: dict[tuple[str, str], Value] = {}
        self._depth = 0
        for binding in file.facts.bindings:
            if binding.inside:
                written = WrittenType(binding.type, file, binding.inside)
                self._locals.setdefault((binding.inside, binding.name), []).append(written)

    def value_of(self, text: str, inside: str) -> Value:
        """Return the value of an expression at a place in the file."""
        place = (inside, text)
        if place not in self._values:
            self._values[place] = _untyped(
                text
            )  # the answer if the expression refers to itself
            receiver = parse_receiver(text) if len(text) <= _MAX_EXPRESSION else None
            if receiver is not None:
                self._values[place] = self._receiver_value(receiver, inside)
        return self._values[place]

    def is_local(self, name: str, inside: str) -> bool:
        """Return whether a name is a parameter or a local variable."""
        for scope in self.file.scopes(inside):
            if (scope, name) in self._locals and scope not in self.file.types:
                return True
        return False

    def find_called(self, name: str, inside: str) -> Entity | NoMatch:
        """Return the target of a call without a receiver."""
        family = self.file.family
        if family not in _IMPLICIT_THIS and family != "ruby":
            return find_function(self.file, name, inside)
        for scope in self.file.scopes(inside):
            sibling = self.file.functions.get(f"{scope}.{name}")
            if sibling is not None and sibling.owner is None:  # a method of an anonymous class
                return sibling
            own_type = self.file.types.get(scope)
            if own_type is None:
                continue
            member = find_member(own_type, name)
            if isinstance(member, FunctionEntity):
                return member
            if family not in _OUTER_METHODS:
                break
        return find_function(self.file, name, inside)

    # ── the start of an expression ────────────────────────────────────────────────────────────────

    def _receiver_value(self, receiver: Receiver, inside: str) -> Value:
        last = len(receiver.steps)
        value: Value
        if receiver.is_new:
            target = find_name(self.file, receiver.head.name, inside)
            value = TypedValue(target) if isinstance(target, TypeEntity) else failure_of(target)
        else:
            is_awaited = receiver.is_awaited and last == 0
            value = self._head_value(receiver.head, inside, is_awaited=is_awaited)
        for number, step in enumerate(receiver.steps, start=1):
            if isinstance(value, NoMatch):
                return value
            is_awaited = receiver.is_awaited and number == last
            value = self._step_value(value, step, is_awaited=is_awaited)
        return value

    def _head_value(self, head: ReceiverStep, inside: str, *, is_awaited: bool) -> Value:
        special = self._special_value(head, inside)
        if special is not None:
            return special
        local = self._local_value(head.name, inside)
        if local is not None:
            return _untyped(head.name) if head.is_called else local
        if head.is_called:
            target = self.find_called(head.name, inside)
            return self._call_value(target, is_awaited=is_awaited)
        return self._variable_value(head.name, inside)

    def _variable_value(self, name: str, inside: str) -> Value:
        """Return the value of a name that is neither local nor called."""
        if name[0] == "$":
            return _untyped(name)
        if name[0] == "@":  # a field in Ruby
            own_type = self.file.enclosing_type(inside)
            field = None if own_type is None else self._field_value(own_type, name[1:])
            return field or _untyped(name)
        target = find_name(self.file, name, inside)
        if target is OUTSIDE and not name[0].isupper() and not self.file.may_import(name):
            return _untyped(name)
        return self._name_value(target, name)

    def _special_value(self, head: ReceiverStep, inside: str) -> Value | None:
        """Return the value of `this`, `self`, `super` and the like; None for other names."""
        family = self.file.family
        name = head.name.lower() if family == "php" else head.name
        if family == "go" or (inside, head.name) in self._locals:
            return None
        is_super = name == _SUPER.get(family, "super")
        if is_super:
            is_type = family == "php"
        elif name in _OWN_TYPE.get(family, ()):
            is_type = not head.is_called
        elif name == _THIS.get(family):
            is_type = False
        else:
            return None
        own_type = self._this_type(inside)
        if own_type is None:
            return NoMatch(f"what {head.name} is here is not written")
        return TypedValue(own_type, is_type=is_type, parents_only=is_super)

    def _this_type(self, inside: str) -> TypeEntity | None:
        """Return the type of `this`; in a script, a function inside a method has another `this`."""
        symbol = self.file.symbols.get(inside)
        if self.file.family == "script" and symbol is not None:
            if symbol.kind == "function" and symbol.parent:
                return None
        return self.file.enclosing_type(inside)

    def _local_value(self, name: str, inside: str) -> Value | None:
        """Return the value of a parameter, a local variable or a field without a receiver; None for other names."""
        for scope in self.file.scopes(inside):
            own_type = self.file.types.get(scope)
            if own_type is None:
                types = self._locals.get((scope, name))
                if types:
                    return self._common_value(types, name)
            elif self.file.family in _IMPLICIT_THIS:
                field = self._field_value(own_type, name)
                if field is not None:
                    return field
        return None

    def _name_value(self, target: Entity | NoMatch, name: str) -> Value:
        """Return the value of a name that is not called."""
        if isinstance(target, TypeEntity):
            return TypedValue(target, is_type=True)
        if isinstance(target, WrittenType):
            return self._common_value([target], name)
        if isinstance(target, FunctionEntity):
            return OUTSIDE
        return target

    def _call_value(self, target: Entity | NoMatch, *, is_awaited: bool) -> Value:
        """Return the value of a call of a type or a function."""
        if isinstance(target, FunctionEntity):
            return self._returned_value(target, None, is_awaited=is_awaited)
        if isinstance(target, TypeEntity) and self.file.family in _CALL_CREATES:
            return TypedValue(target)
        return failure_of(target)

    # ── steps of an expression ────────────────────────────────────────────────────────────────────

    def _step_value(
        self, value: TypedValue | Namespace, step: ReceiverStep, *, is_awaited: bool
    ) -> Value:
        if isinstance(value, TypedValue):
            if step.is_called:
                return self._method_value(value, step.name, is_awaited=is_awaited)
            return self._attribute_value(value, step.name)
        target = find_inside(self.file, value, step.name)
        if not step.is_called:
            return self._name_value(target, step.name)
        if isinstance(target, NoMatch):
            return OUTSIDE
        return self._call_value(target, is_awaited=is_awaited)

    def _method_value(self, value: TypedValue, name: str, *, is_awaited: bool) -> Value:
        """Return the value of a method call."""
        if value.is_type and name == "new" and self.file.family == "ruby":
            return TypedValue(value.type)
        if value.is_type and name in value.type.inner and self.file.family in _CALL_CREATES:
            return TypedValue(value.type.inner[name])
        method = find_member(value.type, name, parents_only=value.parents_only)
        if isinstance(method, NoMatch):
            return method
        return self._returned_value(method, value, is_awaited=is_awaited)

    def _attribute_value(self, value: TypedValue, name: str) -> Value:
        """Return the value of a field, an inner type or a property."""
        if value.is_type and name in value.type.inner:
            return TypedValue(value.type.inner[name], is_type=True)
        field = self._field_value(value.type, name)
        if field is not None:
            return field
        if self.file.family in ("python", "script"):  # only these have properties as methods
            method = find_member(value.type, name)
            if isinstance(method, FunctionEntity):
                return self._returned_value(method, value, is_awaited=False)
        return NoMatch(f"the type of {value.type.name}.{name} is not written")

    def _field_value(self, owner: TypeEntity, name: str) -> Value | None:
        """Return the value of a field of a type or its ancestors; None if there is no such field."""
        seen: set[int] = set()
        pending = [owner]
        while pending:
            candidate = pending.pop(0)
            if id(candidate) in seen:
                continue
            seen.add(id(candidate))
            if name in candidate.fields:
                return self._common_value(candidate.fields[name], f"{owner.name}.{name}")
            for _, parent in parents(candidate):
                if parent is not None:
                    pending.append(parent)
        return None

    # ── written types ─────────────────────────────────────────────────────────────────────────────

    def _returned_value(
        self, function: FunctionEntity, receiver: TypedValue | None, *, is_awaited: bool
    ) -> Value:
        """Return the value that a function returns, by its signature."""
        symbol = function.symbol
        language = function.file.facts.language
        text, is_async = return_type(symbol.signature, symbol.name, language)
        if is_awaited and text.startswith("Promise<") and text.endswith(">"):
            text, is_async = text[8:-1], True
        if not text or is_async != is_awaited:
            return NoMatch(f"what {symbol.name}() returns is not written")
        name = text.lstrip("?")
        if receiver is not None and name in _SAME_TYPE:
            return TypedValue(receiver.type)
        if function.owner is not None and name.lower() in _OWN_TYPE_RETURNS:
            return TypedValue(function.owner)
        written = WrittenType(text, function.file, symbol.qualified)
        return self._common_value([written], f"{symbol.name}()")

    def _common_value(self, types: Iterable[WrittenType], name: str) -> Value:
        """Return the value of a name if all its written types are the same type."""
        common: TypedValue | None = None
        for written in types:
            if not written.text:
                return _untyped(name)
            value = self._written_value(written)
            # The first failure ends the loop: each value may need the values of other names.
            if not isinstance(value, TypedValue):
                return value if common is None else NoMatch(f"{name} has several types")
            if common is not None and common.type is not value.type:
                return NoMatch(f"{name} has several types")
            common = value
        return common or _untyped(name)

    def _written_value(self, written: WrittenType) -> Value:
        """Return the value of a written type, or of a call that is written instead of a type."""
        file = written.file
        names = type_names(written.text, file.facts.language)
        if not names:
            is_call = written.text.endswith(")") and file.family == "php"
            if is_call and file is self.file:
                return self.value_of(written.text, written.inside)
            return _untyped(written.text)
        if len(names) > 1:
            return NoMatch(f"{written.text} is several types")
        target = _find_type(written, names[0])
        if isinstance(target, TypeEntity):
            return TypedValue(target)
        can_be_called = isinstance(target, (FunctionEntity, NoMatch))
        if not can_be_called or file.family not in _CALLED_TYPES or self._depth >= _MAX_DEPTH:
            return failure_of(target)
        self._depth += 1
        try:
            return self._called_type_value(written, names[0], target)
        finally:
            self._depth -= 1

    def _called_type_value(
        self, written: WrittenType, name: str, target: Entity | NoMatch
    ) -> Value:
        """Return the value of a variable that got the result of a call of `name`."""
        if isinstance(target, FunctionEntity) and target.owner is None:
            return self._returned_value(target, None, is_awaited=False)
        if target is OUTSIDE and _is_plain_variable(written.file, written.text):
            return _untyped(written.text)
        receiver = parse_receiver(name)
        if receiver is None or not receiver.steps or written.file is not self.file:
            return failure_of(target)
        last = ReceiverStep(receiver.steps[-1].name, True)
        called = Receiver(receiver.head, False, False, (*receiver.steps[:-1], last))
        value = self._receiver_value(called, written.inside)
        if isinstance(target, NoMatch) and isinstance(value, NoMatch):
            return target
        return value


def _find_type(written: WrittenType, name: str) -> Entity | NoMatch:
    """Return the target of the name in a written type."""
    if name in ("self", "static", "Self"):
        own_type = written.file.enclosing_type(written.inside)
        if own_type is not None:
            return own_type
    return find_name(written.file, name, written.inside)


def _untyped(text: str) -> NoMatch:
    short = text if len(text) <= 40 else f"{text[:39]}…"
    return NoMatch(f"the type of {short} is not written")


def _is_plain_variable(file: CodeFile, text: str) -> bool:
    """Return whether a text is the name of a variable, such as the parameter in `self.sock = sock`."""
    return (
        file.family == "python"
        and text.isidentifier()
        and not text[0].isupper()
        and not file.may_import(text)
    )
