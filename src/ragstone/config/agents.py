"""`agents.yaml`: which documents each agent of another tool gets, and where their index is.

Layers, lowest first: what is built in, the project's file, the user's file; then the environment. All that is not under
`rag` or `docs` belongs to the tool whose agents they are, and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from ragstone.config import validation as check
from ragstone.config.files import MAX_YAML_BYTES, file_text
from ragstone.config.load import user_file
from ragstone.config.settings import Key, Rules, Settings, keys
from ragstone.config.yaml_file import Entry, parsed
from ragstone.errors import ConfigError
from ragstone.types import Agent, Strategy

FILE_NAME: Final = "agents.yaml"
LONGEST_NAME: Final = 100
_SAID: Final = ("environment", "argument")
_RAG: Final[Mapping[str, str]] = {
    "store": "rag.vector_store.provider",
    "path": "store.path",
    "chunk_size": "rag.chunk_size",
    "chunk_overlap": "rag.chunk_overlap",
}
"""What `rag` calls a setting → what we call it."""


def _docs_keys() -> dict[str, Key]:
    known = keys()
    own = {
        "strategy": Key("strategy", Strategy, "preload", Rules("")),
        "budget": Key("budget", int, 12_000, Rules("", low=1, high=10_000_000)),
    }
    same = {
        "top_k": known["search.top_k"],
        "sources": known["sources.include"],
        "chunk_size": known["rag.chunk_size"],
        "chunk_overlap": known["rag.chunk_overlap"],
    }
    return own | same


@dataclass(frozen=True, slots=True)
class Staff:
    """The agents that are named, and what is said about the index of their documents."""

    agents: Mapping[str, Agent] = field(default_factory=dict)
    rag: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    """Setting → value and origin, as the `rag` block says."""

    def settings(self, agent: Agent, settings: Settings) -> Settings:
        """Return the settings that an agent's documents are kept by: the folder's, narrowed to the agent's."""
        values: dict[str, tuple[object, str]] = {
            key: said for key, said in self.rag.items() if settings.origin(key).split()[0] not in _SAID
        }
        for key, size in (("rag.chunk_size", agent.chunk_size), ("rag.chunk_overlap", agent.chunk_overlap)):
            if size is not None:
                values[key] = (size, agent.origin)
        values["search.top_k"] = (agent.top_k, agent.origin)
        values["sources.include"] = (agent.sources, agent.origin)
        made = settings
        for key, (value, _) in values.items():
            made = _with(made, key.split("."), value)
        origins = {**settings.origins, **{key: origin for key, (_, origin) in values.items()}}
        sizes = {key: made.value(key) for key in ("rag.chunk_size", "rag.chunk_overlap")}
        check.together(sizes, {key: origins.get(key, "default") for key in sizes})
        return replace(made, origins=MappingProxyType(origins))


def agents(settings: Settings, environ: Mapping[str, str] | None = None) -> Staff:
    """Return the agents that a folder's and the user's `agents.yaml` name; none where there is no such file."""
    rag: dict[str, tuple[object, str]] = {}
    docs: dict[str, dict[str, Any]] = {}
    own = user_file(environ)
    places = [(settings.root, "project file"), *([(own.parent, "user file")] if own is not None else [])]
    for folder, whose in places:
        path = folder / FILE_NAME
        text = file_text(path, MAX_YAML_BYTES)
        if text is None:
            continue
        layer = _Layer(settings, f"{whose} {path}", trusted=whose == "user file")
        tree = layer.mapping(parsed(text, layer.origin), "the file")
        rag |= layer.rag(tree)
        for name, said in layer.agents(tree):
            docs[name] = {**docs.get(name, {}), **said}
    made = {name: Agent(name, **said) for name, said in docs.items()}
    for agent in made.values():
        if agent.origin and not agent.sources:
            raise ConfigError(f"docs of the agent {agent.name!r} ({agent.origin}) name no sources.", hint=_EXAMPLE)
    return Staff(MappingProxyType(made), MappingProxyType(rag))


_EXAMPLE: Final = 'for example `docs: {strategy: rag, sources: ["docs/*.md"]}`'


@dataclass(frozen=True, slots=True)
class _Layer:
    """One file: who says something, and what they may say."""

    settings: Settings
    origin: str
    trusted: bool

    def mapping(self, entry: Entry, what: str) -> Mapping[str, Entry]:
        """Return a mapping, empty where nothing stands, or raise `ConfigError`."""
        if entry.value is None:
            return {}
        if not isinstance(entry.value, Mapping):
            raise ConfigError(f"In {self.origin}, line {entry.line}: {what} must map names to values.", hint=_EXAMPLE)
        return entry.value

    def rag(self, tree: Mapping[str, Entry]) -> dict[str, tuple[object, str]]:
        """Return what the `rag` block says, by our names."""
        block = self.mapping(tree["rag"], "rag") if "rag" in tree else {}
        found: dict[str, tuple[object, str]] = {}
        for name, entry in block.items():
            self._known(name, _RAG, entry, "rag")
            key = replace(keys()[_RAG[name]], name=f"rag.{name}")
            if entry.value is None:
                continue
            value = check.typed(key, entry.plain, origin=self._at(entry))
            if key.rules.inside and not self.trusted and check.leaves(self.settings.root, str(value)):
                raise ConfigError(
                    f"rag.{name} in {self._at(entry)} points outside the project folder: {value!r}.",
                    hint="if you want that, set RAGSTONE_RAG_STORE_PATH or put it in your own agents.yaml",
                )
            found[_RAG[name]] = (value, f"{self.origin}, rag.{name}")
        return found

    def agents(self, tree: Mapping[str, Entry]) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield each agent's name and what its `docs` say."""
        listed = "agents" in tree
        found = self.mapping(tree["agents"], "agents") if listed else tree
        for name, entry in found.items():
            if not listed and (name == "rag" or not isinstance(entry.value, Mapping) or "docs" not in entry.value):
                continue  # something of the tool's own
            if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
                raise ConfigError(f"In {self._at(entry)}: {name[:LONGEST_NAME]!r} is no name for an agent.")
            about = self.mapping(entry, f"the agent {name!r}")
            yield name, self._docs(name, about["docs"]) if "docs" in about else {}

    def _docs(self, agent: str, block: Entry) -> dict[str, object]:
        known = _docs_keys()
        found: dict[str, object] = {}
        for name, entry in self.mapping(block, f"docs of the agent {agent!r}").items():
            self._known(name, known, entry, f"docs of the agent {agent!r}")
            if entry.value is None:
                continue
            said = [entry.value] if name == "sources" and isinstance(entry.value, str) else entry.plain
            key = replace(known[name], name=f"docs.{name} of the agent {agent!r}")
            found[name] = check.typed(key, said, origin=self._at(entry))
            if name == "sources":
                self._inside(found[name], agent, entry)
        return {**found, "origin": self.origin} if found else {}

    def _inside(self, globs: object, agent: str, entry: Entry) -> None:
        """Raise `ConfigError` where a source leads out of the folder that sources start from."""
        for glob in globs if isinstance(globs, tuple) else ():
            if check.leaves(self.settings.base, glob):
                raise ConfigError(
                    f"docs.sources of the agent {agent!r} in {self._at(entry)} points outside the folder: {glob!r}.",
                    hint="sources are below the project's folder; RAGSTONE_DOCS_BASE_DIR names another one",
                )

    def _known(self, name: str, known: Mapping[str, object], entry: Entry, where: str) -> None:
        if name not in known:
            hint = check.nearest(name, known) or f"known are {', '.join(known)}"
            raise ConfigError(f"Unknown key {name!r} in {where} ({self._at(entry)}).", hint=hint)

    def _at(self, entry: Entry) -> str:
        return f"{self.origin}, line {entry.line}"


def _with(settings: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any section of settings
    """Return settings, or a section of them, with one value another."""
    if len(path) == 1:
        return replace(settings, **{path[0]: value})
    return replace(settings, **{path[0]: _with(getattr(settings, path[0]), path[1:], value)})
