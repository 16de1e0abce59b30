"""Django: settings, urls with their names, views and what guards them, models, migrations replayed, signals, tasks."""

from __future__ import annotations

import re
from typing import Final

from ragstone.code.world import World
from ragstone.types import Graph
from ragstone_code.django.migrations import migrations
from ragstone_code.django.models import Models
from ragstone_code.django.settings import Settings
from ragstone_code.django.urls import Urls
from ragstone_code.django.views import Views
from ragstone_code.django.wiring import Wiring
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program, any_module_matches
from ragstone_code.tables import DatabaseSchema

SIGNS: Final = re.compile(
    r"DJANGO_SETTINGS_MODULE|^from django\.(?:urls|conf\.urls|db) import|ROOT_URLCONF", re.MULTILINE
)


class Django:
    """The adapter of Django and its REST framework."""

    name = "django"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project has to do with Django's settings, urls or models."""
        return any_module_matches(world, SIGNS)

    def read(self, world: World) -> Graph:
        """Return everything Django makes of the project's files."""
        program = Program(world, lambda text: True)
        builder = GraphBuilder(self.name)
        settings = Settings(program)
        models = Models(program, builder, settings)
        tables = DatabaseSchema()
        builder.run_pass("migrations", lambda: migrations(program, builder, settings, tables))
        builder.run_pass("models", lambda: models.read(tables))
        builder.run_pass("tables", lambda: tables.add_to_graph(builder))
        builder.run_pass("urls", lambda: Urls(program, builder, Views(program, builder, models)).read())
        builder.run_pass("signals and tasks", lambda: Wiring(program, builder, models).read())
        builder.run_pass("settings", lambda: settings.add_to_graph(builder))
        for said in program.interpreter.remarks:
            builder.remarks.setdefault(said)
        return builder.build()
