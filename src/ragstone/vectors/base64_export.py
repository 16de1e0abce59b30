"""Vectors as one line of text, to be committed, mailed or pasted, and back."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Sequence

import numpy as np

from ragstone.errors import InputError
from ragstone.protocols import Codec
from ragstone.vectors.codecs import codec
from ragstone.vectors.normalise import id_array

PREFIX = "ragstone-vectors"
VERSION = 1
MAX_DIMENSION = 65_536


def to_text(ids: Sequence[int], rows: Sequence[bytes], codec: Codec) -> str:
    """Return ids and encoded rows as text with a version and a checksum."""
    header = json.dumps({"codec": codec.name, "dimension": codec.dimension, "count": len(ids)})
    id_bytes = id_array(ids).astype("<i8").tobytes()
    body = header.encode() + b"\n" + id_bytes + b"".join(rows)
    encoded = base64.b64encode(body).decode()
    return f"{PREFIX}:{VERSION}:{zlib.crc32(body):08x}:{encoded}"


def from_text(text: str) -> tuple[list[int], list[bytes], Codec]:
    """Return ids, encoded rows and their codec; raise `InputError` if the text is damaged or something else."""
    fields = text.strip().split(":", 3)
    if fields[0] != PREFIX or len(fields) != 4:
        raise InputError(
            "This text does not hold vectors.", hint="give a text from to_base64()"
        )
    _, version, checksum, encoded = fields
    if version != str(VERSION):
        raise InputError(
            f"These vectors are in format {version}, this Ragstone reads {VERSION}."
        )
    try:
        body = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("This text of vectors is damaged.", hint="export it again") from error
    if f"{zlib.crc32(body):08x}" != checksum:
        raise InputError("This text of vectors is damaged.", hint="export it again")
    return _parse(body)


def _parse(body: bytes) -> tuple[list[int], list[bytes], Codec]:
    """Return the content of a body. The checksum proves that it arrived, not that its author meant well."""
    head, _, data = body.partition(b"\n")
    try:
        header = json.loads(head)
        name = str(header["codec"])
        dimension = int(header["dimension"])
        count = int(header["count"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("This text of vectors has no valid header.") from error
    if not 0 < dimension <= MAX_DIMENSION:
        raise InputError(f"Vectors have 1 to {MAX_DIMENSION} numbers, not {dimension}.")
    row_codec = codec(name, dimension)
    size = row_codec.row_bytes
    if count < 0 or len(data) != count * (8 + size):
        raise InputError("This text of vectors holds another number of vectors than it says.")
    ids = np.frombuffer(data, "<i8", count=count).tolist()
    starts = range(8 * count, len(data), size)
    rows = [data[start : start + size] for start in starts]
    return ids, rows, row_codec
