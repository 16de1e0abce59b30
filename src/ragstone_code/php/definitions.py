"""PHP's classes, interfaces, traits and enums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import Class, Expr, Function, Literal, Property
from ragstone_code.php.arguments import NAMED, attributes
from ragstone_code.php.context import Context, line_of, named
from ragstone_code.php.functions import doc_of, function, typed
from ragstone_code.php.names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

KINDS: Final = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "trait_declaration": "trait",
    "enum_declaration": "enum",
    "anonymous_class": "class",
}


@dataclass(slots=True)
class _Members:
    """What the body of a class holds."""

    traits: list[tuple[str, int]] = field(default_factory=list)
    constants: dict[str, Expr] = field(default_factory=dict)
    cases: list[str] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    methods: list[Function] = field(default_factory=list)


def definition(context: Context, node: Node, name: str) -> Class:
    """Return a class under its full name."""
    inner = context.entering(inside=name)
    members = _Members()
    body = node.child_by_field_name("body") or named(node, "declaration_list", "enum_declaration_list")
    for child in body.named_children if body is not None else []:
        mapping = _MEMBERS.get(child.type)
        if mapping:
            mapping(inner, child, members)
    found = Class(
        name=name,
        kind=KINDS.get(node.type, "class"),
        line=line_of(node.child_by_field_name("name") or node),
        line_end=node.end_point[0] + 1,
        extends=_listed(context, named(node, "base_clause")),
        implements=_listed(context, named(node, "class_interface_clause")),
        traits=tuple(members.traits),
        attributes=attributes(context, node),
        constants=members.constants,
        properties=tuple(members.properties),
        methods=tuple(members.methods),
        doc=doc_of(node),
        cases=tuple(members.cases),
    )
    context.found.classes.append(found)
    return found


def _listed(context: Context, node: Node | None) -> tuple[str, ...]:
    """Return the classes that a clause names."""
    if node is None:
        return ()
    return tuple(context.names.of_class(text_of(one)) for one in node.named_children if one.type in NAMED)


def _uses(context: Context, node: Node, members: _Members) -> None:
    for one in node.named_children:
        if one.type in NAMED:
            members.traits.append((context.names.of_class(text_of(one)), line_of(one)))


def _constants(context: Context, node: Node, members: _Members) -> None:
    for one in node.named_children:
        if one.type == "const_element" and len(one.named_children) >= 2:
            members.constants[text_of(one.named_children[0])] = context.expression(one.named_children[-1])


def _case(context: Context, node: Node, members: _Members) -> None:
    name, value = text_of(node.child_by_field_name("name")), node.child_by_field_name("value")
    members.cases.append(name)
    members.constants[name] = Literal(name, line_of(node)) if value is None else context.expression(value)


def _properties(context: Context, node: Node, members: _Members) -> None:
    static = named(node, "static_modifier") is not None
    kind = typed(context, node.child_by_field_name("type"))
    for one in node.named_children:
        name = one.child_by_field_name("name") or named(one, "variable_name")
        if one.type != "property_element" or name is None:
            continue
        default = one.child_by_field_name("default_value")
        value = None if default is None else context.expression(default)
        members.properties.append(Property(text_of(name)[1:], kind, value, line_of(one), static, doc_of(node)))


def _method(context: Context, node: Node, members: _Members) -> None:
    members.methods.append(function(context, node, text_of(node.child_by_field_name("name"))))


_MEMBERS: Final[dict[str, Callable[[Context, Node, _Members], None]]] = {
    "use_declaration": _uses,
    "const_declaration": _constants,
    "enum_case": _case,
    "property_declaration": _properties,
    "method_declaration": _method,
}
