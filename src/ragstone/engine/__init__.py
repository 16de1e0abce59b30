"""The engine: the one object that a caller holds, and the workspace that engines share."""

from __future__ import annotations

from ragstone.engine.engine import DEFAULT_PROJECT, Engine
from ragstone.engine.workspace import Workspace

__all__ = ["DEFAULT_PROJECT", "Engine", "Workspace"]
