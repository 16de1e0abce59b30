"""Python's expressions as the one shape of program has them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone.code import tree
from ragstone_code.python.names import Names, inside, line_of, written

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST: Final = 60
"""How deep an expression may be nested before its text is kept instead; Python's own stack ends far later."""
COLLECTED: Final = {
    "list": "list", "tuple": "tuple", "set": "set", "expression_list": "tuple", "pattern_list": "tuple",
    "tuple_pattern": "tuple", "list_pattern": "list",
}  # fmt: skip
COMPREHENDED: Final = {
    "list_comprehension": "list",
    "set_comprehension": "set",
    "dictionary_comprehension": "dict",
    "generator_expression": "list",
}


class Expressions:
    """Maps expressions; `statements.py` maps what they stand in."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.depth = 0
        self._ways: dict[str, Callable[[Node], tree.Expr]] = {
            "identifier": self._name,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "generic_type": self._generic,
            "member_type": self._member_type,
            "union_type": self._union,
            "string": self._string,
            "concatenated_string": self._joined,
            "integer": self._number,
            "float": self._number,
            "dictionary": self._dictionary,
            "binary_operator": self._binary,
            "boolean_operator": self._boolean,
            "comparison_operator": self._comparison,
            "not_operator": self._prefixed,
            "unary_operator": self._prefixed,
            "conditional_expression": self._choice,
            "lambda": self._lambda,
            "named_expression": self._walrus,
            "assignment": self._assignment,
            "augmented_assignment": self._assignment,
            **{name: self._wrapped for name in ("parenthesized_expression", "await", "type", "as_pattern_target")},
            **{name: self._collected for name in COLLECTED},
            **{name: self._comprehended for name in COMPREHENDED},
        }

    def expression(self, node: Node | None) -> tree.Expr:
        """Return an expression; what has no shape, or is nested without end, keeps its text."""
        if node is None:
            return tree.Opaque("missing", "", 0)
        if node.type in ("true", "false", "none"):
            return tree.Literal({"true": True, "false": False}.get(node.type), line_of(node))
        way = self._ways.get(node.type)
        if way is None or self.depth > DEEPEST:
            return self.opaque(node)
        self.depth += 1
        try:
            return way(node)
        finally:
            self.depth -= 1

    def opaque(self, node: Node, reason: str = "") -> tree.Opaque:
        """Return what is kept as text."""
        return tree.Opaque(reason or node.type, written(node)[:400], line_of(node))

    def arguments(self, node: Node | None) -> tuple[tree.Argument, ...]:
        """Return what stands in parentheses."""
        if node is None:
            return ()
        if node.type == "generator_expression":
            return (tree.Argument(self.expression(node)),)
        return tuple(self._argument(one) for one in inside(node))

    def _argument(self, node: Node) -> tree.Argument:
        if node.type == "keyword_argument":
            name = written(node.child_by_field_name("name"))
            return tree.Argument(self.expression(node.child_by_field_name("value")), name)
        if node.type in ("list_splat", "dictionary_splat"):
            name = "**" if node.type == "dictionary_splat" else ""
            return tree.Argument(self._wrapped(node), name, True)
        return tree.Argument(self.expression(node))

    # ── names and what hangs on them ──────────────────────────────────────────────────────────────

    def _name(self, node: Node) -> tree.Expr:
        return tree.Variable(written(node), line_of(node))

    def _attribute(self, node: Node) -> tree.Expr:
        name = node.child_by_field_name("attribute")
        of = self.expression(node.child_by_field_name("object"))
        return tree.Member(of, written(name), line_of(name or node))

    def _call(self, node: Node) -> tree.Expr:
        function = self.expression(node.child_by_field_name("function"))
        line = function.line if isinstance(function, tree.Member) else line_of(node)
        return tree.Call(function, self.arguments(node.child_by_field_name("arguments")), line)

    def _subscript(self, node: Node) -> tree.Expr:
        keys = [one for one in node.children_by_field_name("subscript") if one.is_named]
        of = self.expression(node.child_by_field_name("value"))
        return tree.Subscript(of, self._keys(keys, line_of(node)), line_of(node))

    def _generic(self, node: Node) -> tree.Expr:
        parts = inside(node)
        keys = inside(parts[1]) if len(parts) > 1 else []
        return tree.Subscript(self.expression(parts[0]), self._keys(keys, line_of(node)), line_of(node))

    def _keys(self, keys: list[Node], line: int) -> tree.Expr:
        if len(keys) == 1:
            return self.expression(keys[0])
        return tree.Collected(tuple(tree.Entry(self.expression(one)) for one in keys), line, "tuple")

    def _member_type(self, node: Node) -> tree.Expr:
        parts = inside(node)
        return tree.Member(self.expression(parts[0]), written(parts[-1]), line_of(node))

    def _union(self, node: Node) -> tree.Expr:
        parts = [self.expression(one) for one in inside(node)] or [self.opaque(node)]
        joined = parts[0]
        for one in parts[1:]:
            joined = tree.Operation("|", joined, one, line_of(node))
        return joined

    # ── literals ──────────────────────────────────────────────────────────────────────────────────

    def _number(self, node: Node) -> tree.Expr:
        try:
            value = ast.literal_eval(written(node))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return self.opaque(node)
        return tree.Literal(value, line_of(node)) if isinstance(value, int | float) else self.opaque(node)

    def _joined(self, node: Node) -> tree.Expr:
        parts = [self._string(one) for one in inside(node)]
        if all(isinstance(one, tree.Literal) for one in parts):
            text = "".join(str(one.value) for one in parts if isinstance(one, tree.Literal))
            return tree.Literal(text, line_of(node))
        return tree.Text(tuple(parts), line_of(node))

    def _string(self, node: Node) -> tree.Expr:
        if node.type != "string" or not node.children:
            return self.opaque(node)
        opening = written(node.children[0]).lower()
        if "b" in opening.rstrip("'\""):
            return self.opaque(node, "bytes")
        parts: list[tree.Expr] = []
        for one in node.named_children:
            if one.type == "string_content":
                parts.append(tree.Literal(_content(one, opening), line_of(one)))
            elif one.type == "interpolation":
                parts.append(self._interpolated(one))
        if all(isinstance(one, tree.Literal) for one in parts):
            text = "".join(str(one.value) for one in parts if isinstance(one, tree.Literal))
            return tree.Literal(text, line_of(node))
        return tree.Text(tuple(parts), line_of(node))

    def _interpolated(self, node: Node) -> tree.Expr:
        if any(one.type in ("format_specifier", "type_conversion") for one in node.named_children):
            return self.opaque(node, "formatted")
        return self.expression(node.child_by_field_name("expression"))

    def _collected(self, node: Node) -> tree.Expr:
        return tree.Collected(tuple(self._entry(one) for one in inside(node)), line_of(node), COLLECTED[node.type])

    def _dictionary(self, node: Node) -> tree.Expr:
        return tree.Collected(tuple(self._entry(one) for one in inside(node)), line_of(node), "dict")

    def _entry(self, node: Node) -> tree.Entry:
        if node.type == "pair":
            key = self.expression(node.child_by_field_name("key"))
            return tree.Entry(self.expression(node.child_by_field_name("value")), key)
        if node.type in ("list_splat", "dictionary_splat", "list_splat_pattern"):
            return tree.Entry(self._wrapped(node), spread=True)
        return tree.Entry(self.expression(node))

    def _comprehended(self, node: Node) -> tree.Expr:
        loops: list[tuple[tree.Expr, tree.Expr, tuple[tree.Expr, ...]]] = []
        for one in inside(node):
            if one.type == "for_in_clause":
                target = self.expression(one.child_by_field_name("left"))
                loops.append((target, self.expression(one.child_by_field_name("right")), ()))
            elif one.type == "if_clause" and loops:
                target, over, tests = loops[-1]
                loops[-1] = (target, over, (*tests, self._wrapped(one)))
        body = node.child_by_field_name("body")
        entry = self._entry(body) if body is not None else tree.Entry(self.opaque(node))
        return tree.Comprehended(entry, tuple(loops), line_of(node), COMPREHENDED[node.type])

    # ── operations ────────────────────────────────────────────────────────────────────────────────

    def _wrapped(self, node: Node) -> tree.Expr:
        parts = inside(node)
        return self.expression(parts[0]) if parts else self.opaque(node)

    def _binary(self, node: Node) -> tree.Expr:
        left = self.expression(node.child_by_field_name("left"))
        right = self.expression(node.child_by_field_name("right"))
        return tree.Operation(written(node.child_by_field_name("operator")), left, right, line_of(node))

    def _boolean(self, node: Node) -> tree.Expr:
        operator = written(node.child_by_field_name("operator"))
        left = self.expression(node.child_by_field_name("left"))
        right = self.expression(node.child_by_field_name("right"))
        if operator == "or":
            return tree.Choice(left, None, right, line_of(node))
        return tree.Operation("and", left, right, line_of(node))

    def _comparison(self, node: Node) -> tree.Expr:
        values = [self.expression(one) for one in inside(node)]
        signs = [" ".join(written(one).split()) for one in node.children_by_field_name("operators")]
        joined: tree.Expr | None = None
        for sign, left, right in zip(signs, values, values[1:], strict=False):
            compared = tree.Operation(sign, left, right, line_of(node))
            joined = compared if joined is None else tree.Operation("and", joined, compared, line_of(node))
        return joined or self.opaque(node)

    def _prefixed(self, node: Node) -> tree.Expr:
        sign = "not" if node.type == "not_operator" else written(node.child_by_field_name("operator"))
        return tree.Operation(sign, self.expression(node.child_by_field_name("argument")), None, line_of(node))

    def _choice(self, node: Node) -> tree.Expr:
        parts = inside(node)
        if len(parts) != 3:
            return self.opaque(node)
        then, test, other = (self.expression(one) for one in parts)
        return tree.Choice(test, then, other, line_of(node))

    def _walrus(self, node: Node) -> tree.Expr:
        target = self.expression(node.child_by_field_name("name"))
        return tree.Assigned(target, self.expression(node.child_by_field_name("value")), line_of(node))

    def _assignment(self, node: Node) -> tree.Expr:
        kind = node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        operator = written(node.child_by_field_name("operator")).removesuffix("=")
        value = self.expression(right) if right is not None else tree.Opaque("no value", "", line_of(node))
        noted = self.expression(kind) if kind is not None else None
        target = self.expression(node.child_by_field_name("left"))
        return tree.Assigned(target, value, line_of(node), operator, noted)

    def _lambda(self, node: Node) -> tree.Expr:
        return self.opaque(node)


def _content(node: Node, opening: str) -> str:
    """Return what a piece of a string says, its escapes and doubled braces undone."""
    text = written(node)
    prefix = opening.rstrip("'\"")
    if "f" in prefix:
        text = text.replace("{{", "{").replace("}}", "}")
    if "\\" not in text or "r" in prefix:
        return text
    quoted = '"""' + text.replace('"', '\\"').replace('\\\\"', '\\"') + '"""'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(quoted)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    return value if isinstance(value, str) else text
