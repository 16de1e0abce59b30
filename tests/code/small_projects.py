"""Projects of a few lines, read and resolved like real projects."""

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
    """The graph of a project, with helpers for tests."""

    graph: Graph

    def links(self, kind: str = "CALLS") -> set[tuple[str, str]]:
        """Return source and target of the links of a kind."""
        return {(link.source, link.target) for link in self.graph.links if link.kind == kind}

    def calls_of(self, source: str) -> set[str]:
        """Return the targets that a node calls."""
        return {target for caller, target in self.links() if caller == source}

    def reasons(self, source: str) -> dict[str, str]:
        """Return the reasons of the unresolved calls of a node, by `receiver name`."""
        return {
            f"{row.receiver} {row.name}".strip(): row.reason
            for row in self.graph.unresolved
            if row.source == source
        }


def facts_of(files: Mapping[str, str]) -> list[FileFacts]:
    """Return the facts of the files that are code."""
    all_facts = (read_facts(dedent(text), uri) for uri, text in files.items())
    return [facts for facts in all_facts if facts is not None]


def index_of(files: Mapping[str, str]) -> ProjectIndex:
    """Return the index of a project, with its manifests."""
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
