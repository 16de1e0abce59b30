"""Office files are zip archives of XML: members are read into memory within limits, nothing is ever unpacked to disk.

XML that declares entities is refused: that is how a few bytes become gigabytes, and how a parser is sent elsewhere.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Final
from xml.etree import ElementTree

from ragstone.errors import ReadError
from ragstone.read.encoding import decode_text
from ragstone.types import Document

Element = ElementTree.Element
Read = Callable[[bytes, str], Document]

_MOST_MEMBERS: Final = 20_000
_LARGEST_MEMBER: Final = 64_000_000
_LARGEST_WHOLE: Final = 200_000_000
_LARGEST_RATIO: Final = 200
_RATIO_FROM: Final = 4_000_000
"""Bytes. A smaller member may be as dense as it likes."""
_OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = ("EncryptedPackage".encode("utf-16-le"), "EncryptionInfo".encode("utf-16-le"))
_ENCRYPTED_FLAG: Final = 0x1
_DECLARATION: Final = re.compile(r"<\?xml[^>]*\?>")
_PLAIN_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[<>]*>")
_PIECE: Final = 1 << 16


class Package:
    """The members of an archive, each read on demand."""

    def __init__(self, data: bytes) -> None:
        """Open an archive that lies in memory, or raise `ReadError`."""
        if data.startswith(_OLD):
            locked = any(name in data for name in _ENCRYPTED)
            raise (_locked() if locked else _old())
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise ReadError(f"no archive that can be opened: {error}", reason="damaged") from error
        infos = self._archive.infolist()
        if len(infos) > _MOST_MEMBERS:
            raise ReadError(f"an archive of {len(infos):,} files", reason="too-big")
        self._infos = {info.filename.lstrip("/"): info for info in infos}
        self._folded = {name.lower(): name for name in self._infos}
        self._left = _LARGEST_WHOLE

    def __contains__(self, name: str) -> bool:
        """Return whether a member of this name is there; the case of letters does not matter."""
        return name.lower() in self._folded

    def names(self) -> list[str]:
        """Return the names of all members, in order."""
        return sorted(self._infos)

    def read(self, name: str) -> bytes:
        """Return a member's bytes, or raise `ReadError` where it is missing, locked, damaged or too big."""
        found = self._folded.get(name.lower())
        if found is None:
            raise ReadError(f"{name} is missing", reason="damaged")
        info = self._infos[found]
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise _locked()
        if info.file_size > min(_LARGEST_MEMBER, self._left):
            raise _too_big(found)
        try:
            data = b"".join(self._pieces(info))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            raise ReadError(f"{found} is damaged: {error}", reason="damaged") from error
        self._left -= len(data)
        return data

    def _pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield a member's bytes while they stay within what was allowed, whatever its entry claims."""
        most = min(_LARGEST_MEMBER, self._left)
        dense = max(_RATIO_FROM, info.compress_size * _LARGEST_RATIO)
        read = 0
        with self._archive.open(info) as stream:
            while piece := stream.read(_PIECE):
                read += len(piece)
                if read > min(most, dense):
                    raise _too_big(info.filename)
                yield piece

    def xml(self, name: str) -> Element:
        """Return a member as a tree, or raise `ReadError`."""
        return parsed(self.read(name), name)

    def optional(self, name: str) -> Element | None:
        """Return a member as a tree, or None where there is no such member."""
        return self.xml(name) if name in self else None


def source(data: bytes, name: str) -> str:
    """Return the text of an XML member, or raise `ReadError` where it declares more than XML needs."""
    text = decode_text(data).text
    # What is parsed is what was looked at: the text, not bytes in an encoding that they name themselves.
    text = _PLAIN_DOCTYPE.sub("", _DECLARATION.sub("", text[:1000], count=1), count=1) + text[1000:]
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ReadError(f"{name} declares entities, which no document needs", reason="damaged")
    return text


def parsed(data: bytes, name: str) -> Element:
    """Return XML as a tree, or raise `ReadError`."""
    try:
        parser = ElementTree.XMLParser()  # noqa: S314 - declarations are refused above
        parser.feed(source(data, name))
        tree: Element = parser.close()
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise ReadError(f"{name} is no sound XML: {error}", reason="damaged") from error
    return tree


def local(tag: str) -> str:
    """Return an element's or an attribute's name without its namespace."""
    return tag[tag.rfind("}") + 1 :] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name in any namespace, or nothing."""
    for key, value in element.attrib.items():
        if key[key.rfind("}") + 1 :] == name:
            return value
    return ""


def child(element: Element | None, *names: str) -> Element | None:
    """Return the element that this path of names leads to, or None."""
    for name in names:
        if element is None:
            return None
        for one in element:
            if one.tag.endswith(name) and local(one.tag) == name:
                element = one
                break
        else:
            return None
    return element


def children(element: Element | None, name: str) -> list[Element]:
    """Return the children of that name."""
    return [] if element is None else [one for one in element if local(one.tag) == name]


def all_named(element: Element, name: str) -> Iterator[Element]:
    """Yield every element of that name below one."""
    return (one for one in element.iter() if local(one.tag) == name)


def relations(package: Package, part: str) -> dict[str, tuple[str, str]]:
    """Return what a part refers to within the package: id → (last word of the type, member's name)."""
    folder, name = posixpath.split(part)
    tree = package.optional(posixpath.join(folder, "_rels", f"{name}.rels"))
    found: dict[str, tuple[str, str]] = {}
    for one in children(tree, "Relationship"):
        if one.get("TargetMode", "") == "External":
            continue
        target = one.get("Target", "")
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], path)
    return found


def main_part(package: Package, usual: str) -> str:
    """Return the name of the part that everything starts from."""
    named = (path for kind, path in relations(package, "").values() if kind == "officeDocument")
    return next((path for path in named if path in package), usual)


def core_title(package: Package) -> str:
    """Return the title that the file's properties give."""
    try:
        tree = package.optional("docProps/core.xml")
    except ReadError:  # the text does not depend on it
        return ""
    title = child(tree, "title")
    return " ".join((title.text or "").split()) if title is not None else ""


def _locked() -> ReadError:
    return ReadError("protected by a password", hint="save a copy without the password", reason="password")


def _old() -> ReadError:
    return ReadError("an old binary office file", hint="save it as docx, xlsx, pptx, odt or PDF", reason="unsupported")


def _too_big(name: str) -> ReadError:
    return ReadError(f"{name} is too big when unpacked", reason="too-big")


def soundly(read: Read) -> Read:
    """Return a reading function that calls damaged what would make it stumble."""

    @wraps(read)
    def guarded(data: bytes, uri: str) -> Document:
        try:
            return read(data, uri)
        except (RecursionError, ValueError, KeyError, IndexError, TypeError, OverflowError) as error:
            raise ReadError(
                f"damaged in a way that cannot be read: {type(error).__name__}", reason="damaged"
            ) from error

    return guarded
