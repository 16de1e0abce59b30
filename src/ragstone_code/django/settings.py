"""Django's settings: which modules they are, the apps they install, and what a setting's name stands for."""

from __future__ import annotations

import re
from typing import Final

from ragstone.types import Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program
from ragstone_code.python.values import ClassValue, ExternalName, ModuleValue, Value

NAMED: Final = re.compile(r"""DJANGO_SETTINGS_MODULE["']?\]?\s*[,=:]\s*["']?([A-Za-z_][\w.]*)""")
CONF: Final = "django.conf.settings."


class Settings:
    """The settings of a project; of several modules, the one that `manage.py` names goes first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.modules = self._modules()
        self.labels = dict(self._labels())

    def _modules(self) -> list[ModuleValue]:
        """Return the modules that set a root of urls or apps, those that files name as the settings first."""
        told: list[str] = []
        for uri in sorted(self.program.interpreter.project.uris, key=lambda one: (not one.endswith("manage.py"), one)):
            told.extend(NAMED.findall(self.program.world.read(uri) or ""))
        found = [one for one in self.program.modules() if _sets(one)]
        ranks = {name: place for place, name in enumerate(dict.fromkeys(told))}

        def rank(one: ModuleValue) -> tuple[int, str]:
            places = [place for name, place in ranks.items() if one.name == name or one.name.endswith(f".{name}")]
            return min(places, default=len(ranks)), one.uri

        return sorted(found, key=rank)

    def get(self, name: str) -> Value:
        """Return a setting of the first module that has it; None where none has."""
        return next((one.names[name] for one in self.modules if name in one.names), None)

    def roots(self) -> list[tuple[str, ModuleValue]]:
        """Return the root modules of urls, each once, with the settings that name them."""
        found: dict[str, ModuleValue] = {}
        for one in self.modules:
            root = one.names.get("ROOT_URLCONF")
            if isinstance(root, str):
                found.setdefault(root, one)
        return list(found.items())

    def value(self, given: Value) -> Value:
        """Return what a value is once settings are put in: `settings.AUTH_USER_MODEL` is its text."""
        if isinstance(given, ExternalName) and given.name.startswith(CONF):
            name = given.name.removeprefix(CONF)
            known = self.get(name)
            return "auth.User" if known is None and name == "AUTH_USER_MODEL" else known if known is not None else given
        return given

    @property
    def user(self) -> str:
        """Return the model of users, as `app.Model`."""
        told = self.get("AUTH_USER_MODEL")
        return told if isinstance(told, str) else "auth.User"

    def _labels(self) -> list[tuple[str, str]]:
        """Return (module, label) of the apps: by their configuration, else the last part of the module."""
        found: dict[str, str] = {}
        for one in self.modules:
            for name in (
                one.names.get("INSTALLED_APPS") or ()
                if isinstance(one.names.get("INSTALLED_APPS"), list | tuple)
                else ()
            ):
                if isinstance(name, str):
                    found.setdefault(name, name.rpartition(".")[2])
        for classed in self.program.classes():
            if "django.apps.AppConfig" in set(classed.type_names()):
                name = classed.attributes.get("name")
                label = classed.attributes.get("label")
                if isinstance(name, str):
                    found[name] = label if isinstance(label, str) else name.rpartition(".")[2]
        return sorted(found.items(), key=lambda pair: -len(pair[0]))

    def label_of(self, module: str) -> str:
        """Return the label of the app a module belongs to."""
        for app, label in self.labels.items():
            if f".{module}.".endswith(f".{app}.") or f".{app}." in f".{module}.":
                return label
        before = re.split(r"\.(?:models|migrations|admin|views)\b", module)[0]
        return before.rpartition(".")[2]

    def add_to_graph(self, builder: GraphBuilder) -> None:
        """Keep the settings as nodes, and the middleware that stands before every view."""
        for module in self.modules[:1]:
            for name in ("ROOT_URLCONF", "INSTALLED_APPS", "AUTH_USER_MODEL", "MIDDLEWARE", "DEFAULT_AUTO_FIELD"):
                value = module.names.get(name)
                line = _line(module, name)
                if isinstance(value, str | list | tuple) and line:
                    plain: Json = value if isinstance(value, str) else [one for one in value if isinstance(one, str)]
                    key = f"config:{name}"
                    made = Node(
                        key,
                        "config",
                        name,
                        module.uri,
                        line,
                        line,
                        framework=builder.framework,
                        attributes={"value": plain},
                    )
                    builder.add_node(made)
                    builder.add_alias(name, key, "config", module.uri)
        for order, name in enumerate(
            self.get("MIDDLEWARE") or () if isinstance(self.get("MIDDLEWARE"), list | tuple) else ()
        ):
            if isinstance(name, str):
                self._middleware(builder, name, order)

    def _middleware(self, builder: GraphBuilder, name: str, order: int) -> None:
        value = self.program.interpreter.resolve(name, self.modules[0].uri)
        short = name.rpartition(".")[2]
        attributes: dict[str, Json] = {"full": name, "global": True, "order": order}
        own = value if isinstance(value, ClassValue) else None
        place = (own.uri, own.line, own.definition.line_end) if own is not None else ("", 0, 0)
        key = f"middleware:{name}"
        builder.add_node(Node(key, "middleware", short, *place, framework=builder.framework, attributes=attributes))
        for alias in (short, name):
            builder.add_alias(alias, key, "middleware", place[0])
        if own is not None:
            builder.add_link(
                "HANDLED_BY", (key, builder.add_class(own, "middleware")), (own.uri, own.line), how="declared"
            )


def _sets(module: ModuleValue) -> bool:
    return isinstance(module.names.get("ROOT_URLCONF"), str) or isinstance(module.names.get("INSTALLED_APPS"), list)


def _line(module: ModuleValue, name: str) -> int:
    for one in module.program.statements:
        target = getattr(getattr(one, "expression", None), "target", None)
        if getattr(target, "name", "") == name:
            return one.line
    return 0
