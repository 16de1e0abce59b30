"""Protocols of the plug-in that knows frameworks and answers questions about code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from ragstone import types
from ragstone.protocols.store import DocumentReader


class Framework(Protocol):
    """What a framework makes of a project's files; executes nothing."""

    name: str

    def detects(self, world: World) -> bool:
        """Return whether the project is one of this framework's."""

    def read(self, world: World) -> types.Graph:
        """Return its routes, tables, models and what links them; what cannot be known is in the remarks."""


class CodeQuestions(Protocol):
    """Answers questions about code from the graph. A plug-in: entry point group `ragstone.code_questions`."""

    hints: tuple[str, ...]
    """Options of a retrieval that name the subject of a question, such as `route_name`."""

    def answer(
        self, store: DocumentReader, scope: types.Scope, question: str, hints: Mapping[str, str]
    ) -> types.CodeAnswer:
        """Return the graph's answer with the nodes it is about, or the reason why there is none."""

    def kinds(
        self, store: DocumentReader, scope: types.Scope, question: str
    ) -> list[tuple[str, ...]]:
        """Return groups of node kinds that a question without names can be about, the most likely first."""

    def guess(
        self,
        store: DocumentReader,
        scope: types.Scope,
        question: str,
        hits: Iterable[Sequence[types.Hit]],
    ) -> list[types.CodeGuess]:
        """Return answers about the nodes that lists of hits lead to, the most likely first."""


@runtime_checkable
class RuntimeListing(Protocol):
    """A framework that can import the listing which its own command prints."""

    name: str
    listing_command: str

    def apply_listing(self, listing: str, graph: types.Graph) -> types.Graph:
        """Return the graph with the listing as `runtime` evidence; `InputError` if it is no listing."""


class World(Protocol):
    """A project's files, as far as an adapter needs them; `ragstone.code.world` has more."""

    uris: tuple[str, ...]

    def has(self, uri: str) -> bool:
        """Return whether there is such a file."""
