"""The Django adapter: settings, URLs, views with their guards, models, replayed migrations, signals and tasks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import ProjectFiles
from ragstone.types import Graph
from ragstone_code.django.commands import add_admin_classes, add_commands
from ragstone_code.django.migrations import replay_migrations
from ragstone_code.django.models import DjangoModels
from ragstone_code.django.settings import DjangoSettings
from ragstone_code.django.signals import SignalReader
from ragstone_code.django.urls import UrlReader
from ragstone_code.django.views import ViewRoutes
from ragstone_code.frameworks.unread_modules import add_unread_modules
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.project_files import WorldCache
from ragstone_code.python_project import Program, any_module_matches
from ragstone_code.tables import DatabaseSchema

_SIGNS: Final = re.compile(
    r"DJANGO_SETTINGS_MODULE|^from django\.(?:urls|conf\.urls|db) import|ROOT_URLCONF",
    re.MULTILINE,
)


@dataclass(slots=True)
class Django:
    """The adapter for Django and Django REST framework."""

    name = "django"
    worlds: WorldCache = field(default_factory=WorldCache)

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether a module of the project uses Django's settings, URLs or models."""
        return any_module_matches(files, _SIGNS)

    def read(self, files: ProjectFiles) -> Graph:
        """Return the graph of the project."""
        program = Program(self.worlds.world_of(files), lambda text: True)
        builder = GraphBuilder(self.name)
        settings = DjangoSettings(program)
        models = DjangoModels(program, builder, settings)
        schema = DatabaseSchema()
        views = ViewRoutes(program, builder, models)
        builder.run_pass(
            "migrations",
            lambda: replay_migrations(program, builder, settings, schema),
        )
        builder.run_pass("models", lambda: models.add_to_graph(schema))
        builder.run_pass("tables", lambda: schema.add_to_graph(builder))
        builder.run_pass("urls", lambda: UrlReader(program, builder, views).read())
        builder.run_pass(
            "signals and tasks",
            lambda: _add_signals(program, builder, models),
        )
        builder.run_pass("settings", lambda: settings.add_to_graph(builder))
        add_unread_modules(program, builder)
        return builder.build()


def _add_signals(program: Program, builder: GraphBuilder, models: DjangoModels) -> None:
    """Add signals, tasks, admin classes and management commands."""
    SignalReader(program, builder, models).read()
    add_admin_classes(program, builder)
    add_commands(program, builder)
