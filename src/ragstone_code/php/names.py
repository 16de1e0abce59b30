"""What a PHP name means: by the namespace it stands in and the `use` lines of its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

RELATIVE: Final = frozenset({"self", "static", "parent"})


def text_of(node: Node | None) -> str:
    """Return the text of a syntax node, nothing for none."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


@dataclass(slots=True)
class Names:
    """The names of one namespace section of a file."""

    namespace: str = ""
    classes: dict[str, str] = field(default_factory=dict)
    """Local name → full name, as it is written."""
    functions: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    _folded: dict[str, str] = field(default_factory=dict)

    def use(self, kind: str, full: str, alias: str) -> None:
        """Take in one `use`; the kind is "", "function" or "const"."""
        full = full.strip("\\")
        alias = alias or full.rpartition("\\")[2]
        if kind == "function":
            self.functions[alias.lower()] = full
        elif kind == "const":
            self.constants[alias] = full
        else:
            self.classes[alias] = full
            self._folded[alias.lower()] = full

    def of_class(self, written: str) -> str:
        """Return the full name of a class; `self`, `static` and `parent` stay."""
        written = "".join(written.split())
        if written.lower() in RELATIVE:
            return written.lower()
        if written.startswith("\\"):
            return written[1:]
        first, _, rest = written.partition("\\")
        if rest and first.lower() == "namespace":
            return self.declared(rest)
        known = self.classes.get(first) or self._folded.get(first.lower())
        if known:
            return f"{known}\\{rest}" if rest else known
        return self.declared(written)

    def of_function(self, written: str) -> str:
        """Return the full name of a function; a bare one that is not imported stays bare: PHP looks in two places."""
        if "\\" in written:
            return self.of_class(written)
        return self.functions.get(written.lower(), written)

    def of_constant(self, written: str) -> str:
        """Return the full name of a constant, a bare one as it is written unless imported."""
        if "\\" in written:
            return self.of_class(written)
        return self.constants.get(written, written)

    def declared(self, name: str) -> str:
        """Return the full name of what is declared here under a name."""
        return f"{self.namespace}\\{name}" if self.namespace else name


def read_use(names: Names, node: Node) -> None:
    """Take in a `use` line of a file: plain, aliased, in a group, of functions and constants."""
    kind = _kind(node)
    group = node.child_by_field_name("body")
    prefix = ""
    if group is not None:
        prefix = next((text_of(one) for one in node.named_children if one.type == "namespace_name"), "")
    for clause in (group or node).named_children:
        if clause.type != "namespace_use_clause":
            continue
        alias = clause.child_by_field_name("alias")
        written = next((one for one in clause.named_children if one.type in ("name", "qualified_name")), None)
        if written is None:
            continue
        full = f"{prefix}\\{text_of(written)}" if prefix else text_of(written)
        names.use(_kind(clause) or kind, "".join(full.split()), text_of(alias))


def _kind(node: Node) -> str:
    """Return whether a `use` is of functions or constants."""
    return next((one.type for one in node.children if one.type in ("function", "const")), "")
