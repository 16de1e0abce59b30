"""Scripts, styles and pictures of the pages. Their address has a hash of all of them, so browsers may keep them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.responses import Response

from ragstone.errors import NotFound

PREFIX: Final = "/static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Other files, such as licences, are not served."""
_KEEP: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"


def static_url(name: str) -> str:
    """Return the address of a file; `KeyError` if there is no such file."""
    if name not in static_files():
        raise KeyError(name)
    return f"{PREFIX}/{static_version()}/{name}"


def answer_static_file(version: str, name: str) -> Response:
    """Return a file; `NotFound` if it is none of ours."""
    data = static_files().get(name)
    if data is None:
        raise NotFound(f"there is no file {name!r}", hint="reload the page")
    suffix = "." + name.rpartition(".")[2]
    is_current = version == static_version()
    return Response(
        data,
        media_type=_TYPES[suffix],
        headers={
            "cache-control": _KEEP if is_current else _ASK_AGAIN,
            "cross-origin-resource-policy": "same-origin",
        },
    )


@cache
def static_version() -> str:
    """Return a hash of all files; it is a part of their addresses."""
    digest = hashlib.sha256()
    for name, data in sorted(static_files().items()):
        digest.update(name.encode() + b"\0" + data)
    return digest.hexdigest()[:12]


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of every file by its name, for example `js/main.js`."""
    contents: dict[str, bytes] = {}
    _collect(files("ragstone.surfaces.web") / "static", "", contents)
    return contents


def _collect(folder: Traversable, prefix: str, contents: dict[str, bytes]) -> None:
    """Add the files of a folder and of the folders in it."""
    for entry in folder.iterdir():
        name = prefix + entry.name
        if entry.is_dir():
            _collect(entry, f"{name}/", contents)
        elif name.endswith(tuple(_TYPES)):
            contents[name] = entry.read_bytes()
