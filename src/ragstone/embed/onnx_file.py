"""Reads the named tensors out of an ONNX file, so that the weights are of use without onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from ragstone.embed.numpy_forward import Array
from ragstone.errors import ConfigError

# Numbers of fields and types in the ONNX schema (ModelProto, GraphProto, TensorProto).
_GRAPH, _TENSOR = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES: dict[int, DTypeLike] = {1: "<f4", 2: "u1", 3: "i1", 7: "<i8"}
_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5


def read_tensors(path: Path) -> dict[str, Array]:
    """Return a model's tensors by name, or raise `ConfigError` for a file that is not a sound model."""
    try:
        data = memoryview(path.read_bytes())
        return dict(
            _tensor(tensor)
            for field, graph in _fields(data)
            if field == _GRAPH and isinstance(graph, memoryview)
            for number, tensor in _fields(graph)
            if number == _TENSOR and isinstance(tensor, memoryview)
        )
    except OSError as error:
        raise ConfigError(f"The model {path.name} cannot be read: {error.strerror}.", hint=_HINT) from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ConfigError(f"The model {path.name} is damaged.", hint=_HINT) from error


_HINT = "install ragstone again"


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield each field's number with its value: a number, or the bytes of something longer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == _LENGTH:
            size, at = _varint(data, at)
        else:
            size = {_EIGHT: 8, _FOUR: 4}[kind]
        if at + size > len(data):
            raise ValueError("a field reaches past the end")
        yield key >> 3, data[at : at + size]
        at += size


def _tensor(data: memoryview) -> tuple[str, Array]:
    shape: list[int] = []
    found: dict[int, int | memoryview] = {}
    for field, value in _fields(data):
        if field == _DIMS and isinstance(value, int):
            shape.append(value)
        else:
            found[field] = value
    name, kind, raw = found[_NAME], found[_TYPE], found[_RAW]
    if not (isinstance(name, memoryview) and isinstance(kind, int) and isinstance(raw, memoryview)):
        raise ValueError("a tensor of another form")
    return str(name, "utf-8"), np.frombuffer(raw, _TYPES[kind], prod(shape)).reshape(shape)
