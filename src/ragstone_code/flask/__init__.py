"""Flask: applications, factories and blueprints; what runs before a view; class-based views and Flask-RESTful."""

from __future__ import annotations

import re
from typing import Final

from ragstone.code.world import World
from ragstone.types import Graph
from ragstone_code.flask.routes import APPS, Reading
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program, any_module_matches

IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+flask\b", re.MULTILINE)


class Flask:
    """The adapter of Flask."""

    name = "flask"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project imports Flask."""
        return any_module_matches(world, IMPORT)

    def read(self, world: World) -> Graph:
        """Return routes with what guards and serves them."""
        program = Program(world, lambda text: IMPORT.search(text) is not None)
        program.call_factories(*APPS)
        builder = GraphBuilder(self.name)
        for app in program.objects_of(*APPS):
            builder.run_pass(f"{app.uri}:{app.line}", Reading(program, builder, app).read)
        for said in program.interpreter.remarks:
            builder.remarks.setdefault(said)
        return builder.build()
