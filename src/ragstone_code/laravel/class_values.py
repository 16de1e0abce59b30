"""Values that classes of an application tell: texts of constants, and objects that static methods create."""

from __future__ import annotations

from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    call_chain,
    called_name,
    class_of,
    returned_values,
    text_of,
)


def text_or_constant(app: App, expression: SyntaxNode, owner: str = "") -> str | None:
    """Return the string that an expression spells out, also through a class constant; None if unknown."""
    if isinstance(expression, program_tree.Static) and expression.name != "class":
        return _constant_text(app, expression, owner)
    return text_of(expression, owner)


def _constant_text(app: App, constant: program_tree.Static, owner: str) -> str | None:
    """Return the string of `Policy::UPDATE`; the constant may be inherited."""
    class_name = class_of(constant.of, owner)
    for ancestor in app.lineage(class_name):
        app_class = app.find_class(ancestor)
        value = app_class.definition.constants.get(str(constant.name)) if app_class else None
        if value is not None:
            return text_of(value, ancestor)
    return None


def created_class(app: App, expression: SyntaxNode, owner: str = "") -> str:
    """Return the class whose static method creates an object of it: `Job::fromRequest()`; '' if none does."""
    start, calls = call_chain(expression)
    if not isinstance(start, program_tree.ClassName) or not calls:
        return ""
    name = class_of(start, owner)
    method = app.find_method(name, called_name(calls[0]))
    if method is None or not isinstance(calls[0].function, program_tree.Static):
        return ""
    return name if _returns_class(method[1], name) else ""


def _returns_class(function: program_tree.Function, name: str) -> bool:
    """Return whether a method returns an object of its class: by its declared type, else by what it creates."""
    if function.returns is not None:
        types = {type_name.lower() for type_name in function.returns.names}
        return not types.isdisjoint(("self", "static", name.lower()))
    created = [class_of(value, name).lower() for value in returned_values(function)]
    return name.lower() in created
