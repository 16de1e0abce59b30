"""The guides and reference pages that are in the package, by the names that `ragstone help` takes."""

from __future__ import annotations

from pathlib import Path

from ragstone.engine.reference import PARTS, reference_folder


def list_topics() -> dict[str, Path]:
    """Return the pages by name, such as `searching` or `reference/config`; none if the installation has no documents."""
    folder = reference_folder()
    topics: dict[str, Path] = {}
    for part in PARTS:
        path = folder / part
        for page in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            if page.is_file():
                name = page.relative_to(folder).with_suffix("").as_posix()
                topics[name.removeprefix("guides/")] = page
    return topics


def find_topic(words: tuple[str, ...]) -> Path | None:
    """Return the page that words name; a path as in the README, `docs/guides/searching.md`, is a name too."""
    name = "-".join(words).removesuffix(".md").removeprefix("docs/").removeprefix("guides/")
    return list_topics().get(name)


def page_title(page: Path) -> str:
    """Return the first heading of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    headings = (line for line in lines if line.startswith("# "))
    return next(headings, page.stem).removeprefix("# ")
