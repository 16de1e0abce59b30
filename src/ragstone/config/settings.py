"""Every setting there is: its name, type, default, limits and the one line that explains it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

from ragstone.errors import ConfigError
from ragstone.types import DEFAULT_STORAGE

T = TypeVar("T")
Storage = Literal["int10", "int16", "int8", "compact"]
Fusion = Literal["weighted", "rrf"]
Watching = Literal["auto", "interval", "off"]
Secrets = Literal["redact", "off"]
Graphs = Literal["auto", "off"]
DEFAULT = "default"
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Rules:
    """What is known about a setting besides its type and default."""

    doc: str
    low: int | None = None
    high: int | None = None
    aliases: tuple[str, ...] = ()
    """Other environment names, after the prefix."""
    secret: bool = False
    """Taken from the environment only and never shown."""
    inside: bool = False
    """A path, or globs: a project file may not point it outside the folder."""
    personal: bool = False
    """Names a program or an endpoint: not taken from a file that may have come with a clone."""
    only_for: tuple[str, ...] = ()
    """The vector store providers that use it; with another one it is refused rather than ignored."""


def setting(default: T, rules: Rules) -> T:
    """Return a dataclass field that carries its rules."""
    return field(default=default, metadata={"rules": rules}, repr=not rules.secret)  # type: ignore[no-any-return,call-overload,unused-ignore]


@dataclass(frozen=True, slots=True)
class VectorStore:
    """`[rag.vector_store]`: where everything stays."""

    provider: str = setting(
        "sqlite", Rules("Name of the store: `sqlite` (one file) or `memory`.", aliases=("RAG_STORE",))
    )
    url: str | None = setting(
        None, Rules("Address of a store that runs as a server.", personal=True, only_for=("chroma", "postgres"))
    )
    api_key: str | None = setting(
        None, Rules("Key for a store that runs as a server.", secret=True, only_for=("chroma", "postgres"))
    )
    mcp_server: str | None = setting(None, Rules("MCP server that answers searches.", personal=True, only_for=("mcp",)))
    mcp_tool: str | None = setting(None, Rules("Tool of that MCP server.", personal=True, only_for=("mcp",)))
    path: str | None = setting(None, Rules("Folder of a store that keeps one.", inside=True, only_for=("chroma",)))
    collection_name: str = setting("default", Rules("Collection that is used when none is named."))


@dataclass(frozen=True, slots=True)
class Rag:
    """`[rag]`: the engine as a whole, and how documents are cut."""

    enabled: bool = setting(
        True, Rules("With `false` the engine does nothing and loads nothing.", aliases=("TOOLS_RAG",))
    )
    embedding_provider: str = setting(
        "minilm", Rules("Name of the embedder: `minilm` (also `local`) or `fake` (also `mock`).")
    )
    chunker: str = setting("auto", Rules("Name of the chunker; `auto` chooses by file type."))
    chunk_size: int | None = setting(
        None, Rules("Largest chunk, in the chunker's own unit; unset: the chunker's default.", low=1)
    )
    chunk_overlap: int | None = setting(
        None, Rules("What neighbouring chunks share, in the same unit; smaller than the size.", low=0)
    )
    vector_store: VectorStore = field(default_factory=VectorStore)


@dataclass(frozen=True, slots=True)
class Sources:
    """`[sources]`: which files are looked at."""

    base: str = setting(".", Rules("Folder that `include` starts from.", inside=True, aliases=("DOCS_BASE_DIR",)))
    include: tuple[str, ...] = setting(("**",), Rules("Globs or folders to index, relative to the base.", inside=True))
    exclude: tuple[str, ...] = setting((), Rules("Globs to leave out, on top of the ignore files."))
    max_file_bytes: int = setting(5_000_000, Rules("Larger files are skipped, and the report says so.", low=1))
    max_document_bytes: int = setting(
        50_000_000, Rules("The same for PDF, office and web files, books and notebooks.", low=1)
    )
    max_files: int = setting(50_000, Rules("More files than this are indexed only on request.", low=1))
    git: bool = setting(True, Rules("Use git's own ignore rules inside a repository."))
    secret_files: bool = setting(False, Rules("Index files whose name says that they hold secrets."))
    auto_sync_interval_seconds: int = setting(
        30, Rules("How often the whole folder is looked at where the system does not tell of changes.", low=1)
    )
    drift_check_seconds: int = setting(
        600, Rules("How often `ragstone watch` looks at the whole folder though it is told; 0: never.", low=0)
    )
    secrets: Secrets = setting(
        "redact", Rules("Keys and passwords in texts: `redact` takes them out before storing, `off` leaves them in.")
    )


@dataclass(frozen=True, slots=True)
class Embed:
    """`[embed]`: how text becomes vectors."""

    threads: int = setting(0, Rules("Threads that embed; 0: one for each core.", low=0, high=1024))
    storage: Storage = setting(
        DEFAULT_STORAGE,
        Rules("How new vectors are kept: `int10` (all but near ties), `int16` (exact), `int8` or `compact` (4 bits)."),
    )


@dataclass(frozen=True, slots=True)
class Search:
    """`[search]`: how answers are found and ordered."""

    top_k: int = setting(5, Rules("Hits returned when a call does not say.", low=1, high=1000))
    fusion: Fusion = setting("weighted", Rules("How word and vector lists become one: `weighted` or `rrf`."))
    candidates: int = setting(
        100, Rules("Candidates by words; vectors bring three tenths as many, alone half.", low=10, high=100_000)
    )
    cache_entries: int = setting(256, Rules("Answers remembered until the index changes; 0: none.", low=0))
    watch: Watching = setting(
        "auto",
        Rules(
            "How an open engine learns of files that changed: `auto` (from the system, else by interval), `interval`, "
            "`off` (only the files of hits are looked at)."
        ),
    )
    refresh_ms: int = setting(
        300, Rules("How long a search may make vectors for what changed; its words are taken in always.", low=0)
    )


@dataclass(frozen=True, slots=True)
class Code:
    """`[code]`: what is made of programs."""

    graph: Graphs = setting(
        "auto", Rules("Routes, tables, classes and how they hang together: `auto` (with every sync) or `off`.")
    )


@dataclass(frozen=True, slots=True)
class Store:
    """`[store]`: the file on disk."""

    path: str = setting(
        ".ragstone",
        Rules("Home folder of the index, relative to the project.", inside=True, aliases=("RAG_STORE_PATH",)),
    )
    cache_mb: int = setting(32, Rules("Memory for SQLite's page cache, in MB.", low=1, high=65_536))
    # Mapped, a search of 100k chunks takes a tenth less time and 1 KB a chunk more memory; and a disk that fails under
    # a mapping ends the process.
    mmap_mb: int = setting(0, Rules("How much of the file is memory-mapped, in MB; 0: nothing.", low=0, high=1_048_576))


@dataclass(frozen=True, slots=True)
class Web:
    """`[web]`: pages taken in by their addresses."""

    enabled: bool | None = setting(
        None,
        Rules("Fetch pages; unset: when a person or program asks, but no server does; `false`: never.", personal=True),
    )
    allow: tuple[str, ...] = setting(
        (), Rules("Hosts, such as `wiki.example:8080`, that may be private or on an unusual port.", personal=True)
    )
    max_bytes: int = setting(10_000_000, Rules("Larger pages are refused.", low=1, high=1_000_000_000))
    seconds: int = setting(30, Rules("How long fetching one page may take.", low=1, high=3600))


@dataclass(frozen=True, slots=True)
class Ask:
    """`[ask]`: the language model that `ragstone ask` may use; nothing is sent anywhere while it is unset."""

    url: str | None = setting(
        None, Rules("Address of an OpenAI-shaped service, such as `http://127.0.0.1:11434/v1` (Ollama).", personal=True)
    )
    model: str | None = setting(None, Rules("Name of the model, as the service calls it.", personal=True))
    api_key: str | None = setting(None, Rules("Key for that service.", secret=True))
    seconds: int = setting(120, Rules("How long to wait for the service.", low=1, high=3600))
    budget: int = setting(3000, Rules("Tokens of retrieved text that the model is shown.", low=200, high=1_000_000))


@dataclass(frozen=True, slots=True)
class Documents:
    """`[documents]`: how the tool `search_documents` is described to a model."""

    description: str | None = setting(None, Rules("What the tool `search_documents` is for, as a model reads it."))
    param_query: str | None = setting(None, Rules("What its `query` takes, as a model reads it."))


@dataclass(frozen=True, slots=True)
class Events:
    """`[events]`: what is kept of what happened."""

    log: bool = setting(True, Rules("Keep the last events in the home folder: two files of 1 MB at most."))


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one folder; `origin` says where each came from."""

    rag: Rag = field(default_factory=Rag)
    sources: Sources = field(default_factory=Sources)
    embed: Embed = field(default_factory=Embed)
    search: Search = field(default_factory=Search)
    code: Code = field(default_factory=Code)
    store: Store = field(default_factory=Store)
    web: Web = field(default_factory=Web)
    ask: Ask = field(default_factory=Ask)
    documents: Documents = field(default_factory=Documents)
    events: Events = field(default_factory=Events)
    root: Path = field(default_factory=Path)
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def home(self) -> Path:
        """Return the folder that holds the index."""
        return self._place("store.path")

    @property
    def home_named(self) -> bool:
        """Return whether the user named that folder, and not a file or a link that may have come with a clone."""
        return self.origin("store.path").partition(" ")[0] in ("argument", "environment", "user")

    @property
    def base(self) -> Path:
        """Return the folder that sources are looked for in."""
        return self._place("sources.base")

    def value(self, key: str) -> object:
        """Return the value of a dotted key."""
        if key not in keys():
            raise ConfigError(f"There is no setting {key!r}.", hint="`ragstone config` lists them all")
        here: object = self
        for part in key.split("."):
            here = getattr(here, part)
        return here

    def origin(self, key: str) -> str:
        """Return where the value of a dotted key came from, in words."""
        self.value(key)
        return self.origins.get(key, DEFAULT)

    def listing(self) -> list[tuple[str, object, str]]:
        """Return (key, value, origin) for every setting, secrets hidden."""
        return [(name, self._shown(key), self.origin(name)) for name, key in keys().items()]

    def _place(self, key: str) -> Path:
        path = str(self.value(key))
        try:
            return self.root / Path(path).expanduser()
        except RuntimeError as error:
            raise ConfigError(f"{key} names a home folder that is not known: {path!r} ({self.origin(key)}).") from error

    def _shown(self, key: Key) -> object:
        value = self.value(key.name)
        return HIDDEN if key.rules.secret and value is not None else value


@dataclass(frozen=True, slots=True)
class Key:
    """One setting as a table row: dotted name, type, default, rules."""

    name: str
    type: object
    default: object
    rules: Rules

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the only values it takes; none: it takes others too."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def variable(self) -> str:
        """Return the name of its environment variable."""
        return "RAGSTONE_" + self.name.upper().replace(".", "_")

    @property
    def variables(self) -> tuple[str, ...]:
        """Return every environment name it answers to, the full one first."""
        return (self.variable, *(f"RAGSTONE_{alias}" for alias in self.rules.aliases))


@cache
def keys() -> Mapping[str, Key]:
    """Return every setting by its dotted name, in the order they are written above."""
    return MappingProxyType({key.name: key for key in _keys_of(Settings, "")})


def _keys_of(section: type, prefix: str) -> list[Key]:
    hints = get_type_hints(section)
    found: list[Key] = []
    for item in dataclasses.fields(section):
        kind = hints[item.name]
        if "rules" in item.metadata:
            found.append(Key(prefix + item.name, kind, item.default, item.metadata["rules"]))
        elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
            found.extend(_keys_of(kind, f"{prefix}{item.name}."))
    return found


def build(values: Mapping[str, object], *, root: Path, origins: Mapping[str, str]) -> Settings:
    """Return settings with these dotted values and defaults for the rest."""
    return dataclasses.replace(_section(Settings, "", values), root=root, origins=MappingProxyType(dict(origins)))


def _section(section: type[T], prefix: str, values: Mapping[str, object]) -> T:
    hints = get_type_hints(section)
    chosen: dict[str, object] = {}
    for item in dataclasses.fields(section):  # type: ignore[arg-type]
        name = prefix + item.name
        if name in values:
            chosen[item.name] = values[name]
        elif dataclasses.is_dataclass(hints[item.name]):
            chosen[item.name] = _section(hints[item.name], f"{name}.", values)
    return section(**chosen)
