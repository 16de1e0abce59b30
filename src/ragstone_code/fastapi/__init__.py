"""FastAPI: routes of applications, routers and mounted applications, with their dependencies and schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ragstone.protocols import ProjectFiles
from ragstone.types import Graph
from ragstone_code.fastapi.routes import ROUTERS, FastApiRouteReader
from ragstone_code.frameworks.unread_modules import add_unread_modules
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.project_files import WorldCache
from ragstone_code.python.values import CallResult
from ragstone_code.python_project import Program, any_module_matches

APPS: Final = ("fastapi.FastAPI", "fastapi.applications.FastAPI")
IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+fastapi\b", re.MULTILINE)
FRAMEWORKS: Final = ("fastapi", "starlette")
"""Packages whose names the adapter knows, so that a copy of them in the project is not followed."""


@dataclass(slots=True)
class FastAPI:
    """The framework adapter for FastAPI."""

    name = "fastapi"
    worlds: WorldCache = field(default_factory=WorldCache)

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether a module of the project imports FastAPI."""
        return any_module_matches(files, IMPORT)

    def read(self, files: ProjectFiles) -> Graph:
        """Return the routes of a project with their dependencies, schemas and handlers."""
        program = Program(
            self.worlds.world_of(files),
            lambda text: IMPORT.search(text) is not None,
            FRAMEWORKS,
        )
        program.call_factories(*APPS)
        builder = GraphBuilder(self.name)
        reader = FastApiRouteReader(program, builder)
        apps = program.objects_of(*APPS)
        mounted = _mounted_apps(apps)
        for app in apps:
            if id(app) not in mounted:
                builder.run_pass(f"{app.uri}:{app.line}", partial(reader.read_app, app))
        if not apps:
            for router in program.objects_of(*ROUTERS):
                place = (router.uri, router.line)
                builder.add_remark(
                    place, "a router that no application of the project includes"
                )
        add_unread_modules(program, builder)
        return builder.build()


def _mounted_apps(apps: list[CallResult]) -> set[int]:
    """Return the identities of applications that another application mounts."""
    mounted: set[int] = set()
    for app in apps:
        for call in app.calls:
            if call.method == "mount":
                mounted.add(id(call.argument(1, "app")))
    return mounted
