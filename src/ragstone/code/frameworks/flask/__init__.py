"""Flask: applications, factories and blueprints; what runs before a view; class-based views and Flask-RESTful."""

from __future__ import annotations

from ragstone.code.frameworks.flask.routes import APPS, Reading
from ragstone.code.frameworks.program import Program
from ragstone.code.frameworks.woven import Woven
from ragstone.code.world import World
from ragstone.types import Graph


class Flask:
    """The adapter of Flask."""

    name = "flask"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project imports Flask."""
        return any(_about(world.read(uri) or "") for uri in world.uris if uri.endswith(".py"))

    def read(self, world: World) -> Graph:
        """Return routes with what guards and serves them."""
        program = Program(world, _about)
        program.factories(*APPS)
        woven = Woven(self.name)
        for app in program.made(*APPS):
            woven.part(f"{app.uri}:{app.line}", Reading(program, woven, app).read)
        for said in program.running.remarks:
            woven.remarks.setdefault(said)
        return woven.graph()


def _about(text: str) -> bool:
    return "flask" in text
