"""Files as attachments of a message: text as text, pictures as base64."""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ragstone.errors import InputError, ReadError
from ragstone.read.choose_reader import is_binary, reader_for
from ragstone.read.file_formats import suffix_of
from ragstone.sources.files import safe_open

MAX_BYTES: Final = 5_000_000
"""The limit of common model services for one picture."""

_IMAGE_SUFFIXES: Final = frozenset({"png", "jpg", "jpeg", "gif", "webp"})
_TEXT_TYPES: Final = {
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
    """A file for a message."""

    name: str
    media_type: str
    """The type of the file, not of the text that was read from it."""
    kind: Literal["text", "image"]
    text: str = ""
    base64: str = ""
    size: int = 0
    """The size of the file in bytes."""

    @property
    def data_url(self) -> str:
        """Return a picture as a data url; an empty text for a text."""
        if self.kind != "image":
            return ""
        return f"data:{self.media_type};base64,{self.base64}"


def attachment(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Attachment:
    """Return a file as an attachment: PNG, JPEG, GIF and WebP as base64, any other file as text.

    Raise `ReadError` if the file is unreadable, too large, a link, or of an unsupported type.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputError(f"{path!r} is not a path", hint='attachment("notes.md")')
    full_path = Path(path).expanduser().absolute()
    name = full_path.name
    if not os.path.lexists(full_path):
        raise ReadError(f"there is no file {os.fspath(path)}", hint="check the path")
    try:
        data = safe_open(full_path.parent, name, max_bytes=max_bytes).data
    except ReadError as error:
        hint = (
            "max_bytes= sets the limit" if error.message.startswith("too large") else error.hint
        )
        raise ReadError(f"{name}: {error.message}", hint=hint) from error
    media_type = image_type(data)
    if media_type:
        return Attachment(
            name, media_type, "image", base64=b64encode(data).decode("ascii"), size=len(data)
        )
    suffix = suffix_of(name)
    if suffix in _IMAGE_SUFFIXES:
        raise ReadError(
            f"{name} is not a picture, although its name ends in .{suffix}",
            hint="it may be damaged",
        )
    media_type = _TEXT_TYPES.get(suffix, "text/plain")
    return Attachment(name, media_type, "text", text=_read_text(data, name), size=len(data))


def extract_text(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file; raise `ReadError` if it has none, for example because it is a picture."""
    file = attachment(path, max_bytes=max_bytes)
    if file.kind != "text":
        raise ReadError(f"{file.name} is a picture", hint="attachment() returns it as base64")
    return file.text


def image_type(data: bytes) -> str:
    """Return the media type of a picture by its first bytes; an empty text for any other file."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def _read_text(data: bytes, name: str) -> str:
    try:
        reader = reader_for(name, data)
        if is_binary(data, name):
            raise ReadError(
                "neither text nor a picture",
                hint="text, PNG, JPEG, GIF and WebP can be attached",
            )
        return reader.read(data, name).text
    except ReadError as error:
        raise ReadError(f"{name}: {error.message}", hint=error.hint) from error
