"""MiniLM in JAX, so that it can be trained. The arrays have the names that `build_minilm.rename` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
from minilm_forward import EPSILON, HEADS, LAYERS, WIDTH

Parameters: TypeAlias = Mapping[str, jax.Array]


def encode(parameters: Parameters, ids: jax.Array) -> jax.Array:
    """Return one unit vector per row of token ids; 0 is padding."""
    keep = (ids != 0).astype(jnp.float32)
    hidden = parameters["embeddings.words"][ids]
    hidden = hidden + parameters["embeddings.positions"][: ids.shape[1]]
    hidden = _norm(parameters, "embeddings.norm", hidden)
    for layer in range(LAYERS):
        # What a layer computes is computed again on the way back: a large batch fits in memory.
        run = jax.checkpoint(partial(_layer, name=f"layer.{layer}"))
        hidden = run(parameters, hidden=hidden, keep=keep)
    pooled: jax.Array = jnp.einsum("bt,bth->bh", keep, hidden.astype(jnp.float32))
    return jnp.divide(pooled, jnp.linalg.norm(pooled, axis=1, keepdims=True))


def _layer(
    parameters: Parameters, *, name: str, hidden: jax.Array, keep: jax.Array
) -> jax.Array:
    mixed = _attention(_dense(parameters, f"{name}.qkv", hidden), keep)
    hidden = _norm(
        parameters, f"{name}.norm1", _dense(parameters, f"{name}.out", mixed) + hidden
    )
    wide = jax.nn.gelu(_dense(parameters, f"{name}.up", hidden), approximate=False)
    return _norm(parameters, f"{name}.norm2", _dense(parameters, f"{name}.down", wide) + hidden)


def _attention(qkv: jax.Array, keep: jax.Array) -> jax.Array:
    """Return what each token takes from the others. The scale of the scores is part of the weights."""
    batch, length, _ = qkv.shape
    query, key, value = jnp.moveaxis(
        qkv.reshape(batch, length, 3, HEADS, WIDTH // HEADS), (2, 3), (0, 2)
    )
    scores = (query @ key.swapaxes(2, 3)).astype(jnp.float32)
    shares = jax.nn.softmax(scores + (keep - 1)[:, None, None, :] * 10_000)
    mixed = shares.astype(value.dtype) @ value
    return jnp.moveaxis(mixed, 1, 2).reshape(batch, length, WIDTH)


def _dense(parameters: Parameters, name: str, values: jax.Array) -> jax.Array:
    return values @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"]


def _norm(parameters: Parameters, name: str, values: jax.Array) -> jax.Array:
    wide = values.astype(jnp.float32)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    spread = jnp.sqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + EPSILON)
    scaled = centred / spread * parameters[f"{name}.weight"] + parameters[f"{name}.bias"]
    return scaled.astype(values.dtype)
