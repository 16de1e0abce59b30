"""Components that the engines of one process share: store, embedders, vector indexes, searcher."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Self

from ragstone import config
from ragstone.engine import arguments, facets
from ragstone.errors import InputError
from ragstone.indexing.components import Components
from ragstone.retrieval.search import Searcher
from ragstone.types import NO_LIMITS, Limits


class Workspace:
    """Shared components of one home folder. Ten engines on a workspace load one model and open one store."""

    def __init__(self, settings: config.Settings) -> None:
        """Keep the settings. Nothing is opened before it is needed."""
        self.settings = settings
        self.components = Components(settings)
        if settings.access.plans:
            self.components.limits_of = self.limits_of

    @classmethod
    def open(
        cls, folder: str | Path = ".", *, config: Mapping[str, object] | None = None
    ) -> Self:
        """Return a workspace for a folder; `config` overrides settings by dotted key."""
        return cls(load_settings(folder, config))

    @cached_property
    def searcher(self) -> Searcher:
        """Return the searcher with its caches."""
        return Searcher(self.components)

    @cached_property
    def keys(self) -> facets.KeyRing:
        """Return the keys of all projects."""
        components = self.components
        pepper = self.settings.access.pepper
        if pepper is not None:
            secret = pepper.encode("utf-8", "surrogatepass")
        elif components.in_memory:
            secret = secrets.token_bytes(32)
        else:
            components.store.location  # noqa: B018 - opening the store creates the folder
            secret = facets.load_pepper(components.home)
        return facets.KeyRing(components.store.keys, secret)

    @cached_property
    def system(self) -> facets.SystemCollections:
        """Return the collections of Ragstone's own documents and of tools."""
        return facets.SystemCollections(self)

    @cached_property
    def _plans(self) -> facets.Plans:
        return facets.Plans(self.settings)

    def plan_of(self, project: str) -> facets.Plan | None:
        """Return the plan of a project; None if plans are switched off."""
        if not self.settings.access.plans:
            return None
        return self._plans.plan_of(self.components.store, project)

    def limits_of(self, project: str) -> Limits:
        """Return the limits of a project's plan; system collections have none."""
        if arguments.is_system_name(project):
            return NO_LIMITS
        plan = self.plan_of(project)
        return NO_LIMITS if plan is None else plan.limits

    def close(self) -> None:
        """Close the store and the indexes, for good."""
        self.components.close()
        self.__dict__.pop("keys", None)

    def __enter__(self) -> Self:
        """Return the workspace."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the workspace."""
        self.close()


def load_settings(
    folder: str | Path, overrides: Mapping[str, object] | None
) -> config.Settings:
    """Return the settings of a folder; `InputError` if there is no such folder."""
    root = Path(arguments.check_path(folder)).expanduser().resolve()
    if not root.is_dir():
        raise InputError(
            f"no such folder: {folder}", hint="give the path of an existing folder"
        )
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError(
            "config maps settings to values", hint='config={"rag.embedding_provider": "minilm"}'
        )
    return config.load(root, overrides=overrides)
