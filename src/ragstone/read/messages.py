"""Messages between two Ragstone processes: JSON behind its length, then raw bytes.

A dataclass travels as the list of its fields. `decode` checks every value against the annotations,
because a hostile file may have taken over the process that sent it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import IO, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Message = tuple[object, bytes]
Decoder = Callable[[object], object]
Record = TypeVar("Record")

_LENGTHS: Final = struct.Struct(">QQ")
_MAX_BYTES: Final = 1 << 32
_ESCAPED_SURROGATE: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""`encode` never writes one, and no store can hold a lone surrogate."""


def write_message(stream: IO[bytes], header: object, payload: bytes = b"") -> None:
    """Write one message and flush the stream."""
    text = encode(header)
    stream.write(_LENGTHS.pack(len(text), len(payload)) + text)
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
    text = json.dumps(value, default=_list_fields, ensure_ascii=False, separators=(",", ":"))
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
    return cast(Record, _decoder(kind)(value))


def _list_fields(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return [getattr(value, name) for name in _field_names(type(value))]


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


# ── decoders, one for each annotation ─────────────────────────────────────────────────────────────


@cache
def _decoder(annotation: Any) -> Decoder:  # noqa: ANN401 - an annotation is a type or a special form
    """Return the function that checks and converts a parsed value of this annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if is_dataclass(annotation):
        return _record_decoder(cast(type, annotation))
    if origin is Literal:
        return partial(_decode_choice, frozenset(arguments))
    if origin in (Union, UnionType):
        return _union_decoder(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return partial(_decode_tuple, tuple(map(_decoder, arguments)))
    if origin in (tuple, list):
        return partial(_decode_items, origin, _decoder(arguments[0]))
    if origin in (Mapping, dict):
        return partial(_decode_mapping, _decoder(arguments[1]))
    return partial(_decode_scalar, annotation)


def _record_decoder(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    annotations = tuple(hints[field.name] for field in fields(kind))
    if all(annotation in (str, int, bool) for annotation in annotations):
        return partial(_decode_flat_record, kind, annotations)
    return partial(_decode_record, kind, tuple(map(_decoder, annotations)))


def _decode_flat_record(kind: Callable[..., object], types: tuple[type, ...], value: object) -> object:
    # Files have thousands of symbols and references: one comparison checks all fields of one.
    if type(value) is not list or tuple(map(type, value)) != types:
        raise ValueError(f"not the fields of {kind}")
    return kind(*value)


def _decode_record(kind: Callable[..., object], decoders: tuple[Decoder, ...], value: object) -> object:
    return kind(*_decode_each(decoders, value))


def _decode_tuple(decoders: tuple[Decoder, ...], value: object) -> object:
    return tuple(_decode_each(decoders, value))


def _decode_each(decoders: tuple[Decoder, ...], value: object) -> list[object]:
    if not isinstance(value, list) or len(value) != len(decoders):
        raise ValueError("a list of another length was expected")
    return [decoder(item) for decoder, item in zip(decoders, value, strict=True)]


def _decode_items(container: Callable[..., object], decoder: Decoder, value: object) -> object:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return container(map(decoder, value))


def _decode_mapping(decoder: Decoder, value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return {key: decoder(item) for key, item in value.items()}


def _decode_choice(choices: frozenset[object], value: object) -> object:
    if not isinstance(value, str) or value not in choices:
        raise ValueError("an unknown choice")
    return value


def _decode_scalar(kind: type, value: object) -> object:
    if type(value) is not kind:
        raise ValueError(f"{kind.__name__} was expected")
    return value


def _union_decoder(arguments: tuple[object, ...]) -> Decoder:
    origins = [get_origin(argument) for argument in arguments]
    # JSON has no tuples: a list stays a list if the annotation allows both.
    allowed = [
        argument
        for argument, origin in zip(arguments, origins, strict=True)
        if not (origin is tuple and list in origins)
    ]
    return partial(_decode_first, tuple(map(_decoder, allowed)))


def _decode_first(decoders: tuple[Decoder, ...], value: object) -> object:
    for decoder in decoders:
        try:
            return decoder(value)
        except ValueError:
            continue
    raise ValueError("no type of the union matches")
