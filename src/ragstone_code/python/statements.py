"""Python's statements, functions and classes as the one shape of program has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragstone.code import tree
from ragstone_code.python.expressions import Expressions
from ragstone_code.python.names import Names, inside, line_of, written
from ragstone_code.python.types import typed

if TYPE_CHECKING:
    from tree_sitter import Node

Block = tuple[tree.Statement, ...]
NESTED = 30
"""How deep statements may stand in statements before the rest is left out."""


class Statements(Expressions):
    """Maps statements, and keeps every class and every function that is not a method."""

    def __init__(self, names: Names) -> None:
        super().__init__(names)
        self.classes: list[tree.Class] = []
        self.functions: list[tree.Function] = []
        self._where: tuple[str, ...] = ()
        self._in_class = False
        self._ends: dict[str, Callable[[Node], Block]] = {
            "expression_statement": self._alone,
            "return_statement": self._return,
            "if_statement": self._if,
            "for_statement": self._for,
            "while_statement": self._while,
            "try_statement": self._try,
            "with_statement": self._with,
            "match_statement": self._match,
            "import_statement": self._import,
            "import_from_statement": self._import,
            "function_definition": self._function,
            "class_definition": self._class,
            "decorated_definition": self._decorated,
            "type_alias_statement": self._alias,
            "assert_statement": self._kept,
            "delete_statement": self._kept,
            **{f"{how}_statement": self._leave for how in ("raise", "break", "continue")},
        }

    def block(self, node: Node | None) -> Block:
        """Return the statements of a block, in their order."""
        found: list[tree.Statement] = []
        if node is None or self.depth > NESTED:
            return ()
        self.depth += 1
        for one in inside(node):
            way = self._ends.get(one.type)
            found.extend(way(one) if way else ())
        self.depth -= 1
        return tuple(found)

    # ── plain statements ──────────────────────────────────────────────────────────────────────────

    def _alone(self, node: Node) -> Block:
        parts = inside(node)
        if len(parts) > 1:  # `a, b` by itself
            return tuple(tree.Do(self.expression(one), line_of(one)) for one in parts)
        return tuple(tree.Do(self.expression(one), line_of(node)) for one in parts)

    def _kept(self, node: Node) -> Block:
        return (tree.Do(self.opaque(node), line_of(node)),)

    def _alias(self, node: Node) -> Block:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return (tree.Do(tree.Assigned(self.expression(left), self.expression(right), line_of(node)), line_of(node)),)

    def _return(self, node: Node) -> Block:
        parts = inside(node)
        return (tree.Return(self.expression(parts[0]) if parts else None, line_of(node)),)

    def _leave(self, node: Node) -> Block:
        return (tree.Leave(node.type.removesuffix("_statement"), line_of(node)),)

    def _import(self, node: Node) -> Block:
        line = line_of(node)
        made: list[tree.Statement] = []
        for name, full in self.names.imported(node):
            if name == "*":
                made.append(tree.Do(tree.Included(tree.Literal(full, line), line), line))
            else:
                taken = tree.ClassName(full, name, line)
                made.append(tree.Do(tree.Assigned(tree.Variable(name, line), taken, line), line))
        if node.type == "import_statement":  # `import a.b` brings `a` and runs `a.b`
            for one in node.children_by_field_name("name"):
                if one.type == "dotted_name" and "." in written(one):
                    made.append(tree.Do(tree.ClassName(written(one), written(one), line), line))
        return tuple(made)

    # ── statements with blocks ────────────────────────────────────────────────────────────────────

    def _if(self, node: Node) -> Block:
        test = self.expression(node.child_by_field_name("condition"))
        branches: list[tuple[tree.Expr | None, Block]] = [(test, self.block(node.child_by_field_name("consequence")))]
        for one in node.children_by_field_name("alternative"):
            condition = one.child_by_field_name("condition")
            body = one.child_by_field_name("consequence") or one.child_by_field_name("body")
            branches.append((self.expression(condition) if condition is not None else None, self.block(body)))
        return (tree.If(tuple(branches), line_of(node)),)

    def _for(self, node: Node) -> Block:
        over = self.expression(node.child_by_field_name("right"))
        target = self.expression(node.child_by_field_name("left"))
        loop = tree.Each(over, target, None, self.block(node.child_by_field_name("body")), line_of(node))
        return (loop, *self._otherwise(node))

    def _while(self, node: Node) -> Block:
        return (tree.Repeated(self.block(node.child_by_field_name("body")), line_of(node)), *self._otherwise(node))

    def _otherwise(self, node: Node) -> Block:
        other = node.child_by_field_name("alternative")
        return self.block(other.child_by_field_name("body")) if other is not None else ()

    def _try(self, node: Node) -> Block:
        handlers: list[Block] = []
        body, after = self.block(node.child_by_field_name("body")), self.block(None)
        for one in inside(node):
            inner = one.child_by_field_name("body") or next((x for x in inside(one) if x.type == "block"), None)
            if one.type in ("except_clause", "except_group_clause"):
                handlers.append(self.block(inner))
            elif one.type == "else_clause":
                body += self.block(inner)
            elif one.type == "finally_clause":
                after = self.block(inner)
        return (tree.Attempt(body, tuple(handlers), after, line_of(node)),)

    def _with(self, node: Node) -> Block:
        opened: list[tree.Statement] = []
        items = [item for clause in inside(node) if clause.type == "with_clause" for item in inside(clause)]
        for item in items:
            value = item.child_by_field_name("value") or item
            target = value.child_by_field_name("alias") if value.type == "as_pattern" else None
            made = self._wrapped(value) if value.type == "as_pattern" else self.expression(value)
            if target is not None:
                made = tree.Assigned(self.expression(target), made, line_of(item))
            opened.append(tree.Do(made, line_of(item)))
        return (tree.Attempt((*opened, *self.block(node.child_by_field_name("body"))), line=line_of(node)),)

    def _match(self, node: Node) -> Block:
        subject = self.expression(node.child_by_field_name("subject"))
        body = node.child_by_field_name("body")
        branches: list[tuple[tree.Expr | None, Block]] = []
        for one in inside(body) if body is not None else []:
            patterns = [part for part in inside(one) if part.type == "case_pattern"]
            guarded = one.child_by_field_name("guard") is not None
            test = None if guarded else self._pattern(patterns, subject)
            anything = not guarded and len(patterns) == 1 and written(patterns[0]) == "_"
            block = self.block(one.child_by_field_name("consequence"))
            branches.append((None if anything else test or self.opaque(one, "pattern"), block))
        return (tree.If(tuple(branches), line_of(node)),) if branches else ()

    def _pattern(self, patterns: list[Node], subject: tree.Expr) -> tree.Expr | None:
        """Return a test where the pattern is one plain value."""
        if len(patterns) != 1 or len(inside(patterns[0])) != 1:
            return None
        value = self.expression(inside(patterns[0])[0])
        return tree.Operation("==", subject, value, value.line) if isinstance(value, tree.Literal) else None

    # ── definitions ───────────────────────────────────────────────────────────────────────────────

    def _decorated(self, node: Node) -> Block:
        definition = node.child_by_field_name("definition")
        decorators = tuple(self._wrapped(one) for one in inside(node) if one.type == "decorator")
        if definition is None:
            return ()
        way = self._class if definition.type == "class_definition" else self._function
        return way(definition, decorators)

    def _function(self, node: Node, decorators: tuple[tree.Expr, ...] = ()) -> Block:
        name, method = written(node.child_by_field_name("name")), self._in_class
        body, returns = node.child_by_field_name("body"), node.child_by_field_name("return_type")
        where = (*self._where, name)
        words = {one.name for one in decorators if isinstance(one, tree.Variable)}
        made = tree.Function(
            name=name,
            parameters=self._parameters(node.child_by_field_name("parameters")),
            body=tree.Body(lambda: self._deferred(body, where)),
            line=line_of(node),
            line_end=node.end_point[0] + 1,
            returns=typed(returns, self.names),
            attributes=decorators,
            static="staticmethod" in words,
            visibility="private" if name.startswith("_") and not name.endswith("__") else "public",
            abstract="abstractmethod" in words,
            doc=_doc(body),
            returned=self.expression(returns) if returns is not None else None,
        )
        if not method:
            self.functions.append(made)
        return (made,)

    def _deferred(self, body: Node | None, where: tuple[str, ...]) -> Block:
        """Return the body of a function: mapped when it is asked for; what it defines is not the file's own."""
        inner = Statements(self.names)
        inner._where = where
        return inner.block(body)

    def _lambda(self, node: Node) -> tree.Expr:
        body, line = node.child_by_field_name("body"), line_of(node)
        made = tree.Function(
            name="",
            parameters=self._parameters(node.child_by_field_name("parameters")),
            body=tree.Body(lambda: (tree.Return(Statements(self.names).expression(body), line),)),
            line=line,
            line_end=node.end_point[0] + 1,
        )
        return tree.Closure(made, line)

    def _parameters(self, node: Node | None) -> tuple[tree.Parameter, ...]:
        if node is None:
            return ()
        skipped = ("positional_separator", "keyword_separator")
        return tuple(self._parameter(one) for one in inside(node) if one.type not in skipped)

    def _parameter(self, node: Node) -> tree.Parameter:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        kind = node.child_by_field_name("type")
        if named is None:
            named = inside(node)[0] if node.type == "typed_parameter" and inside(node) else node
        text = written(named)
        return tree.Parameter(
            name=text.lstrip("*").strip(),
            type=typed(kind, self.names),
            default=self.expression(value) if value is not None else None,
            spread=text.startswith("*"),
            annotation=self.expression(kind) if kind is not None else None,
        )

    def _class(self, node: Node, decorators: tuple[tree.Expr, ...] = ()) -> Block:
        short, body = written(node.child_by_field_name("name")), node.child_by_field_name("body")
        outer, was = self._where, self._in_class
        place = len(self.classes)
        self._where, self._in_class = (*outer, short), True
        statements = self.block(body)
        self._where, self._in_class = outer, was
        bases = self.arguments(node.child_by_field_name("superclasses"))
        made = tree.Class(
            name=".".join(part for part in (self.names.module, *outer, short) if part),
            kind="class",
            line=line_of(node),
            line_end=node.end_point[0] + 1,
            extends=tuple(full for one in bases if not one.name and (full := self._full(one.value))),
            attributes=decorators,
            properties=tuple(_properties(statements, body, self.names)),
            methods=tuple(one for one in statements if isinstance(one, tree.Function)),
            body=statements,
            doc=_doc(body),
            bases=bases,
        )
        self.classes.insert(place, made)
        return (made,)

    def _full(self, base: tree.Expr) -> str:
        """Return the full name of a base class, or nothing where it is computed; of a generic one, what it is of."""
        if isinstance(base, tree.Subscript):
            return self._full(base.of)
        name = dotted(base)
        return self.names.full(name) if name else ""


def dotted(expression: tree.Expr) -> str:
    """Return `a.b.c` for names with dots between them, nothing for anything else."""
    parts: list[str] = []
    while isinstance(expression, tree.Member) and isinstance(expression.name, str):
        parts.append(expression.name)
        expression = expression.of
    return ".".join([expression.name, *reversed(parts)]) if isinstance(expression, tree.Variable) else ""


def _doc(body: Node | None) -> str:
    """Return the string a block begins with."""
    first = next(iter(inside(body)), None) if body is not None else None
    said = inside(first)[0] if first is not None and first.type == "expression_statement" and inside(first) else None
    if said is None or said.type != "string":
        return ""
    text = "".join(written(one) for one in said.named_children if one.type == "string_content")
    return inspect.cleandoc(text)


def _properties(statements: Block, body: Node | None, names: Names) -> list[tree.Property]:
    """Return the names a class body sets."""
    kinds = {}
    for one in inside(body) if body is not None else []:
        set_here = next((x for x in inside(one) if x.type == "assignment"), None)
        if set_here is not None and set_here.child_by_field_name("type") is not None:
            named = written(set_here.child_by_field_name("left"))
            kinds[named] = typed(set_here.child_by_field_name("type"), names)
    found: list[tree.Property] = []
    for statement in statements:
        made = statement.expression if isinstance(statement, tree.Do) else None
        if isinstance(made, tree.Assigned) and isinstance(made.target, tree.Variable) and not made.operator:
            absent = isinstance(made.value, tree.Opaque) and made.value.reason == "no value"
            name = made.target.name
            value = None if absent else made.value
            found.append(tree.Property(name, kinds.get(name), value, statement.line, static=True))
    return found
