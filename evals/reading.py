"""Files read as a sync would read them, so that kind and language are the engine's own choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.types import Document


def read_file(path: Path, uri: str) -> Document:
    """Return a file as a document known by this uri, or raise what `unreadable` names."""
    from ragstone.errors import ReadError
    from ragstone.read.choose_reader import is_binary, reader_for

    data = path.read_bytes()
    if is_binary(data, uri):
        raise ReadError(f"{uri} is binary")
    return reader_for(uri, data).read(data, uri)


def read_tree(tree: Path, root: Path, kind: str | None = None) -> list[Document]:
    """Return the files under a root, each known by its path in the tree.

    Hidden and unreadable files are left out, and files of another kind if one is given.
    """
    from ragstone.types.documents import kinds_of_documents

    documents: list[Document] = []
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(tree)
        is_hidden = any(part.startswith(".") for part in inside.parts)
        if is_hidden or path.is_symlink() or not path.is_file():
            continue
        try:
            document = read_file(path, inside.as_posix())
        except unreadable():
            continue
        if kind is None or document.kind in kinds_of_documents([kind]):
            documents.append(document)
    return documents


def unreadable() -> tuple[type[Exception], ...]:
    """Return the errors that mean: this file has no text."""
    from ragstone.errors import ReadError

    return (ReadError, OSError)
