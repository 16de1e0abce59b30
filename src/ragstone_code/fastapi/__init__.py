"""FastAPI: applications, routers and what is mounted; dependencies in their order; schemas of bodies and answers."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from ragstone.code.world import World
from ragstone.types import Graph
from ragstone_code.fastapi.routes import ROUTERS, Reading
from ragstone_code.graph_builder import Woven
from ragstone_code.program import Program, imports
from ragstone_code.python.values import Made, Value

APPS = ("fastapi.FastAPI", "fastapi.applications.FastAPI")

IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+fastapi\b", re.MULTILINE)


class FastAPI:
    """The adapter of FastAPI."""

    name = "fastapi"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project imports FastAPI."""
        return imports(world, IMPORT)

    def read(self, world: World) -> Graph:
        """Return routes with what guards, checks and serves them."""
        program = Program(world, lambda text: IMPORT.search(text) is not None)
        program.factories(*APPS)
        woven = Woven(self.name)
        reading = Reading(program, woven)
        apps = program.made(*APPS)
        mounted = {id(one) for one in _mounted(apps)}
        for app in apps:
            if id(app) not in mounted:
                woven.part(f"{app.uri}:{app.line}", partial(reading.app, app))
        if not apps:
            for router in program.made(*ROUTERS):
                woven.remark((router.uri, router.line), "a router that no application of the project includes")
        for said in program.running.remarks:
            woven.remarks.setdefault(said)
        return woven.graph()


def _mounted(apps: list[Made]) -> list[Value]:
    return [call.argument(1, "app") for app in apps for call in app.calls if call.method == "mount"]
