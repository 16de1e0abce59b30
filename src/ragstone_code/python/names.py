"""Full names in a Python file: what its path makes of it, what it imports, what it defines."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

from ragstone.code.names import namespace_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

BUILTIN: Final = frozenset(dir(builtins))
HOLDING: Final = ("module", "block", "_statement", "_clause", "_definition", "ERROR")
"""How the kinds of nodes end that statements stand in."""
PLAIN: Final = frozenset(("expression_statement", "return_statement", "raise_statement", "for_in_clause", "if_clause"))


def module_of(uri: str) -> str:
    """Return the dotted name of a file: `src/shop/models/__init__.py` is `shop.models`."""
    return namespace_of("python", uri, "")


def package_of(uri: str) -> str:
    """Return the package a file's relative imports start from."""
    module = module_of(uri)
    return module if uri.endswith(("/__init__.py", "/__init__.pyi")) else module.rpartition(".")[0]


def written(node: Node | None) -> str:
    """Return the text of a node."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def line_of(node: Node) -> int:
    """Return the line a node begins on, from 1."""
    # By position: asking a point for its `row` by name ends the process in tree-sitter 0.26.
    return node.start_point[0] + 1


def inside(node: Node) -> list[Node]:
    """Return what a node is made of: no signs, no comments."""
    return [one for one in node.named_children if one.type not in ("comment", "line_continuation")]


class Names:
    """The names of one file."""

    def __init__(self, module: str, package: str) -> None:
        self.module = module
        self.package = package
        self.imports: dict[str, str] = {}
        self.defined: set[str] = set()

    def gather(self, root: Node) -> None:
        """Note all imports, those of functions too, and the classes and functions of the file's top."""
        waiting, order = [(root, True)], []
        while waiting:
            node, top = waiting.pop()
            if node.type in ("import_statement", "import_from_statement"):
                order.append((not top, node))
                continue
            if top and node.type in ("class_definition", "function_definition"):
                self.defined.add(written(node.child_by_field_name("name")))
            below = top and node.type not in ("class_definition", "function_definition", "lambda")
            if node.type not in PLAIN and node.type.endswith(HOLDING):
                waiting.extend((one, below) for one in reversed(node.named_children))
        for _, node in sorted(order, key=lambda one: one[0]):  # what the top imports goes before what a function does
            for name, full in self.imported(node):
                self.imports.setdefault(f"*{full}" if name == "*" else name, full)

    def imported(self, node: Node) -> Iterator[tuple[str, str]]:
        """Yield (local name, full name) for an import; a star has the module beside it."""
        if node.type == "import_statement":
            for one in node.children_by_field_name("name"):
                yield self._plain(one)
            return
        source = self._source(node.child_by_field_name("module_name"))
        if any(one.type == "wildcard_import" for one in node.named_children):
            yield "*", source
        for one in node.children_by_field_name("name"):
            aliased = one.type == "aliased_import"
            name = written(one.child_by_field_name("name") if aliased else one)
            alias = written(one.child_by_field_name("alias")) if aliased else name
            yield alias, f"{source}.{name}" if source else name

    def _plain(self, node: Node) -> tuple[str, str]:
        if node.type == "aliased_import":
            return written(node.child_by_field_name("alias")), written(node.child_by_field_name("name"))
        top = written(node).partition(".")[0]
        return top, top

    def _source(self, node: Node | None) -> str:
        """Return the full name of what an import takes from; dots count from the file's package."""
        text = written(node).replace(" ", "")
        name = text.lstrip(".")
        dots = len(text) - len(name)
        if not dots:
            return name
        package = self.package.split(".") if self.package else []
        kept = package[: max(0, len(package) - dots + 1)]
        return ".".join([*kept, name] if name else kept)

    def full(self, name: str) -> str:
        """Return the full name of a name as it is written here; one of Python's own stays as it is."""
        first, dot, rest = name.partition(".")
        if first in self.imports:
            return f"{self.imports[first]}{dot}{rest}"
        if first in self.defined and self.module:
            return f"{self.module}.{name}"
        return name
