"""Resolution of PHP names by the namespace and the `use` lines of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

RELATIVE: Final = frozenset({"self", "static", "parent"})


def text_of(node: Node | None) -> str:
    """Return the source text of a syntax node; an empty text if there is no node."""
    if node is None or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace")


@dataclass(slots=True)
class NamespaceNames:
    """The namespace of a file section and its imported names."""

    namespace: str = ""
    classes: dict[str, str] = field(default_factory=dict)
    """Local name → full name, as written."""
    functions: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    _classes_by_lower_name: dict[str, str] = field(default_factory=dict)

    def add_import(self, kind: str, full_name: str, alias: str) -> None:
        """Add an imported name; the kind is "", "function" or "const"."""
        full_name = full_name.strip("\\")
        alias = alias or full_name.rpartition("\\")[2]
        if kind == "function":
            self.functions[alias.lower()] = full_name
        elif kind == "const":
            self.constants[alias] = full_name
        else:
            self.classes[alias] = full_name
            self._classes_by_lower_name[alias.lower()] = full_name

    def resolve_class(self, written: str) -> str:
        """Return the full name of a class; `self`, `static` and `parent` stay as they are."""
        written = "".join(written.split())
        if written.lower() in RELATIVE:
            return written.lower()
        if written.startswith("\\"):
            return written[1:]
        first, _, rest = written.partition("\\")
        if rest and first.lower() == "namespace":
            return self.qualify(rest)
        imported = self.classes.get(first) or self._classes_by_lower_name.get(first.lower())
        if not imported:
            return self.qualify(written)
        if rest:
            return f"{imported}\\{rest}"
        return imported

    def resolve_function(self, written: str) -> str:
        """Return the full name of a function; a bare name stays bare if it is not imported."""
        if "\\" in written:
            return self.resolve_class(written)
        return self.functions.get(written.lower(), written)

    def resolve_constant(self, written: str) -> str:
        """Return the full name of a constant; a bare name stays bare if it is not imported."""
        if "\\" in written:
            return self.resolve_class(written)
        return self.constants.get(written, written)

    def qualify(self, name: str) -> str:
        """Return a name with the current namespace in front."""
        if not self.namespace:
            return name
        return f"{self.namespace}\\{name}"


def read_imports(names: NamespaceNames, node: Node) -> None:
    """Add the names of a `use` line: plain, aliased, grouped, of functions and of constants."""
    kind = _import_kind(node)
    group = node.child_by_field_name("body")
    prefix = ""
    if group is not None:
        prefix = _group_prefix(node)
    for clause in (group or node).named_children:
        if clause.type == "namespace_use_clause":
            _read_import_clause(names, clause, prefix, kind)


def _group_prefix(node: Node) -> str:
    for child in node.named_children:
        if child.type == "namespace_name":
            return f"{text_of(child)}\\"
    return ""


def _read_import_clause(
    names: NamespaceNames,
    clause: Node,
    prefix: str,
    kind: str,
) -> None:
    for child in clause.named_children:
        if child.type in ("name", "qualified_name"):
            full_name = "".join(f"{prefix}{text_of(child)}".split())
            alias = text_of(clause.child_by_field_name("alias"))
            names.add_import(_import_kind(clause) or kind, full_name, alias)
            return


def _import_kind(node: Node) -> str:
    """Return "function" or "const" for such imports, else an empty text."""
    for child in node.children:
        if child.type in ("function", "const"):
            return child.type
    return ""
