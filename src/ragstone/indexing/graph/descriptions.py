"""Descriptions of nodes as documents, so that words and vectors find them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.indexing.collection_writer import DocumentWriter
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources.in_memory import GivenDocuments
from ragstone.types import SUMMARY_PREFIX, Document, Rendered

GRAPH_SOURCE: Final = "graph"
"""The source of these documents."""


def description_uri(rendered: Rendered) -> str:
    """Return the uri of a node's description: `graph:route/PUT api/songs/{song}`."""
    kind, _, name = rendered.key.partition(":")
    return f"{SUMMARY_PREFIX}{kind}/{name}"


def description_document(rendered: Rendered) -> Document:
    """Return a description as a document that names its node and the node's place."""
    return Document(
        description_uri(rendered),
        rendered.text,
        kind=rendered.kind,
        language="text",
        title=rendered.title,
        metadata={"key": rendered.key, "file": rendered.uri, "line": rendered.line},
        header=rendered.words,
    )


def update_descriptions(
    writer: DocumentWriter, rendered: Iterable[Rendered], *, keep_others: bool
) -> tuple[int, int]:
    """Store new and changed descriptions; return how many were written and removed.

    `keep_others` keeps descriptions that are not in the list: the pass that wrote them failed this time.
    """
    source = GivenDocuments(
        [description_document(entry) for entry in rendered],
        name=GRAPH_SOURCE,
        covers=lambda uri: not keep_others,
        scope=None,
    )
    report = Reconciler(writer, source).run().report
    return report.indexed, report.removed
