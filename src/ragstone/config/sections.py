"""The sections of the settings: every setting with its type, default, limits and one line of documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ragstone.types import DEFAULT_STORAGE

T = TypeVar("T")
VectorStorage = Literal["int10", "compact"]
ChunkerName = Literal[
    "auto", "chars", "sentences", "tokens", "markdown", "code", "prose", "lines"
]
FusionName = Literal["weighted", "rrf"]
WatchMode = Literal["auto", "interval", "off"]
SecretMode = Literal["redact", "off"]
GraphMode = Literal["auto", "off"]
OcrMode = Literal["auto", "on", "off"]
BackgroundMode = Literal["auto", "on", "off"]
Device = Literal["auto", "cuda", "mps", "cpu"]
Guard = Literal["", "limit", "switch", "model", "files"]


@dataclass(frozen=True, slots=True)
class SettingRules:
    """The description and the limits of a setting."""

    doc: str
    low: int | None = None
    high: int | None = None
    aliases: tuple[str, ...] = ()
    """Other names of its environment variable, without the prefix."""
    secret: bool = False
    """Taken only from the environment or the user file, and never shown."""
    same_as: str = ""
    """The setting that this one is another name of; both always have the same value."""
    inside: bool = False
    """A path or globs that a project file may not point outside the folder."""
    personal: bool = False
    """Names a program or an address: not taken from a project file, which may come with a clone."""
    address: bool = False
    """An address that may have a password in it, which is never shown."""
    guard: Guard = ""
    """Protects the user: a project file needs `ragstone trust` to raise a limit, to turn a switch from its default, or
    to name a model that may cost money, or a folder of files that a package loads as a model.
    """
    instead_of: str = ""
    """The setting for the same thing in another unit; the one that is set last wins."""
    only_for: tuple[str, ...] = ()
    """The vector store providers that use it; with another provider it is refused."""


def setting(default: T, doc: str, **options: Any) -> T:
    """Return a dataclass field for a setting; the options are those of `SettingRules`."""
    rules = SettingRules(doc, **options)
    return field(default=default, metadata={"rules": rules}, repr=not rules.secret)  # type: ignore[no-any-return,call-overload,unused-ignore]


@dataclass(frozen=True, slots=True)
class VectorStoreSettings:
    """`[rag.vector_store]`: the store of the index."""

    provider: str = setting(
        "sqlite",
        "The index: `sqlite` (the same as `turbo`), `memory`, `file`, `chroma`, `milvus`; or `mcp`, another server.",
        aliases=("RAG_STORE",),
    )
    url: str | None = setting(
        None,
        "Address of a store that runs as a server.",
        personal=True,
        only_for=("chroma", "milvus", "postgres"),
    )
    api_key: str | None = setting(
        None,
        "Key for a store that runs as a server.",
        secret=True,
        only_for=("chroma", "milvus", "mcp", "postgres"),
    )
    mcp_server: str | None = setting(
        None,
        "MCP server that answers searches of the collection: a command line or a URL.",
        guard="switch",
        only_for=("mcp",),
    )
    mcp_tool: str | None = setting(
        None, "Search tool of that MCP server.", guard="switch", only_for=("mcp",)
    )
    path: str | None = setting(
        None,
        "Folder of an index that can have its own.",
        inside=True,
        only_for=("chroma", "milvus", "file"),
    )
    collection_name: str = setting("default", "Collection that is used by default.")


@dataclass(frozen=True, slots=True)
class RagSettings:
    """`[rag]`: the engine as a whole, and the size of chunks."""

    enabled: bool = setting(
        True, "With `false` the engine does nothing and loads nothing.", aliases=("TOOLS_RAG",)
    )
    embedding_provider: str = setting(
        "minilm", "Another name of `embed.provider`.", same_as="embed.provider", guard="files"
    )
    chunker: ChunkerName = setting("auto", "Name of the chunker; `auto` chooses by file type.")
    chunk_size: int | None = setting(
        None,
        "Largest chunk in characters (about four are a token); unset: the default of the chunker.",
        low=1,
        instead_of="chunk.max_tokens",
    )
    chunk_overlap: int | None = setting(
        None,
        "Overlap of neighbouring chunks in characters; smaller than the size.",
        low=0,
        instead_of="chunk.overlap_tokens",
    )
    vector_store: VectorStoreSettings = field(default_factory=VectorStoreSettings)


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """`[chunk]`: the size of chunks in tokens."""

    max_tokens: int | None = setting(
        None,
        "Largest chunk in tokens; unset: the default of the chunker.",
        low=1,
        instead_of="rag.chunk_size",
    )
    overlap_tokens: int | None = setting(
        None,
        "Overlap of neighbouring chunks in tokens; smaller than the size.",
        low=0,
        instead_of="rag.chunk_overlap",
    )


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """`[sources]`: which files are indexed."""

    base: str = setting(
        ".", "Folder that `include` starts from.", inside=True, aliases=("DOCS_BASE_DIR",)
    )
    include: tuple[str, ...] = setting(
        ("**",), "Globs or folders to index, relative to the base.", inside=True
    )
    exclude: tuple[str, ...] = setting((), "Globs to leave out, on top of the ignore files.")
    max_file_bytes: int = setting(
        5_000_000, "Larger files are skipped and reported.", low=1, guard="limit"
    )
    max_document_bytes: int = setting(
        50_000_000,
        "The same limit for PDF, office and web files, books and notebooks.",
        low=1,
        guard="limit",
    )
    max_files: int = setting(
        50_000, "More files are indexed only with `--yes`.", low=1, guard="limit"
    )
    git: bool = setting(True, "Use git's own ignore rules inside a repository.", guard="switch")
    secret_files: bool = setting(
        False, "Index files with names of secret files, such as `.env`.", guard="switch"
    )
    auto_sync_interval_seconds: int = setting(
        30, "How often the whole folder is scanned if the system reports no changes.", low=1
    )
    drift_check_seconds: int = setting(
        600,
        "How often `ragstone watch` scans the whole folder in addition to file events; 0: never.",
        low=0,
    )
    secrets: SecretMode = setting(
        "redact",
        "Keys and passwords in texts: `redact` removes them before storing, `off` stores them.",
        guard="switch",
    )


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """`[read]`: how files become text."""

    ocr: OcrMode = setting(
        "auto",
        "Recognise the text of scanned PDF pages and of PNG and JPEG pictures; `auto` if `ragstone[ocr]` is installed.",
    )
    ocr_pages: int = setting(
        50, "Most pages of one file that are recognised.", low=1, high=10_000, guard="limit"
    )
    ocr_seconds: int = setting(
        120, "Most seconds for recognising one file.", low=1, high=3600, guard="limit"
    )


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """`[embed]`: how text becomes vectors."""

    provider: str = setting(
        "minilm",
        "Name of the embedder: `minilm` (also `local`), `openai`, `gemini`, `ollama`, `fastembed`, "
        "`sentence-transformers`, `fake` (also `mock`); also `provider:model` and `provider:model@dimension`.",
        same_as="rag.embedding_provider",
        guard="files",
    )
    model: str | None = setting(None, "The model, or a folder with its files.", guard="files")
    dimension: int | None = setting(
        None,
        "Numbers per vector; unset: as many as the model has. Needed for models that are not known here.",
        low=1,
        high=16_384,
    )
    url: str | None = setting(
        None,
        "Address of the service, such as `http://127.0.0.1:8000/v1`; unset: the provider's own.",
        personal=True,
    )
    api_key: str | None = setting(
        None, "Key for the service; unset: the provider's usual variable.", secret=True
    )
    query_prefix: str | None = setting(
        None, "Text before every query; unset: the prefix that the model was trained with."
    )
    document_prefix: str | None = setting(
        None, "Text before every document; unset: the prefix that the model was trained with."
    )
    fallback: str | None = setting(
        None,
        "A second embedder, such as `local`, whose vectors answer while the service is down.",
        guard="model",
    )
    price: float | None = setting(
        None, "Dollars per million tokens; unset: the list price, if it is known.", low=0
    )
    concurrency: int = setting(
        4, "Requests that are sent to a service at the same time.", low=1, high=64
    )
    seconds: int = setting(
        60, "How long to wait for a service that embeds documents.", low=1, high=3600
    )
    query_seconds: int = setting(
        10,
        "How long a search waits for a service; then it answers by words.",
        low=1,
        high=600,
    )
    device: Device = setting(
        "auto",
        "Where `sentence-transformers` computes: `cuda`, `mps`, `cpu`, or the first of them that is there.",
    )
    threads: int = setting(0, "Threads that embed; 0: one for each core.", low=0, high=1024)
    storage: VectorStorage = setting(
        DEFAULT_STORAGE,
        "How new vectors are stored: `int10` (all but near ties) or `compact` (4 bits, some recall lost).",
    )
    background: BackgroundMode = setting(
        "auto",
        "Whether commands start a process that makes missing vectors: `on`, `off` or `auto` (not with a paid model, "
        "not if the variable CI is set).",
    )


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """`[rerank]`: the model of `rerank=…`, which orders the best candidates again."""

    model: str | None = setting(None, "The model, or a folder with its files.", guard="files")
    url: str | None = setting(
        None, "Address of the service; unset: the reranker's own.", personal=True
    )
    api_key: str | None = setting(
        None, "Key for the service; unset: the reranker's usual variable.", secret=True
    )
    seconds: int = setting(
        20, "How long to wait for the service; then the order stays.", low=1, high=600
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[search]`: how hits are found and ordered."""

    top_k: int = setting(5, "Hits that a search returns by default.", low=1, high=1000)
    fusion: FusionName = setting(
        "weighted", "How word and vector lists are merged: `weighted` or `rrf`."
    )
    candidates: int = setting(
        100,
        "Candidates of the word search; the vector search has 30 % of it, alone 50 %.",
        low=10,
        high=100_000,
    )
    watch: WatchMode = setting(
        "auto",
        "How an open engine notices changed files: `auto` (file events, else an interval), `interval`, "
        "`off` (only the files of hits are checked).",
    )
    refresh_ms: int = setting(
        300,
        "How long a search may embed changed files, in milliseconds; their words are always indexed.",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """`[code]`: how source code is analysed."""

    graph: GraphMode = setting(
        "auto", "Graph of routes, tables and classes: `auto` (updated by every sync) or `off`."
    )


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """`[store]`: the file on disk, or the database that several machines share."""

    path: str = setting(
        ".ragstone",
        "Home folder of the index, relative to the project.",
        inside=True,
        aliases=("RAG_STORE_PATH",),
    )
    cache_mb: int = setting(32, "Memory for SQLite's page cache, in MB.", low=1, high=65_536)
    url: str | None = setting(
        None,
        "Address of a PostgreSQL database that holds the index in place of the file: "
        "`postgresql://user:password@host:5432/database`. The password is never shown.",
        personal=True,
        address=True,
    )
    replica_url: str | None = setting(
        None,
        "Address of a read-only copy of that database, which answers searches.",
        personal=True,
        address=True,
    )


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`[web]`: web pages that are indexed by their address."""

    enabled: bool | None = setting(
        None,
        "Whether pages are fetched; unset: for users and programs, but not for servers; `false`: never.",
        personal=True,
    )
    allow: tuple[str, ...] = setting(
        (),
        "Hosts, such as `wiki.example:8080`, that may be private or on an unusual port.",
        personal=True,
    )
    max_bytes: int = setting(
        10_000_000, "Larger pages are refused.", low=1, high=1_000_000_000, guard="limit"
    )
    seconds: int = setting(30, "How long fetching one page may take.", low=1, high=3600)


@dataclass(frozen=True, slots=True)
class AskSettings:
    """`[ask]`: the language model of `ragstone ask`; nothing is sent if it is unset."""

    url: str | None = setting(
        None,
        "Address of an OpenAI-shaped service, such as `http://127.0.0.1:11434/v1` (Ollama).",
        personal=True,
    )
    model: str | None = setting(None, "Name of the model at that service.", personal=True)
    api_key: str | None = setting(None, "Key for that service.", secret=True)
    seconds: int = setting(120, "How long to wait for the service.", low=1, high=3600)
    temperature: float | None = setting(
        None, "Randomness of the answer; unset: the default of the service.", low=0, high=2
    )
    budget: int = setting(
        3000, "Tokens of retrieved text that the model gets.", low=200, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class DocumentToolSettings:
    """`[documents]`: the description of the tool `search_documents` for a model."""

    description: str | None = setting(None, "Description of the tool `search_documents`.")
    param_query: str | None = setting(None, "Description of its parameter `query`.")


@dataclass(frozen=True, slots=True)
class EventSettings:
    """`[events]`: the event log."""

    log: bool = setting(
        True, "Keep the last events in the home folder: two files of 1 MB at most."
    )
