"""FastAPI: applications, routers and what is mounted; dependencies in their order; schemas of bodies and answers."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from ragstone.code.world import World
from ragstone.types import Graph
from ragstone_code.fastapi.routes import ROUTERS, Reading
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program, any_module_matches
from ragstone_code.python.values import CallResult, Value

APPS = ("fastapi.FastAPI", "fastapi.applications.FastAPI")

IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+fastapi\b", re.MULTILINE)


class FastAPI:
    """The adapter of FastAPI."""

    name = "fastapi"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project imports FastAPI."""
        return any_module_matches(world, IMPORT)

    def read(self, world: World) -> Graph:
        """Return routes with what guards, checks and serves them."""
        program = Program(world, lambda text: IMPORT.search(text) is not None)
        program.call_factories(*APPS)
        builder = GraphBuilder(self.name)
        reading = Reading(program, builder)
        apps = program.objects_of(*APPS)
        mounted = {id(one) for one in _mounted(apps)}
        for app in apps:
            if id(app) not in mounted:
                builder.run_pass(f"{app.uri}:{app.line}", partial(reading.app, app))
        if not apps:
            for router in program.objects_of(*ROUTERS):
                builder.add_remark((router.uri, router.line), "a router that no application of the project includes")
        for said in program.interpreter.remarks:
            builder.remarks.setdefault(said)
        return builder.build()


def _mounted(apps: list[CallResult]) -> list[Value]:
    return [call.argument(1, "app") for app in apps for call in app.calls if call.method == "mount"]
