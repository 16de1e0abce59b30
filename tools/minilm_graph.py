"""Writes MiniLM's ONNX graph, byte by byte: ONNX is protobuf, and the few messages needed fit on one screen."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from minilm_forward import EPSILON, HEADS, LAYERS, WIDTH
from numpy.typing import NDArray

OPSET = 17
IR_VERSION = 8
CONTRIB = "com.microsoft"
_CONTRIB_OPS = {"MatMulIntegerToFloat", "FusedMatMul", "Gelu"}
_TENSOR_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
FLOAT, INT64 = 1, 7

Tensors = Mapping[str, NDArray[Any]]
Setting = int | float | list[int]


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, value: Setting) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    return _bytes(1, name) + b"".join(_number(8, item) for item in value) + _number(20, 7)


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    dims = b"".join(_number(1, size) for size in array.shape)
    return (
        dims
        + _number(2, _TENSOR_TYPES[array.dtype.name])
        + _bytes(8, name)
        + _bytes(9, little.tobytes())
    )


def _value(name: str, kind: int, shape: Iterable[int | str]) -> bytes:
    dims = b"".join(
        _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size))
        for size in shape
    )
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


class Graph:
    """Collects nodes and tensors in the order they are asked for."""

    def __init__(self, tensors: Tensors) -> None:
        self._source = tensors
        self._tensors: dict[str, NDArray[Any]] = {}
        self._nodes: list[bytes] = []

    def has(self, name: str) -> bool:
        """Return whether the model has such a tensor."""
        return name in self._source

    def given(self, name: str) -> str:
        """Return the name of one of the model's tensors, now part of the graph."""
        return self.constant(name, self._source[name])

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Return the name under which an array is part of the graph."""
        self._tensors[name] = array
        return name

    def node(
        self, kind: str, *inputs: str, outputs: tuple[str, ...] = (), **attributes: Setting
    ) -> str:
        """Return the name of the (first) output of a new node."""
        number = len(self._nodes)
        names = outputs or (f"{kind.lower()}.{number}",)
        parts = [_bytes(1, name) for name in inputs] + [_bytes(2, name) for name in names]
        parts += [_bytes(3, f"node.{number}"), _bytes(4, kind)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        parts += [_bytes(7, CONTRIB)] if kind in _CONTRIB_OPS else []
        self._nodes.append(b"".join(parts))
        return names[0]

    def model(
        self, about: Mapping[str, str], output: str, shape: tuple[int | str, ...]
    ) -> bytes:
        """Return the file's bytes."""
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _bytes(2, "minilm")
        graph += b"".join(
            _bytes(5, _tensor(name, array)) for name, array in self._tensors.items()
        )
        graph += _bytes(11, _value("input_ids", INT64, ("batch", "tokens")))
        graph += _bytes(12, _value(output, FLOAT, shape))
        head = _number(1, IR_VERSION) + _bytes(2, "ragstone") + _bytes(7, graph)
        opsets = _bytes(8, _bytes(1, "") + _number(2, OPSET)) + _bytes(
            8, _bytes(1, CONTRIB) + _number(2, 1)
        )
        return (
            head
            + opsets
            + b"".join(
                _bytes(14, _bytes(1, key) + _bytes(2, text)) for key, text in about.items()
            )
        )


def build(tensors: Tensors, about: Mapping[str, str], *, pooled: bool = True) -> bytes:
    """Return the ONNX file, of fp32 or quantised parameters: `input_ids` [batch, tokens] in, `embedding` out.

    If not `pooled`, the output is `last_hidden_state`, one vector for each token, as other packages expect it.
    """
    graph = Graph(tensors)
    padding = graph.node("Equal", "input_ids", graph.constant("pad", np.array(0, np.int64)))
    keep = graph.node("Cast", graph.node("Not", padding), to=FLOAT)
    # A key outside the text gets a score so low that its share after the softmax is exactly zero.
    low = graph.node("Sub", keep, graph.constant("one", np.array(1, np.float32)))
    low = graph.node("Mul", low, graph.constant("low", np.array(10_000, np.float32)))
    low = graph.node("Unsqueeze", low, graph.constant("axes.heads", np.array([1, 2], np.int64)))
    hidden = _norm(graph, "embeddings.norm", _embed(graph))
    for layer in range(LAYERS):
        hidden = _layer(graph, f"layer.{layer}", hidden, low)
    if not pooled:
        graph.node("Identity", hidden, outputs=("last_hidden_state",))
        return graph.model(about, "last_hidden_state", ("batch", "tokens", WIDTH))
    _pool(graph, hidden, keep)
    return graph.model(about, "embedding", ("batch", WIDTH))


def _embed(graph: Graph) -> str:
    words = graph.node("Gather", graph.given("embeddings.words"), "input_ids")
    if graph.has("embeddings.words.scale"):
        scale = graph.node("Gather", graph.given("embeddings.words.scale"), "input_ids")
        words = graph.node("Mul", graph.node("Cast", words, to=FLOAT), scale)
    length = graph.node("Shape", "input_ids", start=1, end=2)
    zero = graph.constant("axis.zero", np.array([0], np.int64))
    return graph.node(
        "Add",
        words,
        graph.node("Slice", graph.given("embeddings.positions"), zero, length, zero),
    )


def _layer(graph: Graph, name: str, hidden: str, low: str) -> str:
    mixed = _attention(graph, name, _dense(graph, f"{name}.qkv", hidden), low)
    hidden = _norm(
        graph, f"{name}.norm1", graph.node("Add", _dense(graph, f"{name}.out", mixed), hidden)
    )
    wide = graph.node("Gelu", _dense(graph, f"{name}.up", hidden))
    return _norm(
        graph, f"{name}.norm2", graph.node("Add", _dense(graph, f"{name}.down", wide), hidden)
    )


def _dense(graph: Graph, name: str, values: str) -> str:
    weight, bias = graph.given(f"{name}.weight"), graph.given(f"{name}.bias")
    if not graph.has(f"{name}.input_scale"):
        return graph.node("Add", graph.node("MatMul", values, weight), bias)
    scale, zero = graph.given(f"{name}.input_scale"), graph.given(f"{name}.input_zero")
    ready = (
        graph.node("Mul", values, graph.given(f"{name}.smooth"))
        if graph.has(f"{name}.smooth")
        else values
    )
    steps = graph.node("QuantizeLinear", ready, scale, zero)
    product = graph.node(
        "MatMulIntegerToFloat",
        steps,
        weight,
        scale,
        graph.given(f"{name}.scale"),
        zero,
        "",
        bias,
    )
    if not graph.has(f"{name}.columns"):
        return product
    few = graph.node("Gather", values, graph.given(f"{name}.columns"), axis=2)
    return graph.node("Add", product, graph.node("MatMul", few, graph.given(f"{name}.exact")))


def _attention(graph: Graph, name: str, qkv: str, low: str) -> str:
    shape = graph.constant("shape.heads", np.array([0, 0, 3 * HEADS, WIDTH // HEADS], np.int64))
    heads = graph.node("Transpose", graph.node("Reshape", qkv, shape), perm=[0, 2, 1, 3])
    sizes = graph.constant("sizes.heads", np.array([HEADS] * 3, np.int64))
    query, key, value = (f"{name}.{part}" for part in ("query", "key", "value"))
    graph.node("Split", heads, sizes, outputs=(query, key, value), axis=1)
    scores = graph.node("Add", graph.node("FusedMatMul", query, key, transB=1), low)
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
    flat = graph.constant("shape.flat", np.array([0, 0, WIDTH], np.int64))
    return graph.node("Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), flat)


def _norm(graph: Graph, name: str, values: str) -> str:
    weight, bias = graph.given(f"{name}.weight"), graph.given(f"{name}.bias")
    return graph.node("LayerNormalization", values, weight, bias, axis=-1, epsilon=EPSILON)


def _pool(graph: Graph, hidden: str, keep: str) -> None:
    """Add the end of the graph: the sum over the text's tokens, brought to unit length (so no mean is needed)."""
    row = graph.node("Unsqueeze", keep, graph.constant("axis.one", np.array([1], np.int64)))
    total = graph.node(
        "Reshape",
        graph.node("MatMul", row, hidden),
        graph.constant("shape.row", np.array([0, WIDTH])),
    )
    graph.node(
        "Div",
        total,
        graph.node("ReduceL2", total, axes=[1], keepdims=1),
        outputs=("embedding",),
    )
