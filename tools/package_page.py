"""Makes the README fit for a page of a package index, where links to files of the repository lead nowhere.

With the address of the repository, every link is absolute. Without it, a link to a guide becomes the command that
prints the guide, other links become their text, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

_IMAGE: Final = re.compile(r"^!\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)\n\n?", re.MULTILINE)
_ANY_LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_LINK: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_GUIDE: Final = re.compile(
    r"docs/(?:guides/(?P<guide>[\w-]+)|(?P<page>quickstart|glossary|reference/[\w-]+))\.md"
)
COMMAND_GUIDES: Final = frozenset({"agents", "ask", "capture", "context", "mcp"})
"""Guides with the name of a command: `ragstone help` prints the help of the command."""


def package_readme(readme: str, repository: str) -> str:
    """Return the README for a package page; `repository` is the address of the repository, or empty."""
    parts = _FENCE.split(readme)
    for index in range(0, len(parts), 2):
        parts[index] = _convert_prose(parts[index], repository.rstrip("/"))
    return "".join(parts)


def project_urls(repository: str) -> dict[str, str]:
    """Return the links of the package; none without the address of the repository."""
    if not repository:
        return {}
    root = repository.rstrip("/")
    return {
        "Homepage": root,
        "Documentation": f"{root}/blob/HEAD/docs/README.md",
        "Changelog": f"{root}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{root}/issues",
    }


def get_metadata_hook() -> type[Any]:
    """Return the class that hatchling runs when it builds the package; tests import this module without hatchling."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class PackagePage(MetadataHookInterface):  # type: ignore[misc]
        def update(self, metadata: dict[str, Any]) -> None:
            """Set the long description and the links."""
            repository = str(self.config["repository"])
            readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
            text = package_readme(readme, repository)
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
            metadata["urls"] = project_urls(repository)

    return PackagePage


def _convert_prose(text: str, repository: str) -> str:
    if not repository:
        return _LINK.sub(_without_link, _IMAGE.sub("", text))

    def with_address(match: re.Match[str]) -> str:
        folder = "raw" if match["image"] else "blob"
        target = match["target"]
        if "://" not in target and not target.startswith(("#", "mailto:")):
            target = f"{repository}/{folder}/HEAD/{target}"
        return f"{match['image']}[{match['text']}]({target})"

    return _ANY_LINK.sub(with_address, text)


def _without_link(match: re.Match[str]) -> str:
    """Return a link to a file as its text, with the command that prints the guide."""
    target = match["target"].partition("#")[0]
    if "://" in target or not target:
        return match.group()
    guide = _GUIDE.fullmatch(target)
    if guide is None:
        return match["text"]
    topic = guide["guide"] or guide["page"]
    if topic in COMMAND_GUIDES:
        topic = f"guides/{topic}"
    return f"{match['text']} (`ragstone help {topic}`)"
