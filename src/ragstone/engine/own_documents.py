"""Ragstone's own documents, which are in the package: guides, reference, quick start and glossary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.types import Document

PARTS: Final = ("guides", "reference", "quickstart.md", "glossary.md")
"""Folders and files of `docs` that are in the wheel; pyproject.toml has the same list."""
URI_PREFIX: Final = "ragstone:docs/"


def read_reference() -> Iterator[Document]:
    """Yield the documents; none if the installation has no `docs`."""
    folder = reference_folder()
    for part in PARTS:
        path = folder / part
        for file in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            if file.is_file():
                yield _document(folder, file)


def reference_folder() -> Path:
    """Return the folder of the documents: in the package, or next to `src` in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "docs"
    return installed if installed.is_dir() else package.parents[1] / "docs"


def _document(folder: Path, file: Path) -> Document:
    text = file.read_text(encoding="utf-8")
    headings = (line for line in text.splitlines() if line.startswith("# "))
    title = next(headings, file.stem).removeprefix("# ")
    uri = URI_PREFIX + file.relative_to(folder).as_posix()
    return Document(uri, text, kind="doc", language="markdown", title=title)
