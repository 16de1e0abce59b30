"""`agents.yaml`: which documents each agent of another tool gets, and how they are indexed.

The user's file wins over the project's, key by key; the environment wins over both. Only the blocks `rag` and `docs`
are ours; the rest of the file belongs to the other tool and is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from ragstone.config.files import MAX_YAML_BYTES, PROJECT_LAYER, read_settings_file
from ragstone.config.load import user_file
from ragstone.config.restrictions import check_combination, leads_outside
from ragstone.config.settings import Settings, setting_keys
from ragstone.config.validation import ValueType, check_known, check_value
from ragstone.config.yaml_file import YamlEntry, parse_yaml
from ragstone.errors import ConfigError
from ragstone.types import Agent, Strategy

FILE_NAME: Final = "agents.yaml"
_MAX_NAME_LENGTH: Final = 100
_EXAMPLE: Final = 'for example `docs: {strategy: rag, sources: ["docs/*.md"]}`'
_RAG_SETTINGS: Final[Mapping[str, str]] = {
    "store": "rag.vector_store.provider",
    "path": "store.path",
    "chunk_size": "rag.chunk_size",
    "chunk_overlap": "rag.chunk_overlap",
}
"""The name in the block `rag` → our name."""
_DOCS_SETTINGS: Final[Mapping[str, str]] = {
    "top_k": "search.top_k",
    "sources": "sources.include",
    "chunk_size": "rag.chunk_size",
    "chunk_overlap": "rag.chunk_overlap",
}


def _docs_types() -> dict[str, ValueType]:
    """Return the type of every key in the block `docs`."""
    keys = setting_keys()
    types = {name: keys[setting].value_type for name, setting in _DOCS_SETTINGS.items()}
    types["strategy"] = ValueType.from_hint(Strategy)
    types["budget"] = ValueType(int, 1, 10_000_000)
    return types


@dataclass(frozen=True, slots=True)
class AgentsFile:
    """The agents that are named, and the settings of their index."""

    agents: Mapping[str, Agent] = field(default_factory=dict)
    rag: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    """Setting → value and origin, from the block `rag`."""

    def settings(self, agent: Agent, settings: Settings) -> Settings:
        """Return the settings for an agent's documents: the folder's, with those of this file and of the agent."""
        values: dict[str, tuple[object, str]] = {}
        for name, value_and_origin in self.rag.items():
            if not _is_overridden(name, settings):
                values[name] = value_and_origin
        values["search.top_k"] = (agent.top_k, agent.origin)
        sources_origin = f"{agent.origin}, docs.sources of {agent.name!r}"
        values["sources.include"] = (agent.sources, sources_origin)
        if agent.strategy == "rag" and settings.origin("rag.enabled") != "argument":
            # The agent's own choice wins over the switch for all.
            values["rag.enabled"] = (True, agent.origin)
        if agent.chunk_size is not None:
            values["rag.chunk_size"] = (agent.chunk_size, agent.origin)
        if agent.chunk_overlap is not None:
            values["rag.chunk_overlap"] = (agent.chunk_overlap, agent.origin)
        combined = settings.with_values(values)
        size_names = ("rag.chunk_size", "rag.chunk_overlap")
        sizes = {name: combined.value(name) for name in size_names}
        origins = {name: combined.origin(name) for name in size_names}
        check_combination(sizes, origins)
        return combined


def _is_overridden(name: str, settings: Settings) -> bool:
    """Return whether an argument or the environment sets a setting, in this or in another unit."""
    other = setting_keys()[name].rules.instead_of
    return settings.is_overridden(name) or bool(other and settings.is_overridden(other))


def load_agents(settings: Settings, environ: Mapping[str, str] | None = None) -> AgentsFile:
    """Return the agents of the folder's and the user's `agents.yaml`; none if there is no such file."""
    rag: dict[str, tuple[object, str]] = {}
    docs: dict[str, dict[str, Any]] = {}
    folders = {PROJECT_LAYER: settings.root}
    user = user_file(environ)
    if user is not None:
        folders["user file"] = user.parent
    for layer, folder in folders.items():
        path = folder / FILE_NAME
        text = read_settings_file(path, MAX_YAML_BYTES, allow_link=layer != PROJECT_LAYER)
        if text is None:
            continue
        parser = _AgentsParser(settings, f"{layer} {path}", is_trusted=layer == "user file")
        tree = parser.mapping(parse_yaml(text, parser.origin), "the file")
        rag |= parser.rag(tree)
        for name, values in parser.agents(tree):
            docs[name] = {**docs.get(name, {}), **values}
    agents = {name: Agent(name, **values) for name, values in docs.items()}
    for agent in agents.values():
        if agent.origin and not agent.sources:
            raise ConfigError(
                f"docs of the agent {agent.name!r} ({agent.origin}) name no sources.",
                hint=_EXAMPLE,
            )
    return AgentsFile(MappingProxyType(agents), MappingProxyType(rag))


@dataclass(frozen=True, slots=True)
class _AgentsParser:
    """Reads one file; a file of the user is trusted with places outside the folder."""

    settings: Settings
    origin: str
    is_trusted: bool

    def mapping(self, entry: YamlEntry, label: str) -> Mapping[str, YamlEntry]:
        """Return a mapping, empty if there is no value; raise `ConfigError` if it is something else."""
        if entry.value is None:
            return {}
        if not isinstance(entry.value, Mapping):
            raise ConfigError(
                f"In {self._at(entry)}: {label} must map names to values.", hint=_EXAMPLE
            )
        return entry.value

    def rag(self, tree: Mapping[str, YamlEntry]) -> dict[str, tuple[object, str]]:
        """Return the values of the block `rag` by our names."""
        if "rag" not in tree:
            return {}
        block = self.mapping(tree["rag"], "rag")
        values: dict[str, tuple[object, str]] = {}
        for name, entry in block.items():
            place = self._at(entry)
            check_known(name, _RAG_SETTINGS, f"Unknown key {name!r} in rag ({place}).")
            if entry.value in (None, ""):
                continue
            key = setting_keys()[_RAG_SETTINGS[name]]
            value = check_value(f"rag.{name}", entry.plain, key.value_type, origin=place)
            if key.rules.inside:
                self._check_path(f"rag.{name}", str(value), place)
            values[key.name] = (value, f"{self.origin}, rag.{name}")
        return values

    def _check_path(self, name: str, path: str, place: str) -> None:
        """Raise `ConfigError` if a file that is not trusted names a path outside the folder."""
        if not self.is_trusted and leads_outside(self.settings.root, path):
            raise ConfigError(
                f"{name} in {place} points outside the project folder: {path!r}.",
                hint="if you want that, set RAGSTONE_RAG_STORE_PATH or put it in your own agents.yaml",
            )

    def agents(self, tree: Mapping[str, YamlEntry]) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield each agent's name and the values of its block `docs`."""
        for name, entry in self._agent_entries(tree):
            if not name.strip() or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
                short_name = name[:_MAX_NAME_LENGTH]
                raise ConfigError(
                    f"In {self._at(entry)}: {short_name!r} is no name for an agent."
                )
            block = self.mapping(entry, f"the agent {name!r}")
            docs: dict[str, object] = {}
            if "docs" in block:
                docs = self._docs(name, block["docs"])
            yield name, docs

    def _agent_entries(self, tree: Mapping[str, YamlEntry]) -> Iterator[tuple[str, YamlEntry]]:
        """Yield the agents: a mapping or a list with ids under `agents`, else entries of the file with `docs`."""
        if "agents" not in tree:
            for name, entry in tree.items():
                if name != "rag" and isinstance(entry.value, Mapping) and "docs" in entry.value:
                    yield name, entry
            return
        block = tree["agents"]
        if isinstance(block.value, tuple):
            yield from self._listed_agents(block.value)
        else:
            yield from self.mapping(block, "agents").items()

    def _listed_agents(self, entries: Iterable[YamlEntry]) -> Iterator[tuple[str, YamlEntry]]:
        """Yield the agents of a list by their ids."""
        seen: set[str] = set()
        for entry in entries:
            identifier = self.mapping(entry, "agents").get("id")
            if identifier is None or not isinstance(identifier.value, str):
                raise ConfigError(
                    f"In {self._at(entry)}: an agent in a list needs an id.",
                    hint="`- id: my-agent`",
                )
            if identifier.value in seen:
                raise ConfigError(
                    f"In {self._at(entry)}: there are two agents with the id {identifier.value!r}.",
                    hint="give each its own id",
                )
            seen.add(identifier.value)
            yield identifier.value, entry

    def _docs(self, agent: str, block: YamlEntry) -> dict[str, object]:
        label = f"docs of the agent {agent!r}"
        types = _docs_types()
        values: dict[str, object] = {}
        for name, entry in self.mapping(block, label).items():
            place = self._at(entry)
            check_known(name, types, f"Unknown key {name!r} in {label} ({place}).")
            if entry.value is None:
                continue
            value = entry.plain
            if name == "sources" and isinstance(value, str):
                value = [value]
            key_label = f"docs.{name} of the agent {agent!r}"
            values[name] = check_value(key_label, value, types[name], origin=place)
            if name == "sources":
                self._check_sources(values[name], agent, place)
        if values:
            values["origin"] = self.origin
        return values

    def _check_sources(self, globs: object, agent: str, place: str) -> None:
        """Raise `ConfigError` if a source leads out of the folder that sources start from."""
        if not isinstance(globs, tuple):
            return
        for glob in globs:
            if leads_outside(self.settings.base, glob):
                raise ConfigError(
                    f"docs.sources of the agent {agent!r} in {place} points outside the folder: {glob!r}.",
                    hint="sources are below the project's folder; RAGSTONE_DOCS_BASE_DIR names another one",
                )

    def _at(self, entry: YamlEntry) -> str:
        return f"{self.origin}, line {entry.line}"
