"""A Laravel application: its folder, its classes, and the ancestors of each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import join, normpath
from typing import Final

from ragstone.types import Alias, Json, Node
from ragstone_code import program_tree
from ragstone_code.laravel.composer import AutoloadFolders, autoload_folders
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, called_name, text_of
from ragstone_code.project_files import World

FOREIGN_FOLDERS: Final = (
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
"""Folders whose PHP is not the application's own code."""
_FOREIGN_PATH_PARTS: Final = (
    "/vendor/",
    "/node_modules/",
    "/tests/",
    "/Tests/",
    "/lang/",
    "/views/",
)
_PATH_HELPERS: Final = {"base_path": "", "basePath": "", "app_path": "app", "path": "app"}
"""Functions that return a folder of the application, and the folder."""
_MAX_DIRNAME_LEVELS: Final = 9


@dataclass(frozen=True, slots=True)
class AppClass:
    """A class of the application and its file."""

    uri: str
    definition: program_tree.Class

    @property
    def name(self) -> str:
        """Return the qualified name."""
        return self.definition.name


@dataclass
class App:
    """The application in a folder of a project."""

    world: World
    prefix: str = ""
    """The folder of the application, with a slash at the end; empty for the project root."""
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def autoload(self) -> AutoloadFolders:
        """Return the folders that composer loads classes from."""
        return autoload_folders(self.world.text(f"{self.prefix}composer.json") or "")

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Return the application's PHP files without tests and generated files."""
        folders = (*FOREIGN_FOLDERS, *self.autoload.development)
        foreign = tuple(f"{self.prefix}{folder}/" for folder in folders)
        root = self.prefix.rstrip("/")
        own = (uri for uri in self.world.below(root, ".php") if not uri.startswith(foreign))
        return tuple(uri for uri in own if not any(part in uri for part in _FOREIGN_PATH_PARTS))

    @cached_property
    def classes(self) -> dict[str, AppClass]:
        """Return the classes by qualified name in lower case; if two files declare a name, the first path wins."""
        classes: dict[str, AppClass] = {}
        for uri in self.sources:
            module = self.world.module(uri)
            if module is None:
                continue
            for definition in module.classes:
                classes.setdefault(definition.name.lower(), AppClass(uri, definition))
        return classes

    def find_class(self, name: str) -> AppClass | None:
        """Return a class of the application by its qualified name."""
        return self.classes.get(name.lower().lstrip("\\"))

    def lineage(self, name: str) -> Iterator[str]:
        """Yield the class itself, then its parents, traits and interfaces, the nearest first."""
        seen: set[str] = set()
        queue = [name.lstrip("\\")]
        while queue:
            current = queue.pop(0)
            if current.lower() in seen:
                continue
            seen.add(current.lower())
            yield current
            app_class = self.find_class(current)
            if app_class is None:
                continue
            definition = app_class.definition
            queue += definition.extends
            queue += [trait for trait, _ in definition.traits]
            queue += definition.implements

    def is_a(self, name: str, bases: frozenset[str]) -> bool:
        """Return whether a class is one of the bases or descends from one; `bases` are in lower case."""
        return any(ancestor.lower() in bases for ancestor in self.lineage(name))

    def find_method(
        self, name: str, method: str
    ) -> tuple[AppClass, program_tree.Function] | None:
        """Return a method and the class that declares it, searched in PHP's order: class, traits, parents."""
        for app_class in self._own_lineage(name):
            function = app_class.definition.method(method)
            if function:
                return app_class, function
        return None

    def find_property(
        self, name: str, property_name: str
    ) -> tuple[AppClass, program_tree.Property] | None:
        """Return a property that the class or one of its ancestors declares, and the declaring class."""
        for app_class in self._own_lineage(name):
            for declared in app_class.definition.properties:
                if declared.name.lstrip("$") == property_name:
                    return app_class, declared
        return None

    def _own_lineage(self, name: str) -> Iterator[AppClass]:
        """Yield the class and those of its ancestors that are declared in the application."""
        for ancestor in self.lineage(name):
            app_class = self.find_class(ancestor)
            if app_class:
                yield app_class

    def field_type(self, owner: str, expression: SyntaxNode) -> str:
        """Return the declared type of `$this->field`, also if a constructor promotes it; empty otherwise."""
        app_class = self.find_class(owner)
        if app_class is None or not _is_own_field(expression):
            return ""
        constructor = app_class.definition.method("__construct")
        declarations: list[program_tree.Property | program_tree.Parameter] = [
            *app_class.definition.properties
        ]
        if constructor:
            declarations += constructor.parameters
        for declared in declarations:
            if declared.name.lstrip("$") != expression.name or not declared.type:
                continue
            for class_name in declared.type.names:
                return class_name
        return ""

    def own_class_node(
        self, app_class: AppClass, kind: str, attributes: dict[str, Json] | None = None
    ) -> Node:
        """Return a class of the application as a node of this kind."""
        definition = app_class.definition
        return Node(
            f"class:{definition.name}",
            kind,
            definition.short,
            app_class.uri,
            definition.line,
            definition.line_end,
            doc=definition.doc,
            language="php",
            framework="laravel",
            attributes=attributes or {},
        )

    def outside_class_node(self, name: str, kind: str) -> Node:
        """Return a node without a file for a class that the application does not declare."""
        short = name.rpartition("\\")[2]
        return Node(f"class:{name}", kind, short, language="php", framework="laravel")

    def class_node(
        self, name: str, kind: str, attributes: dict[str, Json] | None = None
    ) -> Node:
        """Return the node of a class, whether the application declares it or not."""
        app_class = self.find_class(name)
        if app_class is None:
            return self.outside_class_node(name, kind)
        return self.own_class_node(app_class, kind, attributes)

    def declared_name(self, name: str) -> str:
        """Return a class name in the case in which it is declared."""
        app_class = self.find_class(name)
        return app_class.name if app_class else name.lstrip("\\")

    def resolve_path(self, expression: SyntaxNode) -> str | None:
        """Return the path that an expression builds with `__DIR__`, `base_path()` and similar; None if unknown."""
        if isinstance(expression, program_tree.Operation) and expression.operator == ".":
            return self._concatenated_path(expression)
        if isinstance(expression, program_tree.Text):
            return self._interpolated_path(expression)
        if isinstance(expression, program_tree.Call):
            if called_name(expression) == "dirname":
                return self._parent_path(expression)
            return self._helper_path(expression)
        return text_of(expression)

    def _concatenated_path(self, operation: program_tree.Operation) -> str | None:
        """Return the path of `left . right`."""
        start = self.resolve_path(operation.left)
        end = text_of(operation.right)
        if start is None or end is None:
            return None
        return _join_path(start, end)

    def _interpolated_path(self, text: program_tree.Text) -> str | None:
        """Return the path that a string with expressions in it spells."""
        pieces: list[str] = []
        for part in text.parts:
            piece = self.resolve_path(part)
            if piece is None:
                return None
            pieces.append(piece)
        return normpath("".join(pieces)).lstrip("/")

    def _parent_path(self, call: program_tree.Call) -> str | None:
        """Return the path of `dirname(path, levels)`."""
        path = self.resolve_path(argument_at(call, 0))
        if path is None:
            return None
        levels = argument_at(call, 1)
        steps = 1
        if isinstance(levels, program_tree.Literal) and isinstance(levels.value, int):
            steps = min(levels.value, _MAX_DIRNAME_LEVELS)
        return normpath(join(path, *([".."] * steps)))

    def _helper_path(self, call: program_tree.Call) -> str | None:
        """Return the path of `base_path('…')` and its relatives."""
        folder = _PATH_HELPERS.get(called_name(call))
        below = text_of(argument_at(call, 0)) if call.arguments else ""
        if folder is None or below is None:
            return None
        return _join_path(join(self.prefix, folder), f"/{below}")


def class_aliases(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the qualified and the short name of every class among the nodes."""
    aliases: list[Alias] = []
    for node in nodes:
        if node.key.startswith("class:"):
            aliases.append(
                Alias(
                    node.key.removeprefix("class:"),
                    node.key,
                    "class",
                    node.uri,
                )
            )
            aliases.append(Alias(node.name, node.key, "short_class", node.uri))
    return tuple(aliases)


def _is_own_field(expression: SyntaxNode) -> bool:
    """Return whether an expression is `$this->field`."""
    if not isinstance(expression, program_tree.Member) or not isinstance(
        expression.of, program_tree.Variable
    ):
        return False
    return expression.of.name.lstrip("$") == "this"


def _join_path(start: str, end: str) -> str:
    """Return two concatenated pieces of a path, normalised and relative."""
    if not start:
        return normpath(end.lstrip("/"))
    return normpath(start + end).lstrip("/")
