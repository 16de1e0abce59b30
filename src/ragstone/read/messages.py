"""Messages between two Ragstone processes: JSON behind its length, then raw bytes.

A dataclass travels as the list of its fields. `decode` checks every value against the annotations,
because a hostile file may have taken over the process that sent it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import (
    IO,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

Message = tuple[object, bytes]
Record = TypeVar("Record")

_LENGTHS: Final = struct.Struct(">QQ")
_MAX_BYTES: Final = 1 << 32
_ESCAPED_SURROGATE: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""`encode` never writes one, and no store can hold a lone surrogate."""


def write_message(stream: IO[bytes], header: object, payload: bytes = b"") -> None:
    """Write one message and flush the stream."""
    text = encode(header)
    lengths = _LENGTHS.pack(len(text), len(payload))
    stream.write(lengths + text)
    stream.write(payload)
    stream.flush()


def read_message(
    stream: IO[bytes],
    *,
    max_header: int = _MAX_BYTES,
    max_payload: int = _MAX_BYTES,
) -> Message | None:
    """Return the next message, or None at the end of the stream. Raise `ValueError` for an invalid message."""
    prefix = stream.read(_LENGTHS.size)
    if not prefix:
        return None
    if len(prefix) < _LENGTHS.size:
        raise ValueError("the message is truncated")
    header_size, payload_size = _LENGTHS.unpack(prefix)
    if header_size > max_header or payload_size > max_payload:
        raise ValueError("the message is too long")
    header = stream.read(header_size)
    payload = stream.read(payload_size)
    if len(header) < header_size or len(payload) < payload_size:
        raise ValueError("the message is truncated")
    return parse(header), payload


def encode(value: object) -> bytes:
    """Return a value as JSON; a lone surrogate becomes a question mark."""
    text = json.dumps(
        value,
        default=_list_fields,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return text.encode("utf-8", "replace")


def parse(data: bytes) -> object:
    """Return the value in JSON bytes. Raise `ValueError` if they are not valid JSON of `encode`."""
    if _ESCAPED_SURROGATE.search(data):
        raise ValueError("the message has an escaped surrogate")
    try:
        value: object = json.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("the message is nested too deeply") from error
    return value


def decode(kind: type[Record], value: object) -> Record:
    """Return a parsed value as the dataclass it was encoded from. Raise `ValueError` if a type does not match."""
    return cast(Record, _decode(kind, value))


def _list_fields(value: Any) -> object:  # noqa: ANN401 - any dataclass, or a mapping that is no dict
    if isinstance(value, Mapping):
        return dict(value)
    return [getattr(value, field.name) for field in fields(value)]


def _decode(annotation: Any, value: object) -> object:  # noqa: ANN401 - an annotation is a type or a special form
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is object or annotation is Any:
        return value
    if is_dataclass(annotation):
        return _decode_record(annotation, value)
    if origin in (Union, UnionType):
        return _decode_union(arguments, value)
    if origin is Literal and value in arguments:
        return value
    if origin in (tuple, list):
        return _decode_sequence(origin, arguments, value)
    if origin in (Mapping, dict):
        items = _expect(dict, value)
        return {key: _decode(arguments[1], item) for key, item in items.items()}
    return _expect(annotation, value)


def _decode_sequence(
    kind: type[list[object] | tuple[object, ...]], arguments: tuple[object, ...], value: object
) -> object:
    """Return a list, or a tuple of any length or of a fixed length."""
    is_any_length = kind is list or arguments[-1] is Ellipsis
    if is_any_length:
        items = _expect(list, value)
        return kind(_decode(arguments[0], item) for item in items)
    return tuple(_decode_each(arguments, value))


def _decode_record(kind: Any, value: object) -> object:  # noqa: ANN401 - any dataclass
    annotations = _field_annotations(kind)
    # Files have thousands of symbols and references: one comparison checks all fields of one.
    if type(value) is list and tuple(map(type, value)) == annotations:
        return kind(*value)
    return kind(*_decode_each(annotations, value))


@cache
def _field_annotations(kind: Any) -> tuple[object, ...]:  # noqa: ANN401 - any dataclass
    hints = get_type_hints(kind)
    return tuple(hints[field.name] for field in fields(kind))


def _decode_each(annotations: tuple[object, ...], value: object) -> list[object]:
    items = _expect(list, value)
    if len(items) != len(annotations):
        raise ValueError("a list of another length was expected")
    pairs = zip(annotations, items, strict=True)
    return [_decode(annotation, item) for annotation, item in pairs]


def _decode_union(annotations: tuple[object, ...], value: object) -> object:
    for annotation in reversed(
        annotations
    ):  # JSON has no tuples: in `Value` the list comes after the tuple
        try:
            return _decode(annotation, value)
        except ValueError:
            continue
    raise ValueError("no type of the union matches")


def _expect(kind: type[Record], value: object) -> Record:
    """Return the value if it has exactly this type, or raise `ValueError`."""
    if type(value) is not kind:
        raise ValueError(f"{kind} was expected")
    return value
