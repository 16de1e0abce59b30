"""What a sync would do, also with other settings than those in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragstone.config import Settings
from ragstone.config.settings import setting_keys
from ragstone.config.validation import check_known, parse_value
from ragstone.engine import arguments, facets
from ragstone.engine.project import Project
from ragstone.engine.workspace import Workspace
from ragstone.errors import Conflict
from ragstone.protocols import Progress
from ragstone.types import SyncPlan


def plan_sync(
    project: Project,
    paths: Sequence[str | Path] | None,
    *,
    full: bool,
    collection: str | None,
    changes: Mapping[str, str] | None,
    progress: Progress | None,
) -> SyncPlan:
    """Return the plan of a sync; `changes` are settings that it would have, as texts."""
    project.require_enabled()
    name = project.collection_name(collection)
    paths = arguments.check_paths(paths)
    if not changes:
        planner = facets.SyncPlanner(project.index.collection(name), full, progress)
        return planner.run(paths)
    if project.workspace.components.in_memory:
        raise Conflict("the index is in memory", hint="sync again to see the cost")
    settings = _change_settings(project.settings, changes)
    # Files are read only if the collection follows the folder: otherwise no sync was wanted.
    has_files = name in project.index.followers()
    with Workspace(settings) as workspace:
        changed = Project(workspace, settings, project.name)
        try:
            planner = facets.SyncPlanner(
                changed.index.collection(name), full, progress, has_files=has_files
            )
            return planner.run(paths)
        finally:
            changed.close()


def _change_settings(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """Return the settings with some values from texts; an empty text stands for the default."""
    keys = setting_keys()
    values: dict[str, tuple[object, str]] = {}
    for name, text in changes.items():
        check_known(name, keys, f"there is no setting {name!r}")
        value = keys[name].default
        if text.strip():
            value = parse_value(name, text.strip(), keys[name].value_type, origin="the value")
        values[name] = (value, "argument")
    return settings.with_values(values)
