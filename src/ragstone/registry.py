"""Name → object. Every replaceable part is found here, the built-in ones registered like any plug-in.

A package adds a part with an entry point in the group `ragstone.<group>`:

    [project.entry-points."ragstone.embedder"]
    mine = "my_package.embedder:configured"

What a name stands for is called with the settings (embedders) or as its group's protocol says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ragstone.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("embedder", "store", "vector_index", "codec", "order", "reranker", "framework", "code_questions")


@dataclass(frozen=True, slots=True)
class Part:
    """A part by name: where it lives ("module:attribute"), what it is, and what installs it."""

    group: str
    name: str
    target: str
    doc: str
    aliases: tuple[str, ...] = ()
    package: str = "ragstone"


BUILT_IN = (
    Part("embedder", "minilm", "ragstone.embed.minilm:configured", "MiniLM, in the package, no network", ("local",)),
    Part("embedder", "fake", "ragstone.embed.fake:configured", "vectors from hashes, for tests", ("mock",)),
    Part("store", "sqlite", "ragstone.store.sqlite:SqliteStore", "one file on disk"),
    Part("store", "memory", "ragstone.store.sqlite:SqliteStore", "SQLite in memory, gone when closed", ("mock",)),
    Part(
        "vector_index", "turbo", "ragstone.vectors.space_index:SpaceIndex", "bit planes, memory-mapped, exact rescore"
    ),
    Part("codec", "int10", "ragstone.vectors.rows:Int10Codec", "10 bits a number: less than a third of float32"),
    Part("codec", "int16", "ragstone.vectors.rows:Int16Codec", "16 bits a number: as good as float32 at half its size"),
    Part("codec", "int8", "ragstone.vectors.rows:Int8Codec", "8 bits a number: a quarter of float32"),
    Part("codec", "compact", "ragstone.vectors.rows:CompactCodec", "4 bits a number: an eighth, at some recall"),
    Part("order", "mmr", "ragstone.retrieval.ranking.mmr:diversify", "maximal marginal relevance"),
)


def load(group: str, name: str) -> Callable[..., Any]:
    """Return the class or function registered under a name, imported now if it was not before."""
    part = find(group, name)
    module, _, attribute = part.target.partition(":")
    try:
        found: Any = import_module(module)
        for step in attribute.split("."):
            found = getattr(found, step)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"The {_words(group)} {name!r} needs the package {error.name!r}, which is not installed.",
            hint=f"pip install '{part.package}'",
        ) from error
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"The {_words(group)} {name!r} ({part.target}) cannot be loaded: {error}.",
            hint=f"reinstall or update {part.package}",
        ) from error
    if not callable(found):
        raise ConfigError(f"The {_words(group)} {name!r} ({part.target}) is neither a class nor a function.")
    return cast("Callable[..., Any]", found)


def find(group: str, name: str) -> Part:
    """Return the part of that name or alias, not imported; `ConfigError` that lists the names if there is none."""
    built_in = [part for part in _built_in(group) if name == part.name or name in part.aliases]
    matches = built_in or [part for part in _plug_ins(group) if name == part.name]
    if not matches:
        known = names(group)
        listed = f"known: {', '.join(known)}" if known else "none is installed"
        raise ConfigError(f"There is no {_words(group)} called {name!r}.", hint=f"{_nearest(group, name)}{listed}")
    if len({part.target for part in matches}) > 1:
        packages = ", ".join(sorted(part.package for part in matches))
        raise ConfigError(
            f"More than one package brings a {_words(group)} called {name!r}: {packages}.", hint="uninstall all but one"
        )
    return matches[0]


def names(group: str) -> list[str]:
    """Return the names that can be loaded, built-in ones first, aliases left out."""
    return [part.name for part in describe(group)]


def describe(group: str) -> list[Part]:
    """Return every part of a group, built-in ones first; a plug-in cannot take a built-in name."""
    built_in = _built_in(group)
    taken = {name for part in built_in for name in (part.name, *part.aliases)}
    return [*built_in, *(part for part in _plug_ins(group) if part.name not in taken)]


def _built_in(group: str) -> list[Part]:
    if group not in GROUPS:
        raise ConfigError(f"There is no kind of part called {group!r}.", hint=f"known: {', '.join(GROUPS)}")
    return [part for part in BUILT_IN if part.group == group]


def _plug_ins(group: str) -> list[Part]:
    # Loaded when a name is not a built-in one: it brings half of the standard library with it.
    points: Iterable[EntryPoint] = import_module("importlib.metadata").entry_points(group=f"ragstone.{group}")
    parts = (Part(group, point.name, point.value, "plug-in", package=_package(point)) for point in points)
    return sorted(parts, key=lambda part: (part.name, part.package))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0].partition(".")[0]


def _nearest(group: str, name: str) -> str:
    from difflib import get_close_matches  # only where somebody made a mistake

    known = {known: part.name for part in describe(group) for known in (part.name, *part.aliases)}
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}? " if close else ""


def _words(group: str) -> str:
    return group.replace("_", " ")
