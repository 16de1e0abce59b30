"""Projects of a few lines, read and resolved as real ones are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

from ragstone.code.resolve import MANIFESTS, ProjectIndex, resolve
from ragstone.code.symbols import read_facts
from ragstone.types import Graph
from ragstone.types.code import FileFacts


@dataclass(frozen=True)
class Resolved:
    """A project's graph, in the words that tests ask in."""

    graph: Graph

    def links(self, kind: str = "CALLS") -> set[tuple[str, str]]:
        """Return who is linked to what."""
        return {(link.source, link.target) for link in self.graph.links if link.kind == kind}

    def calls_of(self, source: str) -> set[str]:
        """Return what one calls."""
        return {target for each, target in self.links() if each == source}

    def reasons(self, source: str) -> dict[str, str]:
        """Return why the calls of one lead nowhere, by `receiver name`."""
        return {
            f"{one.receiver} {one.name}".strip(): one.reason
            for one in self.graph.unresolved
            if one.source == source
        }


def facts_of(files: Mapping[str, str]) -> list[FileFacts]:
    """Return what the symbols' pass says of the files that are code."""
    found = (read_facts(dedent(text), uri) for uri, text in files.items())
    return [facts for facts in found if facts is not None]


def index_of(files: Mapping[str, str]) -> ProjectIndex:
    """Return the index of a project, its manifests included."""
    manifests = {
        uri: dedent(text) for uri, text in files.items() if uri.rpartition("/")[2] in MANIFESTS
    }
    return ProjectIndex(facts_of(files), manifests=manifests)


def resolved(files: Mapping[str, str]) -> Resolved:
    """Return the graph of a project."""
    index = index_of(files)
    graph = Graph()
    for file in index.files.values():
        graph += resolve(file.facts, index)
    return Resolved(graph)
