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
from ragstone_code.graph_builder import Woven
from ragstone_code.program import Program, imports
from ragstone_code.tables import Tables

SIGNS: Final = re.compile(
    r"DJANGO_SETTINGS_MODULE|^from django\.(?:urls|conf\.urls|db) import|ROOT_URLCONF", re.MULTILINE
)


class Django:
    """The adapter of Django and its REST framework."""

    name = "django"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project has to do with Django's settings, urls or models."""
        return imports(world, SIGNS)

    def read(self, world: World) -> Graph:
        """Return everything Django makes of the project's files."""
        program = Program(world, lambda text: True)
        woven = Woven(self.name)
        settings = Settings(program)
        models = Models(program, woven, settings)
        tables = Tables()
        woven.part("migrations", lambda: migrations(program, woven, settings, tables))
        woven.part("models", lambda: models.read(tables))
        woven.part("tables", lambda: tables.weave(woven))
        woven.part("urls", lambda: Urls(program, woven, Views(program, woven, models)).read())
        woven.part("signals and tasks", lambda: Wiring(program, woven, models).read())
        woven.part("settings", lambda: settings.weave(woven))
        for said in program.running.remarks:
            woven.remarks.setdefault(said)
        return woven.graph()
