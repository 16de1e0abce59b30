"""Lowering of PHP classes, interfaces, traits and enums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone_code.php.arguments import NAME_NODES, lower_attributes
from ragstone_code.php.context import PhpContext, child_of_type, line_of
from ragstone_code.php.functions import doc_comment, lower_function, lower_type
from ragstone_code.php.names import text_of
from ragstone_code.program_tree import Class, Expr, Function, Literal, Property

if TYPE_CHECKING:
    from tree_sitter import Node

CLASS_KINDS: Final = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "trait_declaration": "trait",
    "enum_declaration": "enum",
    "anonymous_class": "class",
}


@dataclass(slots=True)
class _ClassMembers:
    """The members of a class body."""

    traits: list[tuple[str, int]] = field(default_factory=list)
    constants: dict[str, Expr] = field(default_factory=dict)
    cases: list[str] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    methods: list[Function] = field(default_factory=list)


def lower_class(context: PhpContext, node: Node, name: str) -> Class:
    """Return a class with its full name, and add it to the declarations of the context."""
    members = _lower_members(context.in_class(name), node)
    definition = Class(
        name=name,
        kind=CLASS_KINDS.get(node.type, "class"),
        line=line_of(node.child_by_field_name("name") or node),
        line_end=node.end_point[0] + 1,
        extends=_lower_class_list(context, child_of_type(node, "base_clause")),
        implements=_lower_class_list(context, child_of_type(node, "class_interface_clause")),
        traits=tuple(members.traits),
        attributes=lower_attributes(context, node),
        constants=members.constants,
        properties=tuple(members.properties),
        methods=tuple(members.methods),
        doc=doc_comment(node),
        cases=tuple(members.cases),
    )
    context.declarations.classes.append(definition)
    return definition


def _lower_members(context: PhpContext, node: Node) -> _ClassMembers:
    members = _ClassMembers()
    body = node.child_by_field_name("body") or child_of_type(
        node,
        "declaration_list",
        "enum_declaration_list",
    )
    if body is None:
        return members
    for child in body.named_children:
        lower_member = _MEMBERS.get(child.type)
        if lower_member:
            lower_member(context, child, members)
    return members


def _lower_class_list(context: PhpContext, node: Node | None) -> tuple[str, ...]:
    """Return the full names of the classes in an `extends` or `implements` clause."""
    if node is None:
        return ()
    names = [text_of(child) for child in node.named_children if child.type in NAME_NODES]
    return tuple(context.names.resolve_class(name) for name in names)


def _lower_traits(context: PhpContext, node: Node, members: _ClassMembers) -> None:
    for child in node.named_children:
        if child.type in NAME_NODES:
            trait = context.names.resolve_class(text_of(child))
            members.traits.append((trait, line_of(child)))


def _lower_constants(context: PhpContext, node: Node, members: _ClassMembers) -> None:
    for child in node.named_children:
        parts = child.named_children
        if child.type == "const_element" and len(parts) >= 2:
            members.constants[text_of(parts[0])] = context.expression(parts[-1])


def _lower_case(context: PhpContext, node: Node, members: _ClassMembers) -> None:
    """Add a case of an enum; a case without a value has its name as value."""
    name = text_of(node.child_by_field_name("name"))
    value = node.child_by_field_name("value")
    members.cases.append(name)
    if value is None:
        members.constants[name] = Literal(name, line_of(node))
    else:
        members.constants[name] = context.expression(value)


def _lower_properties(context: PhpContext, node: Node, members: _ClassMembers) -> None:
    is_static = child_of_type(node, "static_modifier") is not None
    property_type = lower_type(context, node.child_by_field_name("type"))
    doc = doc_comment(node)
    for child in node.named_children:
        name = child.child_by_field_name("name") or child_of_type(child, "variable_name")
        if child.type != "property_element" or name is None:
            continue
        default: Expr | None = None
        default_node = child.child_by_field_name("default_value")
        if default_node is not None:
            default = context.expression(default_node)
        class_property = Property(
            text_of(name)[1:],
            property_type,
            default,
            line_of(child),
            is_static,
            doc,
        )
        members.properties.append(class_property)


def _lower_method(context: PhpContext, node: Node, members: _ClassMembers) -> None:
    name = text_of(node.child_by_field_name("name"))
    members.methods.append(lower_function(context, node, name))


_MEMBERS: Final[dict[str, Callable[[PhpContext, Node, _ClassMembers], None]]] = {
    "use_declaration": _lower_traits,
    "const_declaration": _lower_constants,
    "enum_case": _lower_case,
    "property_declaration": _lower_properties,
    "method_declaration": _lower_method,
}
