"""The guides and reference pages that are in the package, by the names that `ragstone help` takes."""

from __future__ import annotations

from ragstone.engine.own_documents import URI_PREFIX, read_reference
from ragstone.types import Document


def list_topics() -> dict[str, Document]:
    """Return the pages by name, such as `searching` or `reference/config`; none if the installation has no documents."""
    pages = read_reference()
    return {_topic_name(page.uri.removeprefix(URI_PREFIX)): page for page in pages}


def find_topic(words: tuple[str, ...]) -> Document | None:
    """Return the page that words name; a path as in the README, `docs/guides/searching.md`, is a name too."""
    return list_topics().get(_topic_name("-".join(words)))


def _topic_name(path: str) -> str:
    return path.removesuffix(".md").removeprefix("docs/").removeprefix("guides/")
