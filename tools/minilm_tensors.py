"""Reads the named tensors of an ONNX file, so that tests can compute with the weights without onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np
from minilm_forward import Array
from numpy.typing import DTypeLike

# Numbers of fields and types in the ONNX schema (ModelProto, GraphProto, TensorProto).
_GRAPH, _TENSOR = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES: dict[int, DTypeLike] = {1: "<f4", 2: "u1", 3: "i1", 7: "<i8"}
_VARINT, _LENGTH = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}


def read_tensors(path: Path) -> dict[str, Array]:
    """Return the tensors of a model by name."""
    tensors = {}
    for graph in _messages(memoryview(path.read_bytes()), _GRAPH):
        for tensor in _messages(graph, _TENSOR):
            name, array = _read_tensor(tensor)
            tensors[name] = array
    return tensors


def _messages(data: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yield the contents of all fields of one number."""
    for field, value in _fields(data):
        if field == wanted and isinstance(value, memoryview):
            yield value


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number of each field with its value: a number, or the bytes of something longer."""
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        kind = key & 7
        if kind == _VARINT:
            value, position = _read_varint(data, position)
            yield key >> 3, value
            continue
        if kind == _LENGTH:
            size, position = _read_varint(data, position)
        else:
            size = _FIXED_SIZES[kind]
        yield key >> 3, data[position : position + size]
        position += size


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 127) << shift
        position += 1
        shift += 7
        if byte < 128:
            return number, position


def _read_tensor(data: memoryview) -> tuple[str, Array]:
    shape: list[int] = []
    values: dict[int, int | memoryview] = {}
    for field, value in _fields(data):
        if field == _DIMS and isinstance(value, int):
            shape.append(value)
        else:
            values[field] = value
    name, kind, raw = values[_NAME], values[_TYPE], values[_RAW]
    if not (
        isinstance(name, memoryview) and isinstance(kind, int) and isinstance(raw, memoryview)
    ):
        raise ValueError("the tensor has another form")
    return str(name, "utf-8"), np.frombuffer(raw, _TYPES[kind], prod(shape)).reshape(shape)
