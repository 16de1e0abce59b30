"""Prose about nodes as documents of their own, so that words and vectors find them; only what differs is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.indexing.pipeline import Writer
from ragstone.types import Document, Rendered

GRAPH: Final = "graph"
"""The source that these documents come from, and how their uris begin."""


def uri_of(rendered: Rendered) -> str:
    """Return the uri of a node's prose: `graph:route/PUT api/songs/{song}`."""
    kind, _, name = rendered.key.partition(":")
    return f"{GRAPH}:{kind}/{name}"


def document_of(rendered: Rendered) -> Document:
    """Return prose as a document that says which node it is about and where that is written."""
    return Document(
        uri_of(rendered),
        rendered.text,
        kind=rendered.kind,
        language="text",
        title=rendered.title,
        metadata={"key": rendered.key, "file": rendered.uri, "line": rendered.line},
    )


def bring_level(writer: Writer, wanted: Iterable[Rendered], *, keep: bool) -> tuple[int, int]:
    """Make the prose of a collection be this; return how many documents were written and how many removed.

    `keep` leaves what is not given: the pass that gave it could not run.
    """
    documents = {document.uri: document for document in map(document_of, wanted)}
    known = writer.store.known_files(writer.key, GRAPH)
    recipe = writer.cut.recipe
    new = [
        document
        for uri, document in documents.items()
        if uri not in known or known[uri].content_hash != document.hash or known[uri].recipe != recipe
    ]
    writer.add(new, source=GRAPH)
    gone = [] if keep else [uri for uri in known if uri not in documents]
    removed = writer.store.remove(writer.key, gone) if gone else 0
    return len(new), removed
