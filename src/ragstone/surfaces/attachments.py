"""A file as a message can carry it: text as text, a picture as base64, with its name and its type."""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ragstone.errors import InputError, ReadError
from ragstone.read.file_types import suffix_of
from ragstone.read.readers import is_binary, reader_for
from ragstone.sources.safe_open import safe_open

MOST_BYTES: Final = 5_000_000
"""What the services take of one picture; as text it is more than any window holds."""

_IMAGES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_TEXTS: Final = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "css": "text/css",
    "js": "text/javascript",
    "json": "application/json",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "epub": "application/epub+zip",
    "ipynb": "application/x-ipynb+json",
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that travels with a message."""

    name: str
    media_type: str
    """What the file is; of a document that was read, the type of the file, not of its text."""
    kind: Literal["text", "image"]
    text: str = ""
    base64: str = ""
    size: int = 0
    """The file's bytes."""

    @property
    def data_url(self) -> str:
        """Return a picture as an address that holds it; nothing for a text."""
        return f"data:{self.media_type};base64,{self.base64}" if self.kind == "image" else ""


def attachment(path: str | os.PathLike[str], *, max_bytes: int = MOST_BYTES) -> Attachment:
    """Return a file ready to be attached: PNG, JPEG, GIF and WebP as base64, all else as the text its reader finds.

    `ReadError` where it cannot be read, is too large, or is of a type that nobody reads; a link is not followed.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputError(f"{path!r} is no path", hint='attachment("notes.md")')
    full = Path(path).expanduser().absolute()
    try:
        data = safe_open(full.parent, full.name, max_bytes=max_bytes).data
    except ReadError as error:
        hint = "max_bytes= sets the limit" if error.message.startswith("too large") else error.hint
        raise ReadError(f"{full.name}: {error.message}", hint=hint) from error
    suffix, found = suffix_of(full.name), image_type(data)
    if found:
        return Attachment(full.name, found, "image", base64=b64encode(data).decode("ascii"), size=len(data))
    if suffix in _IMAGES:
        raise ReadError(f"{full.name} is not the picture that its name promises", hint="it may be damaged")
    return Attachment(full.name, _TEXTS.get(suffix, "text/plain"), "text", text=_text(data, full.name), size=len(data))


def image_type(data: bytes) -> str:
    """Return the type of a picture by its first bytes, nothing where it is none of those that models take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _text(data: bytes, name: str) -> str:
    try:
        reader = reader_for(name, data)
        if is_binary(data, name):
            raise ReadError("neither text nor a picture", hint="text, PNG, JPEG, GIF and WebP can be attached")
        return reader.read(data, name).text
    except ReadError as error:
        raise ReadError(f"{name}: {error.message}", hint=error.hint) from error
