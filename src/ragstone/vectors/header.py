"""The one small file that says which slots of the turbo cache count; replaced whole, so never half written."""

from __future__ import annotations

import base64
import json
import os
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.private_files import private

MAGIC = "ragstone-turbo"
FORMAT = 2  # 2: smaller blocks of the rotation, sums instead of CRCs
NAME = "header.json"
LARGEST = 64 * 2**20  # a header longer than this was not written by us


@dataclass(frozen=True, slots=True)
class Header:
    """What the cache holds: of which store and space, how many slots, with which checksums."""

    stamp: str
    dimension: int
    seed: int
    generation: str
    token: str
    high_water: int
    counts: list[int]
    checksums: list[int]
    centre: str
    centred_on: int
    total: str
    dead: str
    magic: str = MAGIC
    format: int = FORMAT

    def fits(self, stamp: str, dimension: int, seed: int) -> bool:
        """Return whether this is the cache of that store, space, dimension and rotation."""
        return (self.stamp, self.dimension, self.seed) == (stamp, dimension, seed)


def read_header(folder: Path) -> Header | None:
    """Return the header, or None where there is none, or it is damaged or of another format."""
    try:
        path = folder / NAME
        if path.stat().st_size > LARGEST:
            return None
        crc, _, body = path.read_bytes().partition(b"\n")
        if crc != _checksum(body):
            return None
        about = json.loads(body)
    except (OSError, ValueError):
        return None
    return _header(about)


def write_header(folder: Path, header: Header) -> None:
    """Replace the header in one step."""
    body = json.dumps(asdict(header)).encode()
    path = folder / f".{NAME}.{header.token}"
    try:
        with open(path, "wb", opener=private) as file:
            file.write(_checksum(body) + b"\n" + body)
        os.replace(path, folder / NAME)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def text_of(array: NDArray[Any]) -> str:
    """Return an array as text."""
    return base64.b64encode(array.tobytes()).decode()


def array_of(text: str, dtype: type[Any]) -> NDArray[Any]:
    """Return the array a text holds; `ValueError` where it holds none."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype)


def _checksum(body: bytes) -> bytes:
    return f"{zlib.crc32(body):08x}".encode()


def _header(about: object) -> Header | None:
    names = {field.name for field in fields(Header)}
    if not isinstance(about, dict) or set(about) != names:
        return None
    header = Header(**about)
    return header if (header.magic, header.format) == (MAGIC, FORMAT) else None
