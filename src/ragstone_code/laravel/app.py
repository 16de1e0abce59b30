"""A Laravel application as the passes see it: where it lies, its own classes, what each descends from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import join, normpath

from ragstone.code import tree
from ragstone.code.world import World
from ragstone.types import Alias, Json, Node
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, called_name, text_of

LEFT_OUT = (
    "vendor",
    "node_modules",
    "tests",
    "test",
    "storage",
    "public",
    "stubs",
    "bootstrap/cache",
    "lang",
    "resources",
)
"""Folders whose PHP is not the application's own."""


@dataclass(frozen=True, slots=True)
class AppClass:
    """A class of the application and its file."""

    uri: str
    definition: tree.Class

    @property
    def name(self) -> str:
        """Return its full name."""
        return self.definition.name


@dataclass
class App:
    """The application in a folder of a project."""

    world: World
    prefix: str = ""
    """The folder it lies in, with a slash at its end; nothing for the top."""
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Return its PHP files, without tests and what is generated."""
        out = tuple(f"{self.prefix}{folder}/" for folder in (*LEFT_OUT, *self._only_for_tests()))
        anywhere = ("/vendor/", "/node_modules/", "/tests/", "/Tests/", "/lang/", "/views/")
        return tuple(
            uri
            for uri in self.world.below(self.prefix.rstrip("/"), ".php")
            if not uri.startswith(out) and not any(part in uri for part in anywhere)
        )

    @cached_property
    def classes(self) -> dict[str, AppClass]:
        """Return its classes by their full names in lower case; of two of one name, the first path counts."""
        found: dict[str, AppClass] = {}
        for uri in self.sources:
            module = self.world.module(uri)
            for one in module.classes if module else ():
                found.setdefault(one.name.lower(), AppClass(uri, one))
        return found

    def find_class(self, name: str) -> AppClass | None:
        """Return a class of the application by its full name."""
        return self.classes.get(name.lower().lstrip("\\"))

    def lineage(self, name: str) -> Iterator[str]:
        """Yield everything a class is: itself, then parents, interfaces and traits, the nearest first."""
        seen: set[str] = set()
        waiting = [name.lstrip("\\")]
        while waiting:
            here = waiting.pop(0)
            if here.lower() in seen:
                continue
            seen.add(here.lower())
            yield here
            known = self.find_class(here)
            if known:
                one = known.definition
                waiting += [*one.extends, *(trait for trait, _ in one.traits), *one.implements]

    def is_a(self, name: str, bases: frozenset[str]) -> bool:
        """Return whether a class is one of these or descends from one; bases are in lower case."""
        return any(one.lower() in bases for one in self.lineage(name))

    def find_method(self, name: str, method: str) -> tuple[AppClass, tree.Function] | None:
        """Return a method and the class that writes it, looked for as PHP does: class, traits, parents."""
        for one in self.lineage(name):
            known = self.find_class(one)
            found = known.definition.method(method) if known else None
            if known and found:
                return known, found
        return None

    def find_property(self, name: str, wanted: str) -> tuple[AppClass, tree.Property] | None:
        """Return a property that is written in a class or in what it descends from."""
        for one in self.lineage(name):
            known = self.find_class(one)
            for found in known.definition.properties if known else ():
                if found.name.lstrip("$") == wanted and known:
                    return known, found
        return None

    def field_type(self, owner: str, expression: SyntaxNode) -> str:
        """Return the written type of `$this->name`, promoted parameters counted; nothing for anything else."""
        known = self.find_class(owner)
        own = isinstance(expression, tree.Member) and isinstance(expression.of, tree.Variable)
        if known is None or not own or expression.of.name.lstrip("$") != "this":
            return ""
        made = known.definition.method("__construct")
        fields = [(one.name, one.type) for one in known.definition.properties]
        fields += [(one.name, one.type) for one in (made.parameters if made else ())]
        typed = (written for name, written in fields if name.lstrip("$") == expression.name and written)
        return next((name for one in typed for name in one.names), "")

    def own_class_node(self, known: AppClass, kind: str, attributes: dict[str, Json] | None = None) -> Node:
        """Return a class as a node of a framework's kind."""
        one = known.definition
        return Node(
            f"class:{one.name}", kind, one.short, known.uri, one.line, one.line_end,
            doc=one.doc, language="php", framework="laravel", attributes=attributes or {},
        )  # fmt: skip

    def outside_class_node(self, name: str, kind: str) -> Node:
        """Return a class that is not the application's own: it has no file."""
        return Node(f"class:{name}", kind, name.rpartition("\\")[2], language="php", framework="laravel")

    def class_node(self, name: str, kind: str, attributes: dict[str, Json] | None = None) -> Node:
        """Return a class as a node, whether it is the application's own or not."""
        known = self.find_class(name)
        return self.own_class_node(known, kind, attributes) if known else self.outside_class_node(name, kind)

    def declared_name(self, name: str) -> str:
        """Return a class's name in the case it is declared in."""
        known = self.find_class(name)
        return known.name if known else name.lstrip("\\")

    def resolve_path(self, expression: SyntaxNode) -> str | None:
        """Return a path that is put together with `__DIR__`, `base_path` and their like, None where it is not known."""
        if isinstance(expression, tree.Operation) and expression.operator == ".":
            left, right = self.resolve_path(expression.left), text_of(expression.right)
            return None if left is None or right is None else self._joined(left, right)
        if isinstance(expression, tree.Text):
            pieces = [self.resolve_path(part) for part in expression.parts]
            return None if None in pieces else normpath("".join(filter(None, pieces))).lstrip("/")
        if isinstance(expression, tree.Call) and called_name(expression) == "dirname":
            inner, levels = self.resolve_path(argument_at(expression, 0)), argument_at(expression, 1)
            steps = levels.value if isinstance(levels, tree.Literal) and isinstance(levels.value, int) else 1
            return None if inner is None else normpath(join(inner, *([".."] * min(steps, 9))))
        if isinstance(expression, tree.Call):
            root = {"base_path": "", "basePath": "", "app_path": "app", "path": "app"}.get(called_name(expression))
            below = text_of(argument_at(expression, 0)) if expression.arguments else ""
            return None if root is None or below is None else self._joined(join(self.prefix, root), "/" + below)
        return text_of(expression)

    @staticmethod
    def _joined(left: str, right: str) -> str:
        """Return two pieces of a path as one, without dots."""
        return normpath(left + right).lstrip("/") if left else normpath(right.lstrip("/"))

    def _only_for_tests(self) -> tuple[str, ...]:
        """Return the folders that composer loads for development only."""
        text = self.world.read(f"{self.prefix}composer.json")
        try:
            told = json.loads(text or "{}").get("autoload-dev", {}).get("psr-4", {})
            folders = [folder for value in told.values() for folder in (value if isinstance(value, list) else [value])]
        except (ValueError, AttributeError):
            return ()
        return tuple(folder.strip("/") for folder in folders if isinstance(folder, str) and folder.strip("/."))


def class_aliases(nodes: Iterator[Node] | tuple[Node, ...]) -> tuple[Alias, ...]:
    """Return the full and the short name of every class among the nodes."""
    return tuple(
        Alias(name, node.key, kind, node.uri)
        for node in nodes
        if node.key.startswith("class:")
        for name, kind in ((node.key.removeprefix("class:"), "class"), (node.name, "short_class"))
    )
