"""What every verb of an engine stands on: its folder, its settings and its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragstone import config, types
from ragstone.engine import arguments as checked
from ragstone.engine import later
from ragstone.engine.components import Parts
from ragstone.errors import ConfigError, InputError, NotFound
from ragstone.events import EventBus, EventLog
from ragstone.indexing.changes import Follower
from ragstone.indexing.sync import Keeper
from ragstone.read.file_types import explain_refusal
from ragstone.read.formats import SUFFIXES
from ragstone.retrieval.freshness import Fresh
from ragstone.sources.folder.limits import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.store.home import DATABASE, EVENTS, database_files
from ragstone.types import Scope

DEFAULT = "default"
OFF = "retrieval is switched off (rag.enabled)"


class Ground:
    """One folder with its index; nothing is opened before it is needed."""

    def __init__(
        self,
        folder: Path,
        settings: config.Settings,
        *,
        project: str = DEFAULT,
        events: EventBus | None = None,
        agent: str = "",
    ) -> None:
        """Keep where and how; use `Engine.open`."""
        self.folder = folder
        self.settings = settings
        self.project = checked.project(project)
        self.events = events or EventBus()
        self.agent_name = agent
        self._parts = Parts(
            self.home, settings, self.events, project, kind="agent" if agent else "documents", only=agent
        )
        self._keeper = Keeper(self._parts, self.source)
        self._follower = Follower(self._keeper)
        self._fresh = Fresh(self._keeper, self._follower)
        self._watchers: list[later.Watcher] = []
        self._rememberer: later.Rememberer | None = None
        self._views: dict[str, Self] = {}
        self.log = EventLog(self.home / EVENTS, project)
        if events is None and settings.events.log and self.enabled and not self._parts.in_memory:
            self.events.subscribe(self.log.write)

    @classmethod
    def open(cls, folder: str | Path = ".", *, config: Mapping[str, Any] | None = None, project: str = DEFAULT) -> Self:
        """Return an engine for a folder; `config` overrides settings by dotted key."""
        root = Path(checked.path(folder)).expanduser().resolve()
        if not root.is_dir():
            raise InputError(f"no such folder: {folder}", hint="give the path of an existing folder")
        return cls(root, _settings(root, config), project=project)

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of files; the engine opens them again when it is used again."""
        while self._watchers:
            self._watchers.pop().stop()
        self._follower.close()
        self._rememberer = None
        while self._views:
            self._views.popitem()[1].close()
        self.log.flush()
        self._parts.close()

    @property
    def enabled(self) -> bool:
        """Return whether retrieval is switched on; if not, every verb is a no-op."""
        return self.settings.rag.enabled

    @property
    def home(self) -> Path:
        """Return the folder that holds the index."""
        return self.settings.home

    @property
    def exists(self) -> bool:
        """Return whether the folder was indexed before."""
        return (self.home / DATABASE).exists()

    def collections(self) -> list[types.Collection]:
        """Return the project's collections by name."""
        return self._parts.collections()

    def is_empty(self) -> bool:
        """Return whether nothing has been stored."""
        return not self.enabled or not any(c.documents for c in self._parts.collections())

    def source(
        self, paths: Sequence[str | Path] | None = None, *, changed: Sequence[str] | None = None
    ) -> FolderSource:
        """Return the folder's files as a source, only those at some paths, or only those that changed."""
        rules = self.settings.sources
        return FolderSource(
            self.settings.base,
            include=rules.include,
            exclude=rules.exclude,
            limits=FileLimits(rules.max_file_bytes, rules.max_files, rules.max_document_bytes, SUFFIXES),
            refuse=explain_refusal,
            git=rules.git,
            secret_files=rules.secret_files,
            never_open=database_files(self.home),
            home=self.home,
            only=paths,
            changed=changed,
        )

    def _collection(self, name: str | None) -> str:
        return name or self.agent_name or self.settings.rag.vector_store.collection_name

    def _existing(self, name: str | None) -> str:
        """Return the name of a collection that is there; the default one may be yet to come."""
        if name is None:
            return self._collection(None)
        known = [one.name for one in self.collections()]
        if name not in known and name != self._collection(None):
            raise NotFound(f"there is no collection {name!r}", hint=f"there are {', '.join(known) or 'none yet'}")
        return name

    def _scope(self, collection: str | Sequence[str] | None) -> Scope:
        if collection is None:
            return self._parts.scope()
        wanted = [collection] if isinstance(collection, str) else collection
        if not isinstance(wanted, Sequence):
            raise InputError(f"collection is {collection!r}", hint="give a name, or a list of names")
        return self._parts.scope(tuple(self._existing(checked.name(one, "a collection")) for one in wanted))

    def _switched_on(self) -> None:
        if not self.enabled:
            raise ConfigError(OFF, hint="set rag.enabled = true")


def _settings(root: Path, overrides: Mapping[str, Any] | None) -> config.Settings:
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError("config maps settings to values", hint='config={"rag.embedding_provider": "minilm"}')
    return config.load(root, overrides=overrides)
