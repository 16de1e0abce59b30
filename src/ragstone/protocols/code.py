"""Protocols of the plug-in that knows frameworks and answers questions about code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from ragstone import types
from ragstone.protocols.store import DocumentReader


class Framework(Protocol):
    """Reads the graph of a framework from a project's files, without executing them."""

    name: str

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether the project uses this framework."""

    def read(self, files: ProjectFiles) -> types.Graph:
        """Return the routes, tables, models and their links; its remarks name the parts that are unknown."""


class KindRules(Protocol):
    """Proposes kinds of files by their path and their text. A plug-in: entry point group `ragstone.kinds`."""

    def kind_of(self, uri: str, language: str, head: str) -> str:
        """Return the kind of a file, such as `controller`, or an empty text; `head` is the start of its text."""


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


class ProjectFiles(Protocol):
    """The files of one project, as a framework reads them."""

    @property
    def uris(self) -> Sequence[str]:
        """Return all paths, sorted, of code and of other text."""

    def text(self, uri: str) -> str | None:
        """Return the text of a file, or None if there is no such file."""

    def facts(self, uri: str) -> types.FileFacts | None:
        """Return the symbols of a file, or None if it is no code."""

    def enter(self, uri: str) -> None:
        """Note that a framework evaluates this file from here on: if it never ends, this file is left out."""
