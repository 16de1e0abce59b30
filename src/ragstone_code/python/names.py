"""Full names in a Python file: from its path, its imports and its definitions."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

from ragstone.code.names import namespace_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

BUILTIN: Final = frozenset(dir(builtins))
_CONTAINERS: Final = ("module", "block", "_statement", "_clause", "_definition", "ERROR")
"""Suffixes of the node types that can contain import statements."""
_LEAVES: Final = frozenset(
    (
        "expression_statement",
        "return_statement",
        "raise_statement",
        "for_in_clause",
        "if_clause",
    )
)


def module_of(uri: str) -> str:
    """Return the dotted name of a file: `src/shop/models/__init__.py` is `shop.models`."""
    return namespace_of("python", uri, "")


def package_of(uri: str) -> str:
    """Return the package that relative imports of a file start from."""
    module = module_of(uri)
    if uri.endswith(("/__init__.py", "/__init__.pyi")):
        return module
    return module.rpartition(".")[0]


def text_of(node: Node | None) -> str:
    """Return the source text of a node; an empty text if there is no node."""
    if node is None or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace")


def line_of(node: Node) -> int:
    """Return the first line of a node, counted from 1."""
    # Index the point: reading its `row` attribute crashes the process in tree-sitter 0.26.
    return node.start_point[0] + 1


def end_line_of(node: Node) -> int:
    """Return the last line of a node, counted from 1."""
    return node.end_point[0] + 1


def children_of(node: Node) -> list[Node]:
    """Return the named children of a node except comments."""
    return [
        child
        for child in node.named_children
        if child.type not in ("comment", "line_continuation")
    ]


class ModuleNames:
    """The imported and defined names of one file."""

    def __init__(self, module: str, package: str) -> None:
        self.module = module
        self.package = package
        self.imports: dict[str, str] = {}
        self.defined: set[str] = set()

    def collect(self, root: Node) -> None:
        """Collect all imports of the file and the classes and functions of its top level."""
        imports: dict[bool, list[Node]] = {True: [], False: []}
        pending = [(root, True)]
        while pending:
            node, is_top_level = pending.pop()
            if node.type in ("import_statement", "import_from_statement"):
                imports[is_top_level].append(node)
                continue
            is_definition = node.type in ("class_definition", "function_definition")
            if is_top_level and is_definition:
                self.defined.add(text_of(node.child_by_field_name("name")))
            if node.type not in _LEAVES and node.type.endswith(_CONTAINERS):
                is_inner_top_level = is_top_level and not is_definition
                pending.extend(
                    (child, is_inner_top_level) for child in reversed(node.named_children)
                )
        for node in (*imports[True], *imports[False]):
            self._add_imports(node)

    def _add_imports(self, node: Node) -> None:
        """Add the names of an import; the first import of a name wins."""
        for name, full in self.imported_names(node):
            if name == "*":
                self.imports.setdefault(f"*{full}", full)
            else:
                self.imports.setdefault(name, full)

    def imported_names(self, node: Node) -> Iterator[tuple[str, str]]:
        """Yield (local name, full name) for an import; `*` comes with the name of its module."""
        imported = node.children_by_field_name("name")
        if node.type == "import_statement":
            for child in imported:
                yield self._imported_module(child)
            return
        source = self._import_source(node.child_by_field_name("module_name"))
        if any(child.type == "wildcard_import" for child in node.named_children):
            yield "*", source
        for child in imported:
            name, alias = _name_and_alias(child)
            if source:
                yield alias, f"{source}.{name}"
            else:
                yield alias, name

    def _imported_module(self, node: Node) -> tuple[str, str]:
        if node.type == "aliased_import":
            name, alias = _name_and_alias(node)
            return alias, name
        top_package = text_of(node).partition(".")[0]
        return top_package, top_package

    def _import_source(self, node: Node | None) -> str:
        """Return the full name of the module after `from`; leading dots count from the file's package."""
        text = text_of(node).replace(" ", "")
        name = text.lstrip(".")
        dots = len(text) - len(name)
        if not dots:
            return name
        package_parts: list[str] = []
        if self.package:
            package_parts = self.package.split(".")
        source = package_parts[: max(0, len(package_parts) - dots + 1)]
        if name:
            source.append(name)
        return ".".join(source)

    def resolve(self, name: str) -> str:
        """Return the full name of a written name; a name that is not imported or defined stays as it is."""
        first, dot, rest = name.partition(".")
        if first in self.imports:
            return f"{self.imports[first]}{dot}{rest}"
        if first in self.defined and self.module:
            return f"{self.module}.{name}"
        return name


def _name_and_alias(node: Node) -> tuple[str, str]:
    if node.type == "aliased_import":
        return text_of(node.child_by_field_name("name")), text_of(
            node.child_by_field_name("alias")
        )
    name = text_of(node)
    return name, name
