"""Replaceable parts by name: the built-in ones, and plug-ins from other packages.

A package adds a part with an entry point in the group `ragstone.<group>`:

    [project.entry-points."ragstone.embedder"]
    mine = "my_package.embedder:configured"

A part is imported when it is loaded. docs/guides/plugins.md shows how each group calls its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from ragstone.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = (
    "embedder",
    "store",
    "vector_index",
    "remote_collection",
    "reranker",
    "framework",
    "code_questions",
    "kinds",
)


@dataclass(frozen=True, slots=True)
class RegisteredPart:
    """A part: its name, its import path ("module:attribute"), and the package that installs it."""

    group: str
    name: str
    target: str
    doc: str
    aliases: tuple[str, ...] = ()
    package: str = "ragstone"
    extra: str = ""
    """The optional dependencies of the package that the part needs."""
    is_paid: bool = False
    """Whether using the part costs money: no process uses it unasked."""

    @property
    def requirement(self) -> str:
        """Return the requirement that installs the part with everything it needs."""
        return f"{self.package}[{self.extra}]" if self.extra else self.package

    @property
    def all_names(self) -> tuple[str, ...]:
        """Return the name and the aliases."""
        return self.name, *self.aliases


BUILT_IN = (
    RegisteredPart(
        "embedder",
        "minilm",
        "ragstone.embed.minilm:configured",
        "MiniLM, in the package, no network",
        ("local",),
    ),
    RegisteredPart(
        "embedder",
        "fake",
        "ragstone.embed.fake:configured",
        "vectors from hashes, for tests",
        ("mock",),
    ),
    RegisteredPart(
        "embedder",
        "openai",
        "ragstone.embed.openai:configured",
        "OpenAI, or any service with its wire format (embed.url)",
        is_paid=True,
    ),
    RegisteredPart(
        "embedder",
        "gemini",
        "ragstone.embed.gemini:configured",
        "Google's Gemini API",
        is_paid=True,
    ),
    RegisteredPart(
        "embedder",
        "ollama",
        "ragstone.embed.ollama:configured",
        "models of a local Ollama",
    ),
    RegisteredPart(
        "embedder",
        "fastembed",
        "ragstone.embed.fastembed:configured",
        "ONNX models, downloaded on first use",
        extra="fastembed",
    ),
    RegisteredPart(
        "embedder",
        "sentence-transformers",
        "ragstone.embed.sentence_transformers:configured",
        "models of Hugging Face on CUDA, MPS or CPU",
        extra="sentence-transformers",
    ),
    RegisteredPart(
        "reranker",
        "cross-encoder",
        "ragstone.embed.rerank.cross_encoder:configured",
        "a local cross-encoder, downloaded on first use",
        extra="fastembed",
    ),
    RegisteredPart(
        "reranker", "cohere", "ragstone.embed.rerank.hosted:cohere", "Cohere's Rerank API"
    ),
    RegisteredPart(
        "reranker", "voyage", "ragstone.embed.rerank.hosted:voyage", "Voyage's Rerank API"
    ),
    RegisteredPart(
        "reranker", "jina", "ragstone.embed.rerank.hosted:jina", "Jina's Rerank API"
    ),
    RegisteredPart("store", "sqlite", "ragstone.store.sqlite:open_store", "one file on disk"),
    RegisteredPart(
        "store",
        "memory",
        "ragstone.store.sqlite:open_store",
        "SQLite in memory, gone when closed",
        ("mock",),
    ),
    RegisteredPart(
        "store",
        "postgres",
        "ragstone.store.postgres.store:open_store",
        "PostgreSQL with pgvector, shared by several machines (store.url)",
        extra="postgres",
    ),
    RegisteredPart(
        "vector_index",
        "turbo",
        "ragstone.vectors.turbo.index:open_index",
        "bit planes, memory-mapped, exact rescore",
    ),
    RegisteredPart(
        "vector_index",
        "memory",
        "ragstone.vectors.exact:open_index",
        "compares all vectors, nothing on disk",
    ),
    RegisteredPart(
        "vector_index",
        "file",
        "ragstone.vectors.file_index:open_index",
        "compares all vectors; a text file for each collection, to be committed",
    ),
    RegisteredPart(
        "vector_index",
        "chroma",
        "ragstone.vectors.chroma_index:open_index",
        "Chroma in a folder, or on a server (url)",
        extra="chroma",
    ),
    RegisteredPart(
        "vector_index",
        "milvus",
        "ragstone.vectors.milvus_index:open_index",
        "Milvus Lite in a folder, or a cluster (url)",
        extra="milvus",
    ),
    RegisteredPart(
        "vector_index",
        "pgvector",
        "ragstone.vectors.pgvector_index:open_index",
        "HNSW in the PostgreSQL database of the store (store.url)",
        extra="postgres",
    ),
    RegisteredPart(
        "remote_collection",
        "mcp",
        "ragstone.surfaces.mcp.remote_collection:open_collection",
        "a tool of another MCP server answers searches (mcp_server, mcp_tool)",
    ),
)


_INDEX_OF_STORE = {"memory": "memory", "postgres": "pgvector"}
"""The vector index that comes with a store; other stores get `turbo`."""


def load(group: str, name: str) -> Callable[..., Any]:
    """Import and return the class or function of a part."""
    part = find(group, name)
    label = f"The {_describe_group(group)} {name!r}"
    try:
        target = import_target(part.target)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{label} needs the package {error.name!r}, which is not installed.",
            hint=f"pip install '{part.requirement}'",
        ) from error
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"{label} ({part.target}) cannot be loaded: {error}.",
            hint=f"reinstall or update {part.package}",
        ) from error
    if not callable(target):
        raise ConfigError(f"{label} ({part.target}) is neither a class nor a function.")
    return cast("Callable[..., Any]", target)


def import_target(target: str) -> Any:  # noqa: ANN401 - a plug-in may name any object
    """Import and return the object with an import path ("module:attribute")."""
    module_name, _, attribute_path = target.partition(":")
    imported: Any = import_module(module_name)
    for attribute in attribute_path.split("."):
        imported = getattr(imported, attribute)
    return imported


def find(group: str, name: str) -> RegisteredPart:
    """Return the part with a name or alias, not imported; raise `ConfigError` if there is none."""
    part = _find_or_none(group, name)
    if part is None:
        raise ConfigError(
            f"There is no {_describe_group(group)} called {name!r}.",
            hint=_suggest(describe(group), name),
        )
    return part


def store_and_index(provider: str) -> tuple[str, str]:
    """Return the names of the store and of the vector index that `rag.vector_store.provider` chooses.

    The name of a store brings the index that fits it. The name of an index leaves the store as it is by default.
    """
    store = _find_or_none("store", provider)
    if store is not None:
        return store.name, _INDEX_OF_STORE.get(store.name, "turbo")
    index = _find_or_none("vector_index", provider)
    if index is not None:
        return "sqlite", index.name
    if is_remote(provider):
        return "sqlite", "turbo"
    stores = describe("store")
    known_names = {part.name for part in stores}
    indexes = [part for part in describe("vector_index") if part.name not in known_names]
    raise ConfigError(
        f"There is no store or vector index called {provider!r}.",
        hint=_suggest(stores + indexes + describe("remote_collection"), provider),
    )


def is_remote(provider: str) -> bool:
    """Return whether `rag.vector_store.provider` names a server that answers searches of one collection."""
    return _find_or_none("remote_collection", provider) is not None


def _find_or_none(group: str, name: str) -> RegisteredPart | None:
    """Return the part with a name or alias; None if there is none. Two plug-ins of one name are refused."""
    matches = [part for part in _built_in_parts(group) if name in part.all_names]
    if not matches:
        matches = [part for part in _plug_ins(group) if name == part.name]
    if not matches:
        return None
    targets = {part.target for part in matches}
    if len(targets) > 1:
        packages = ", ".join(sorted(part.package for part in matches))
        raise ConfigError(
            f"Several packages bring a {_describe_group(group)} called {name!r}: {packages}.",
            hint="uninstall all but one",
        )
    return matches[0]


def names(group: str) -> list[str]:
    """Return the names of all parts in a group, built-in ones first, without aliases."""
    return [part.name for part in describe(group)]


def describe(group: str) -> list[RegisteredPart]:
    """Return all parts of a group, built-in ones first; a plug-in with a built-in name is ignored."""
    parts = _built_in_parts(group)
    built_in_names = set(chain.from_iterable(part.all_names for part in parts))
    return parts + [part for part in _plug_ins(group) if part.name not in built_in_names]


def _built_in_parts(group: str) -> list[RegisteredPart]:
    if group not in GROUPS:
        raise ConfigError(
            f"There is no kind of part called {group!r}.", hint=f"known: {', '.join(GROUPS)}"
        )
    return [part for part in BUILT_IN if part.group == group]


def _plug_ins(group: str) -> list[RegisteredPart]:
    # `importlib.metadata` loads many modules: a built-in name does not need it.
    from importlib.metadata import entry_points

    parts = [
        RegisteredPart(group, point.name, point.value, "plug-in", package=_package(point))
        for point in entry_points(group=f"ragstone.{group}")
    ]
    return sorted(parts, key=lambda part: (part.name, part.package))


def _package(point: EntryPoint) -> str:
    if point.dist is not None:
        return point.dist.name
    return point.module.partition(".")[0]


def _suggest(parts: list[RegisteredPart], name: str) -> str:
    """Return a hint with the most similar name and the names of all parts."""
    if not parts:
        return "none is installed"
    known_names = list(chain.from_iterable(part.all_names for part in parts))
    matches = get_close_matches(name.lower(), known_names, n=1, cutoff=0.6)
    suggestion = f"did you mean {matches[0]}? " if matches else ""
    return f"{suggestion}known: {', '.join(part.name for part in parts)}"


def _describe_group(group: str) -> str:
    return group.replace("_", " ")
