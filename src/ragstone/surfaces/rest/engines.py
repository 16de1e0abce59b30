"""The engines of all projects of one server: one store, one model and one index of vectors for all of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ragstone.config import Settings
from ragstone.engine import Engine, Workspace
from ragstone.engine.project import Project
from ragstone.engine.workspace import load_settings

EMPTY_FOLDER: Final = "no-files"
"""A folder in the home for projects that have none: a key never reaches the files of another project."""


class Engines:
    """Opens an engine for each project on its first request. The server's own project has the folder."""

    def __init__(
        self, folder: str | Path, *, project: str, config: Mapping[str, object] | None = None
    ) -> None:
        """Take the folder and the name of the project that its files belong to."""
        self.settings: Settings = load_settings(folder, config)
        self.workspace = Workspace(self.settings)
        self.own_project = project
        self._engines: dict[str, Engine] = {}
        self._lock = threading.Lock()

    @property
    def own(self) -> Engine:
        """Return the engine of the project that the folder belongs to."""
        return self.engine(self.own_project)

    def engine(self, project: str) -> Engine:
        """Return the engine of a project."""
        engine = self._engines.get(project)
        if engine is not None:
            return engine
        with self._lock:
            if project not in self._engines:
                settings = self.settings
                if project != self.own_project:
                    settings = self._without_files()
                self._engines[project] = Engine(Project(self.workspace, settings, project))
            return self._engines[project]

    def count(self) -> int:
        """Return how many projects were used since the start."""
        return len(self._engines)

    def close(self) -> None:
        """Close all engines, then the store."""
        with self._lock:
            for engine in self._engines.values():
                engine.close()
            self._engines.clear()
            self.workspace.close()

    def _without_files(self) -> Settings:
        """Return the settings for a project without a folder: the same home, no file, no other MCP server."""
        home = self.settings.home
        origin = "argument"
        settings = self.settings.with_values(
            {
                "store.path": (str(home), origin),
                "sources.base": (".", origin),
                "search.watch": ("off", origin),
                "mcp.servers": ((), origin),
            }
        )
        return replace(settings, root=home / EMPTY_FOLDER)
