"""The header file of the turbo index: it lists the segment files. It is replaced as a whole, never changed."""

from __future__ import annotations

import base64
import json
import os
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from ragstone.vectors.normalise import Array
from ragstone.vectors.turbo.private_files import open_private
from ragstone.vectors.turbo.segments import SegmentFile

MAGIC = "ragstone-turbo"
FORMAT = 3
"""3: segment files are never extended, a CRC-32 for each; 2: smaller blocks of the rotation."""
NAME = "header.json"
TEMPORARY_PREFIX = f".{NAME}."
MAX_BYTES = 64 * 2**20
"""A longer file is not a header."""


@dataclass(frozen=True, slots=True)
class Header:
    """The store and space that the files belong to (`stamp`), the segment files, the centre and the deleted slots."""

    stamp: str
    dimension: int
    seed: int
    token: str
    segments: list[SegmentFile]
    centre: str
    centred_on: int
    deleted: str
    magic: str = MAGIC
    format: int = FORMAT


def read_header(folder: Path) -> Header | None:
    """Return the header; None if it is missing, damaged or of another format."""
    path = folder / NAME
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        checksum, _, body = path.read_bytes().partition(b"\n")
        if checksum != _checksum(body):
            return None
        return _parse(json.loads(body))
    except (OSError, ValueError, TypeError):
        return None


def write_header(folder: Path, header: Header) -> None:
    """Replace the header in one step."""
    body = json.dumps(asdict(header)).encode()
    temporary = folder / f"{TEMPORARY_PREFIX}{header.token}"
    try:
        with open(temporary, "wb", opener=open_private) as file:
            file.write(_checksum(body) + b"\n" + body)
        os.replace(temporary, folder / NAME)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def array_to_text(array: Array) -> str:
    """Return an array as base64."""
    return base64.b64encode(array.tobytes()).decode()


def text_to_array(text: str, dtype: DTypeLike) -> Array:
    """Return the array of a base64 text; raise `ValueError` if there is none."""
    data = base64.b64decode(text, validate=True)
    return np.frombuffer(data, dtype)


def _checksum(body: bytes) -> bytes:
    return f"{zlib.crc32(body):08x}".encode()


def _parse(content: object) -> Header | None:
    names = {field.name for field in fields(Header)}
    if not isinstance(content, dict) or set(content) != names:
        return None
    if (content["magic"], content["format"]) != (MAGIC, FORMAT):
        return None
    segments = [SegmentFile(**segment) for segment in content["segments"]]
    return Header(**{**content, "segments": segments})
