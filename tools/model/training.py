"""Contrastive training: a query shall be nearer to its own passage than to the other passages of its batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from model.encoder import encode
from model.tokens import TokenPairs, TokenRows

Weights = dict[str, jax.Array]
Arrays = Mapping[str, NDArray[np.float32]]
Numbers = NDArray[np.int64]
Parts = tuple[tuple[jax.Array, ...], jax.Array]
"""Padded rows of token ids in parts of growing length, and the place of each row of the batch in them."""

FIRST, LAST = 101, 102
"""The tokens around each text, in the vocabulary of the base."""
PARTS = 4
LENGTH_STEP = 16


@dataclass(frozen=True, slots=True)
class Recipe:
    """The numbers of a run. The defaults are those of the real run; the tests use smaller ones."""

    seed: int = 1
    batch: int = 2_048
    group: int = 64
    """Pairs of one package that stand in one batch: passages that are hard to tell apart."""
    query_tokens: int = 64
    passage_tokens: int = 256
    rate: float = 1e-4
    warm_up: float = 0.08
    temperature: float = 0.05
    decay: float = 0.01


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a batch are cut: sorted by length, each part is padded to its own length."""

    parts: tuple[tuple[int, int], ...]
    """Rows and length of each part."""

    @classmethod
    def fit(cls, rows: TokenRows, batches: Sequence[Numbers], longest: int) -> Layout:
        """Return the layout that all batches fit, so that one compiled step serves them all.

        In the batches of another seed a row that is longer than its part is cut to it.
        """
        lengths = np.minimum(rows.lengths() + 2, longest)
        ordered = np.array([np.sort(lengths[batch]) for batch in batches]).max(axis=0)
        parts: list[tuple[int, int]] = []
        for part in np.array_split(ordered, PARTS):
            length = min(longest, -(-int(part[-1]) // LENGTH_STEP) * LENGTH_STEP)
            size = len(part)
            if parts and parts[-1][1] == length:
                size += parts.pop()[0]
            parts.append((size, length))
        return cls(tuple(parts))

    def lay_out(self, rows: TokenRows, batch: Numbers) -> Parts:
        """Return the padded parts of a batch, and the place of each row in them."""
        order = np.argsort(rows.lengths()[batch], kind="stable")
        padded = []
        start = 0
        for size, length in self.parts:
            padded.append(jnp.asarray(_pad(rows, batch[order[start : start + size]], length)))
            start += size
        return tuple(padded), jnp.asarray(np.argsort(order))


Layouts = tuple[Layout, Layout]
"""Of queries and of passages."""


def fit_layouts(pairs: TokenPairs, recipe: Recipe) -> Layouts:
    """Return layouts for the batches of a seed. With other seeds the compiled step is used again."""
    batches = make_batches(pairs.packages, recipe)
    if not batches:
        raise ValueError(f"{len(pairs)} pairs are fewer than one batch of {recipe.batch}")
    return (
        Layout.fit(pairs.queries, batches, recipe.query_tokens),
        Layout.fit(pairs.passages, batches, recipe.passage_tokens),
    )


def train(
    base: Arrays,
    pairs: TokenPairs,
    recipe: Recipe,
    layouts: Layouts,
    tell: Callable[[int, int, float], None],
) -> dict[str, NDArray[np.float32]]:
    """Return the weights after one pass over the pairs; `tell` gets step, steps and loss."""
    batches = make_batches(pairs.packages, recipe)
    queries, passages = layouts
    weights = {name: jnp.array(array) for name, array in base.items()}
    moments = {
        name: (jnp.zeros_like(array), jnp.zeros_like(array)) for name, array in weights.items()
    }
    for number, batch in enumerate(batches, 1):
        rate = recipe.rate * _schedule(number, len(batches), recipe.warm_up)
        weights, moments, loss = _step(
            weights,
            moments,
            queries.lay_out(pairs.queries, batch),
            passages.lay_out(pairs.passages, batch),
            number,
            rate,
            recipe.decay,
            recipe.temperature,
        )
        tell(number, len(batches), float(loss))
    return {name: np.asarray(array, np.float32) for name, array in weights.items()}


def make_batches(packages: NDArray[np.int64], recipe: Recipe) -> list[Numbers]:
    """Return full batches of groups of one package each, in an order that the seed decides, as numbers of pairs."""
    chance = np.random.default_rng(recipe.seed)
    shuffled = chance.permutation(len(packages))
    by_package = shuffled[np.argsort(packages[shuffled], kind="stable")]
    borders = np.flatnonzero(np.diff(packages[by_package])) + 1
    groups = [
        of_package[start : start + recipe.group]
        for of_package in np.split(by_package, borders)
        for start in range(0, len(of_package), recipe.group)
    ]
    ordered = [groups[number] for number in chance.permutation(len(groups))]
    numbers = np.concatenate(ordered)
    full = len(numbers) // recipe.batch * recipe.batch
    return list(numbers[:full].reshape(-1, recipe.batch))


def _pad(rows: TokenRows, numbers: Numbers, length: int) -> NDArray[np.int32]:
    """Return one row of token ids per text, cut to a length and padded with 0 to it."""
    padded = np.zeros((len(numbers), length), np.int32)
    for row, number in zip(padded, numbers, strict=True):
        ids = rows.row(number)[: length - 2]
        row[0] = FIRST
        row[1 : len(ids) + 1] = ids
        row[len(ids) + 1] = LAST
    return padded


def _encode_parts(weights: Weights, rows: Parts) -> jax.Array:
    parts, places = rows
    return jnp.concatenate([encode(weights, part) for part in parts])[places]


def contrastive_loss(
    weights: Weights, queries: Parts, passages: Parts, temperature: float
) -> jax.Array:
    """Return the mean cross-entropy of finding each query's passage in the batch, and the other way round."""
    if jax.default_backend() != "cpu":
        weights = {name: array.astype(jnp.bfloat16) for name, array in weights.items()}
    scores = _encode_parts(weights, queries) @ _encode_parts(weights, passages).T / temperature
    own = jnp.diagonal(scores)
    forth = jax.nn.logsumexp(scores, axis=1) - own
    back = jax.nn.logsumexp(scores, axis=0) - own
    return jnp.mean((forth + back) / 2)


@partial(jax.jit, donate_argnums=(0, 1))
def _step(
    weights: Weights,
    moments: dict[str, tuple[jax.Array, jax.Array]],
    queries: Parts,
    passages: Parts,
    number: int,
    rate: float,
    decay: float,
    temperature: float,
) -> tuple[Weights, dict[str, tuple[jax.Array, jax.Array]], jax.Array]:
    """Return weights, moments and loss after one step of AdamW."""
    loss, slopes = jax.value_and_grad(contrastive_loss)(weights, queries, passages, temperature)
    moved: Weights = {}
    kept: dict[str, tuple[jax.Array, jax.Array]] = {}
    for name, slope in slopes.items():
        first = 0.9 * moments[name][0] + 0.1 * slope
        second = 0.999 * moments[name][1] + 0.001 * slope**2
        direction = first / (1 - 0.9**number) / (jnp.sqrt(second / (1 - 0.999**number)) + 1e-8)
        moved[name] = weights[name] - rate * (direction + decay * weights[name])
        kept[name] = (first, second)
    return moved, kept, loss


def _schedule(number: int, steps: int, warm_up: float) -> float:
    """Return the share of the full rate: it rises during the warm-up, then falls to nearly nothing."""
    rising = max(1, round(steps * warm_up))
    if number <= rising:
        return number / rising
    return (steps - number + 1) / max(1, steps - rising + 1)


def blend(
    base: Arrays, change: Mapping[str, NDArray[Any]], share: float
) -> dict[str, NDArray[np.float32]]:
    """Return the base with a share of the change: 0 is the base, 1 the trained weights."""
    return {
        name: np.asarray(array + share * change[name].astype(np.float32), np.float32)
        for name, array in base.items()
    }
