"""Contrastive training: a query shall be nearer to its own passage than to the other passages of its batch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from model.encoder import encode
from model.pairs import Pair
from ragstone.embed.wordpiece import WordPiece

Weights = dict[str, jax.Array]
Arrays = Mapping[str, NDArray[np.float32]]


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


def train(
    base: Arrays,
    tokenizer: WordPiece,
    pairs: Sequence[Pair],
    recipe: Recipe,
    tell: Callable[[int, int, float], None],
) -> dict[str, NDArray[np.float32]]:
    """Return the weights after one pass over the pairs; `tell` gets step, steps and loss."""
    batches = list(make_batches(pairs, recipe))
    if not batches:
        raise ValueError(f"{len(pairs)} pairs are fewer than one batch of {recipe.batch}")
    weights = {name: jnp.asarray(array) for name, array in base.items()}
    moments = {name: (jnp.zeros_like(array),) * 2 for name, array in weights.items()}
    for number, batch in enumerate(batches, 1):
        queries = token_rows(tokenizer, [pair.query for pair in batch], recipe.query_tokens)
        passages = token_rows(
            tokenizer, [pair.passage for pair in batch], recipe.passage_tokens
        )
        rate = recipe.rate * _schedule(number, len(batches), recipe.warm_up)
        weights, moments, loss = _step(
            weights, moments, queries, passages, number, rate, recipe.decay, recipe.temperature
        )
        tell(number, len(batches), float(loss))
    return {name: np.asarray(array, np.float32) for name, array in weights.items()}


def make_batches(pairs: Sequence[Pair], recipe: Recipe) -> Iterator[list[Pair]]:
    """Yield full batches of groups of one package each, in an order that the seed decides."""
    chance = random.Random(recipe.seed)  # noqa: S311 - an order, no secret
    groups: list[list[Pair]] = []
    for _, of_package in groupby(sorted(pairs, key=_package), key=_package):
        shuffled = list(of_package)
        chance.shuffle(shuffled)
        groups += [
            shuffled[start : start + recipe.group]
            for start in range(0, len(shuffled), recipe.group)
        ]
    chance.shuffle(groups)
    batch: list[Pair] = []
    for group in groups:
        batch += group
        if len(batch) >= recipe.batch:
            yield batch[: recipe.batch]
            batch = batch[recipe.batch :]


def _package(pair: Pair) -> str:
    return pair.package


def token_rows(tokenizer: WordPiece, texts: Sequence[str], longest: int) -> jax.Array:
    """Return one row of token ids per text, cut to a length and padded with 0 to it."""
    rows = np.zeros((len(texts), longest), np.int32)
    for row, text in zip(rows, texts, strict=True):
        ids = [tokenizer.first, *tokenizer.encode(text)[: longest - 2], tokenizer.last]
        row[: len(ids)] = ids
    return jnp.asarray(rows)


def contrastive_loss(
    weights: Weights, queries: jax.Array, passages: jax.Array, temperature: float
) -> jax.Array:
    """Return the mean cross-entropy of finding each query's passage in the batch, and the other way round."""
    if jax.default_backend() != "cpu":
        weights = {name: array.astype(jnp.bfloat16) for name, array in weights.items()}
    scores = encode(weights, queries) @ encode(weights, passages).T / temperature
    own = jnp.diagonal(scores)
    forth = jax.nn.logsumexp(scores, axis=1) - own
    back = jax.nn.logsumexp(scores, axis=0) - own
    return jnp.mean((forth + back) / 2)


@jax.jit
def _step(
    weights: Weights,
    moments: dict[str, tuple[jax.Array, jax.Array]],
    queries: jax.Array,
    passages: jax.Array,
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
    base: Arrays, trained: Sequence[Arrays], share: float
) -> dict[str, NDArray[np.float32]]:
    """Return the mean of several runs, mixed with the base: `share` 0 is the base, 1 the mean."""
    return {
        name: np.asarray(
            array + share * (np.mean([run[name] for run in trained], axis=0) - array),
            np.float32,
        )
        for name, array in base.items()
    }
