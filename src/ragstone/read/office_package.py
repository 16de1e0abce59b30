"""Office files: zip archives of XML, read into memory within limits and never unpacked to disk."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Final, NamedTuple

from ragstone.errors import ReadError
from ragstone.read.xml_tree import (
    Element,
    child,
    children,
    parse_xml,
    text_of,
)
from ragstone.types import Document

_MAX_MEMBERS: Final = 20_000
_MAX_MEMBER_BYTES: Final = 64_000_000
_MAX_TOTAL_BYTES: Final = 200_000_000
_MAX_RATIO: Final = 200
_RATIO_FROM: Final = 4_000_000
"""Bytes. A smaller member may be compressed as much as it likes."""
_OLD_SIGNATURE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_NAMES: Final = (
    "EncryptedPackage".encode("utf-16-le"),
    "EncryptionInfo".encode("utf-16-le"),
)
_ENCRYPTED_FLAG: Final = 0x1
_BLOCK_BYTES: Final = 1 << 16

ReadFunction = Callable[[bytes, str], Document]


class Relation(NamedTuple):
    """A reference of one member to another: the last word of its type, and the name of the other member."""

    kind: str
    path: str


class OfficePackage:
    """The members of an archive; each is read on demand."""

    def __init__(self, data: bytes) -> None:
        """Open an archive in memory, or raise `ReadError`."""
        if data.startswith(_OLD_SIGNATURE):
            raise _explain_old_file(data)
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (
            zipfile.BadZipFile,
            ValueError,
            NotImplementedError,
            OSError,
            EOFError,
        ) as error:
            raise ReadError(
                f"no archive that can be opened: {error}", reason="damaged"
            ) from error
        infos = self._archive.infolist()
        if len(infos) > _MAX_MEMBERS:
            raise ReadError(f"an archive of {len(infos):,} files", reason="too-big")
        self._infos = {info.filename.lstrip("/").lower(): info for info in infos}
        self._bytes_left = _MAX_TOTAL_BYTES

    def __contains__(self, name: str) -> bool:
        """Return whether there is a member of this name; case does not matter."""
        return name.lower() in self._infos

    def names(self) -> list[str]:
        """Return the names of all members, in order."""
        return sorted(info.filename.lstrip("/") for info in self._infos.values())

    def read(self, name: str) -> bytes:
        """Return a member's bytes. Raise `ReadError` if it is missing, encrypted, damaged or too big."""
        info = self._infos.get(name.lower())
        if info is None:
            raise ReadError(f"{name} is missing", reason="damaged")
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise _explain_password()
        try:
            data = b"".join(self._read_blocks(info))
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise ReadError(f"{info.filename} is damaged: {error}", reason="damaged") from error
        self._bytes_left -= len(data)
        return data

    def _read_blocks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield a member's bytes. The limits hold even if its entry gives a wrong size."""
        limit = min(
            _MAX_MEMBER_BYTES,
            self._bytes_left,
            max(_RATIO_FROM, info.compress_size * _MAX_RATIO),
        )
        size = info.file_size
        if size <= limit:
            size = 0
            with self._archive.open(info) as stream:
                while size <= limit and (block := stream.read(_BLOCK_BYTES)):
                    size += len(block)
                    yield block
        if size > limit:
            raise ReadError(
                f"{info.filename} is too big when unpacked",
                reason="too-big",
            )

    def xml(self, name: str) -> Element:
        """Return a member as a tree, or raise `ReadError`."""
        return parse_xml(self.read(name), name)

    def optional_xml(self, name: str) -> Element | None:
        """Return a member as a tree, or None if there is no such member."""
        return self.xml(name) if name in self else None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relations of a member to other members, by id."""
        folder, name = posixpath.split(part)
        tree = self.optional_xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        relations: dict[str, Relation] = {}
        for each in children(tree, "Relationship"):
            if each.get("TargetMode", "") == "External":
                continue
            written = each.get("Target", "")
            target = posixpath.normpath(posixpath.join("/", folder, written))
            kind = each.get("Type", "").rpartition("/")[2]
            relations[each.get("Id", "")] = Relation(kind, target.lstrip("/"))
        return relations

    def parts_by_kind(self, part: str) -> dict[str, str]:
        """Return the names of the members that a member refers to, by kind."""
        relations = self.relations(part).values()
        return {relation.kind: relation.path for relation in relations if relation.path in self}

    def main_part(self, default: str) -> str:
        """Return the name of the member that everything starts from."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.path in self:
                return relation.path
        return default

    def core_title(self) -> str:
        """Return the title in the properties of the file; empty if there is none."""
        try:
            properties = self.optional_xml("docProps/core.xml")
        except ReadError:  # the text does not depend on it
            return ""
        return text_of(child(properties, "title"))


def _explain_old_file(data: bytes) -> ReadError:
    if any(name in data for name in _ENCRYPTED_NAMES):
        return _explain_password()
    return ReadError(
        "an old binary office file",
        hint="save it as docx, xlsx, pptx, odt or PDF",
        reason="unsupported",
    )


def _explain_password() -> ReadError:
    return ReadError(
        "protected by a password",
        hint="save a copy without the password",
        reason="password",
    )


def report_damage(read: ReadFunction) -> ReadFunction:
    """Return a reading function that raises `ReadError` for every error that damaged XML can cause."""

    @wraps(read)
    def guarded(data: bytes, uri: str) -> Document:
        try:
            return read(data, uri)
        except (
            RecursionError,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            OverflowError,
        ) as error:
            message = f"damaged in a way that cannot be read: {type(error).__name__}"
            raise ReadError(message, reason="damaged") from error

    return guarded
