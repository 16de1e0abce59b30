"""Django's settings: their modules, the installed apps, and the values of settings."""

from __future__ import annotations

import re
from typing import Final

from ragstone.types import Json, Node
from ragstone_code import program_tree
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import ClassValue, ExternalName, ModuleValue, Value
from ragstone_code.python_project import Program

_SETTINGS_MODULE: Final = re.compile(
    r"""DJANGO_SETTINGS_MODULE["']?\]?\s*[,=:]\s*["']?([A-Za-z_][\w.]*)"""
)
_SETTINGS_PREFIX: Final = "django.conf.settings."
_DEFAULT_USER: Final = "auth.User"
_SHOWN_SETTINGS: Final = (
    "ROOT_URLCONF",
    "INSTALLED_APPS",
    "AUTH_USER_MODEL",
    "MIDDLEWARE",
    "DEFAULT_AUTO_FIELD",
)


class DjangoSettings:
    """The settings of a project. Of several modules, the one that `manage.py` names comes first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.modules = self._find_modules()
        self.labels = self._find_app_labels()

    def _find_modules(self) -> list[ModuleValue]:
        """Return the modules with settings, those that a file names as the settings module first."""
        ranks: dict[str, int] = {}
        for name in self._named_modules():
            ranks.setdefault(name, len(ranks))

        def sort_key(module: ModuleValue) -> tuple[int, str]:
            module_ranks = [
                rank
                for name, rank in ranks.items()
                if module.name == name or module.name.endswith(f".{name}")
            ]
            return min(module_ranks, default=len(ranks)), module.uri

        modules = [module for module in self.program.modules() if _has_settings(module)]
        return sorted(modules, key=sort_key)

    def _named_modules(self) -> list[str]:
        """Return the names that files assign to `DJANGO_SETTINGS_MODULE`, those in `manage.py` first."""
        names: list[str] = []
        uris = self.program.interpreter.project.uris
        for uri in sorted(uris, key=lambda uri: (not uri.endswith("manage.py"), uri)):
            text = self.program.world.text(uri) or ""
            names.extend(_SETTINGS_MODULE.findall(text))
        return names

    def get(self, name: str) -> Value:
        """Return a setting of the first module that defines it, else None."""
        for module in self.modules:
            if name in module.names:
                return module.names[name]
        return None

    def get_list(self, name: str) -> list[Value]:
        """Return a setting that is a list; an empty list if it is not."""
        return _as_list(self.get(name))

    def url_roots(self) -> list[tuple[str, ModuleValue]]:
        """Return the distinct root URL modules, each with the settings module that names it."""
        roots: dict[str, ModuleValue] = {}
        for module in self.modules:
            root = module.names.get("ROOT_URLCONF")
            if isinstance(root, str):
                roots.setdefault(root, module)
        return list(roots.items())

    def resolve(self, value: Value) -> Value:
        """Return the value of a setting for `settings.NAME`; other values stay as they are."""
        if not isinstance(value, ExternalName) or not value.name.startswith(_SETTINGS_PREFIX):
            return value
        name = value.name.removeprefix(_SETTINGS_PREFIX)
        setting = self.get(name)
        if setting is not None:
            return setting
        if name == "AUTH_USER_MODEL":
            return _DEFAULT_USER
        return value

    @property
    def user_model(self) -> str:
        """Return the user model as `app.Model`."""
        setting = self.get("AUTH_USER_MODEL")
        if isinstance(setting, str):
            return setting
        return _DEFAULT_USER

    def _find_app_labels(self) -> dict[str, str]:
        """Return the labels of the apps by module, longest module first."""
        labels: dict[str, str] = {}
        for module in self.modules:
            for app in _as_list(module.names.get("INSTALLED_APPS")):
                if isinstance(app, str):
                    labels.setdefault(app, app.rpartition(".")[2])
        for class_value in self.program.classes():
            if "django.apps.AppConfig" not in set(class_value.type_names()):
                continue
            name = class_value.attributes.get("name")
            label = class_value.attributes.get("label")
            if isinstance(name, str) and isinstance(label, str):
                labels[name] = label
            elif isinstance(name, str):
                labels[name] = name.rpartition(".")[2]
        return dict(sorted(labels.items(), key=lambda item: -len(item[0])))

    def app_label(self, module: str) -> str:
        """Return the label of the app that contains a module."""
        for app, label in self.labels.items():
            if f".{app}." in f".{module}.":
                return label
        package = re.split(r"\.(?:models|migrations|admin|views)\b", module)[0]
        return package.rpartition(".")[2]

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def add_to_graph(self, builder: GraphBuilder) -> None:
        """Add important settings and the global middleware to a graph."""
        for module in self.modules[:1]:
            for name in _SHOWN_SETTINGS:
                _add_setting(builder, module, name)
        for order, name in enumerate(self.get_list("MIDDLEWARE")):
            if isinstance(name, str):
                self._add_middleware(builder, name, order)

    def _add_middleware(self, builder: GraphBuilder, name: str, order: int) -> None:
        value = self.program.interpreter.resolve(name, self.modules[0].uri)
        short_name = name.rpartition(".")[2]
        uri, line, line_end = "", 0, 0
        if isinstance(value, ClassValue):
            uri = value.uri
            line = value.line
            line_end = value.definition.line_end
        node = Node(
            f"middleware:{name}",
            "middleware",
            short_name,
            uri,
            line,
            line_end,
            framework=builder.framework,
            attributes={"full": name, "global": True, "order": order},
        )
        key = builder.add_node(node)
        for alias in (short_name, name):
            builder.add_alias(alias, key, "middleware", uri)
        if isinstance(value, ClassValue):
            ends = (key, builder.add_class(value, "middleware"))
            builder.add_link("HANDLED_BY", ends, (uri, line), how="declared")


def _as_list(value: Value) -> list[Value]:
    if isinstance(value, list | tuple):
        return list(value)
    return []


def _has_settings(module: ModuleValue) -> bool:
    has_root = isinstance(module.names.get("ROOT_URLCONF"), str)
    return has_root or isinstance(module.names.get("INSTALLED_APPS"), list)


def _add_setting(builder: GraphBuilder, module: ModuleValue, name: str) -> None:
    """Add a setting as a node if the module itself assigns it."""
    value = module.names.get(name)
    line = _assignment_line(module, name)
    if not isinstance(value, str | list | tuple) or not line:
        return
    json_value: Json
    if isinstance(value, str):
        json_value = value
    else:
        json_value = [item for item in value if isinstance(item, str)]
    node = Node(
        f"config:{name}",
        "config",
        name,
        module.uri,
        line,
        line,
        framework=builder.framework,
        attributes={"value": json_value},
    )
    key = builder.add_node(node)
    builder.add_alias(name, key, "config", module.uri)


def _assignment_line(module: ModuleValue, name: str) -> int:
    """Return the line of the first top-level assignment to a name, or 0."""
    for statement in module.program.statements:
        if isinstance(statement, program_tree.Do) and isinstance(
            statement.expression,
            program_tree.Assigned,
        ):
            target = statement.expression.target
            if (
                isinstance(target, program_tree.Variable | program_tree.Member)
                and target.name == name
            ):
                return statement.line
    return 0
