"""The embedders of one home: by name, by space, by collection, and the vectors of queries that were asked before."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone import registry
from ragstone.errors import ConfigError, InputError, StaleSpace
from ragstone.protocols import RemoteModel

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.components import Components
    from ragstone.indexing.query_vectors import VectorCaches
    from ragstone.protocols import Embedder
    from ragstone.types import CollectionKey, Matrix, Role, Space, SpaceInfo, SpaceState


@dataclass(frozen=True)
class CollectionSpaces:
    """Finds or creates the spaces that the vectors of a collection go to."""

    components: Components
    key: CollectionKey

    @cached_property
    def embedder(self) -> Embedder:
        """Return the embedder that the collection was created with, or the configured one."""
        collections = self.components.store.collections(self.key.project, self.key.kind)
        for collection in collections:
            if collection.name == self.key.name and collection.settings.get("embedder"):
                return self.components.embedder(str(collection.settings["embedder"]))
        return self.components.embedder()

    def main(self, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of the collection; create it if it is missing."""
        store = self.components.store
        store.ensure_collection(self.key)
        space = self.embedder.space
        try:
            return store.vectors.ensure_space(
                self.key, space, storage=self._storage(), state=state
            )
        except StaleSpace as error:
            old = self.active()
            if old is not None and not old.embedded:
                return self._replace_empty(space)
            message = self._describe_stale_space(space)
            hint = "`ragstone reembed` builds the new ones next to the old and switches; until then the old answer"
            raise StaleSpace(message, hint=hint) from error

    def _replace_empty(self, space: Space) -> SpaceInfo:
        """Activate a space instead of one without vectors: its service was down, and nothing is lost."""
        vectors = self.components.store.vectors
        info = vectors.ensure_space(self.key, space, storage=self._storage(), state="building")
        vectors.activate_space(self.key, info.id)
        return replace(info, state="active")

    def secondary(self, name: str) -> SpaceInfo:
        """Return the space of another embedder; it is filled, but not activated."""
        store = self.components.store
        store.ensure_collection(self.key)
        space = self.components.embedder(name).space
        return store.vectors.ensure_space(self.key, space, state="building")

    def active(self) -> SpaceInfo | None:
        """Return the space that searches use, or None."""
        spaces = self.components.store.vectors.spaces(self.key.scope)
        return next((info for info in spaces if info.state == "active"), None)

    def is_configured(self, info: SpaceInfo) -> bool:
        """Return whether new vectors go to this space."""
        same_model = info.space.fingerprint == self.embedder.space.fingerprint
        return same_model and self._storage() in (None, info.storage)

    def _describe_stale_space(self, space: Space) -> str:
        old = self.active()
        maker = "another model"
        if old is not None:
            maker = f"{old.space.model} ({old.space.embedder}, {old.storage})"
        configured = space.embedder
        storage = self._storage()
        if storage:
            configured = f"{configured}, {storage}"
        message = (
            f"the vectors of {self.key.name!r} were made by {maker}, "
            f"and the settings now say {space.model} ({configured})"
        )
        if old is not None and old.space.model == space.model:
            message += _describe_difference(old.space, space)
        return message

    def _storage(self) -> str | None:
        """Return the configured storage of vectors; None if the user set none, so that existing vectors decide."""
        settings = self.components.settings
        if settings.origin("embed.storage") == "default":
            return None
        return settings.embed.storage


def _describe_difference(old: Space, new: Space) -> str:
    """Return what differs between two spaces of one model; empty if only the storage does."""
    if old.dimension != new.dimension:
        return f" with {new.dimension} numbers per vector, not {old.dimension}"
    if (old.query_prefix, old.document_prefix) != (new.query_prefix, new.document_prefix):
        return " with other prefixes"
    if old.version != new.version:
        return ", whose files or version changed"
    return ""


_OF_ONE_PROVIDER = (
    "embed.model",
    "embed.dimension",
    "embed.url",
    "embed.api_key",
    "embed.query_prefix",
    "embed.document_prefix",
    "embed.price",
)
"""Settings that mean something to the configured provider only."""


@dataclass(frozen=True, slots=True)
class EmbedderName:
    """The name of an embedder in parts: `provider`, `provider:model` or `provider:model@dimension`."""

    provider: str
    model: str | None = None
    dimension: int | None = None

    @classmethod
    def parse(cls, text: str) -> EmbedderName:
        """Return the parts of a name; raise `InputError` if the dimension is no number."""
        provider, _, rest = text.partition(":")
        model, at, dimension = rest.rpartition("@")
        if not at:
            return cls(provider, rest or None)
        if not dimension.isdigit() or not int(dimension):
            raise InputError(
                f"{text!r} names no dimension after the @",
                hint='for example "openai:text-embedding-3-small@512"',
            )
        return cls(provider, model or None, int(dimension))


class EmbedderPool:
    """Makes each embedder once. Safe to use from several threads."""

    def __init__(self, settings: Settings, caches: VectorCaches | None = None) -> None:
        """Keep the settings; without caches, no vector of a query is kept. Nothing is loaded yet."""
        self._settings = settings
        self._caches = caches
        self._embedders: dict[tuple[object, ...], Embedder] = {}
        self._named: dict[str | None, Embedder] = {}
        self._lock = threading.RLock()
        self.reasons: dict[str, str] = {}
        """Why the embedder of a space is not available, by the fingerprint of the space."""

    def get(self, name: str | None = None) -> Embedder:
        """Return an embedder by name, or the configured one; raise `ConfigError` if it cannot be used."""
        with self._lock:
            if name in self._named:
                return self._named[name]
        name_parts = EmbedderName.parse(name or self._settings.embed.provider)
        part = registry.find("embedder", name_parts.provider)
        values = self._values_for(name_parts, part)
        if name_parts.model is not None:
            values["embed.model"] = name_parts.model
        if name_parts.dimension is not None:
            values["embed.dimension"] = name_parts.dimension
        embedder = self._make(part.name, values)
        with self._lock:
            self._named[name] = embedder
        return embedder

    def _values_for(
        self, name_parts: EmbedderName, part: registry.RegisteredPart
    ) -> dict[str, object]:
        """Return the settings to change, because they describe another provider or another model."""
        configured = EmbedderName.parse(self._settings.embed.provider)
        if part != registry.find("embedder", configured.provider):
            return dict.fromkeys(_OF_ONE_PROVIDER)
        own_model = self._settings.embed.model or configured.model
        if name_parts.model in (None, own_model):
            dimension = self._settings.embed.dimension or configured.dimension
            return {"embed.model": own_model, "embed.dimension": dimension}
        shared = ("embed.url", "embed.api_key")
        return {key: None for key in _OF_ONE_PROVIDER if key not in shared}

    def for_space(self, space: Space) -> Embedder | None:
        """Return the embedder that makes vectors of a space; None if it is not available here."""
        with self._lock:
            embedders = list(self._embedders.values())
        for embedder in embedders:
            if embedder.space.fingerprint == space.fingerprint:
                return embedder
        try:
            embedder = self._make_for(space)
        except ConfigError as error:
            self.reasons[space.fingerprint] = str(error)
            return None
        if embedder.space.fingerprint != space.fingerprint:
            return None
        return embedder

    def query_vector(self, space: Space, query: str) -> Matrix | None:
        """Return the query's vector in a space; None if the embedder is not available here.

        The vectors of a service are cached, because each of them costs time or money. Raises `ProviderError` if the
        service fails.
        """
        embedder = self.for_space(space)
        if embedder is None:
            return None
        if self._caches is None or not isinstance(embedder, RemoteModel):
            vector: Matrix = embedder.embed([query], "query")[0]
            return vector
        cache = self._caches.queries(space)
        cached = cache.get(query)
        if cached is not None:
            return cached
        return cache.add(query, embedder.embed([query], "query")[0])

    def fixed_vectors(self, space: Space, texts: Sequence[str]) -> list[Matrix]:
        """Return the vectors of texts that never change; those of a service are cached for good.

        The list is empty if the embedder is not available here. Raises `ProviderError` if the service fails.
        """
        embedder = self.for_space(space)
        if embedder is None:
            return []
        if self._caches is None or not isinstance(embedder, RemoteModel):
            return list(embedder.embed(texts, "document"))
        cache = self._caches.fixed(space)
        return cache.complete(texts, lambda missing: embedder.embed(missing, "document"))

    def problems(self) -> list[str]:
        """Return why services fail at the moment, as far as this process knows."""
        with self._lock:
            models = [
                embedder
                for embedder in self._embedders.values()
                if isinstance(embedder, RemoteModel)
            ]
        return list(dict.fromkeys(model.problem for model in models if model.problem))

    def close(self) -> None:
        """Close the connections to services. They are opened again on the next use."""
        with self._lock:
            for embedder in self._embedders.values():
                if isinstance(embedder, RemoteModel):
                    embedder.close()

    def _make_for(self, space: Space) -> Embedder:
        """Return an embedder of the same provider with the model, dimension and prefixes of a space."""
        values: dict[str, object] = {
            "embed.model": space.model,
            "embed.dimension": space.dimension,
            "embed.query_prefix": space.query_prefix,
            "embed.document_prefix": space.document_prefix,
        }
        part = registry.find("embedder", space.embedder)
        configured = EmbedderName.parse(self._settings.embed.provider)
        if part != registry.find("embedder", configured.provider):
            values |= {"embed.url": None, "embed.api_key": None}
        return self._make(part.name, values)

    def _make(self, name: str, values: dict[str, object]) -> Embedder:
        origin = self._settings.origin("embed.provider")
        settings = self._settings.with_values(
            {key: (value, origin) for key, value in values.items()}
        )
        key = (name, *(settings.value(key) for key in _OF_ONE_PROVIDER))
        with self._lock:
            if key not in self._embedders:
                embedder: Embedder = registry.load("embedder", name)(settings)
                _check_obeyed(name, embedder, settings)
                # Two ways to name one model must not load it twice.
                twins = [
                    other for other in self._embedders.values() if other.space == embedder.space
                ]
                self._embedders[key] = twins[0] if twins else embedder
            return self._embedders[key]


def _check_obeyed(name: str, embedder: Embedder, settings: Settings) -> None:
    """Raise `ConfigError` if an embedder has another model, dimension or prefix than the settings say."""
    space, embed = embedder.space, settings.embed
    if embed.model not in (None, space.model):
        raise ConfigError(
            f"The embedder {name!r} has no model {embed.model!r}; it has {space.model!r}.",
            hint="remove embed.model, or choose another embed.provider",
        )
    if embed.dimension not in (None, space.dimension):
        raise ConfigError(
            f"The model {space.model!r} of {name!r} has {space.dimension} dimensions, not {embed.dimension}.",
            hint="remove embed.dimension",
        )
    _check_prefix(name, space.model, "query", embed.query_prefix, space.query_prefix)
    _check_prefix(name, space.model, "document", embed.document_prefix, space.document_prefix)


def _check_prefix(name: str, model: str, role: Role, prefix: str | None, used: str) -> None:
    """Raise `ConfigError` if an embedder does not use the prefix of the settings."""
    if prefix not in (None, used):
        raise ConfigError(
            f"The model {model!r} of {name!r} takes no prefix {prefix!r} before a {role}.",
            hint=f"remove embed.{role}_prefix",
        )
