"""Flask: routes of applications, factories, blueprints, class-based views and Flask-RESTful resources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import ProjectFiles
from ragstone.types import Graph
from ragstone_code.flask.routes import APPS, FlaskRouteReader
from ragstone_code.frameworks.unread_modules import add_unread_modules
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.project_files import WorldCache
from ragstone_code.python_project import Program, any_module_matches

IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+flask\b", re.MULTILINE)
FRAMEWORKS: Final = ("flask", "flask_restful", "flask_restx", "werkzeug")
"""Packages whose names the adapter knows, so that a copy of them in the project is not followed."""


@dataclass(slots=True)
class Flask:
    """The framework adapter for Flask."""

    name = "flask"
    worlds: WorldCache = field(default_factory=WorldCache)

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether a module of the project imports Flask."""
        return any_module_matches(files, IMPORT)

    def read(self, files: ProjectFiles) -> Graph:
        """Return the routes of a project with their guards and handlers."""
        program = Program(
            self.worlds.world_of(files),
            lambda text: IMPORT.search(text) is not None,
            FRAMEWORKS,
        )
        program.call_factories(*APPS)
        builder = GraphBuilder(self.name)
        for app in program.objects_of(*APPS):
            reader = FlaskRouteReader(program, builder, app)
            builder.run_pass(f"{app.uri}:{app.line}", reader.read)
        add_unread_modules(program, builder)
        return builder.build()
