"""MiniLM, the embedder inside the package: nothing to download, no key, no network.

A text has the same vector alone and in any batch: the ranges of the quantised model are fixed, not measured per batch,
and texts share a batch only with texts of the same padded length.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.config import Settings, cores
from ragstone.embed.argument_checks import check_texts
from ragstone.embed.wordpiece import VOCABULARY, WordPiece
from ragstone.errors import ConfigError, InputError
from ragstone.protocols import Progress
from ragstone.types import Role, Space

Vectors: TypeAlias = NDArray[np.float32]
TokenIds: TypeAlias = NDArray[np.int64]
Model: TypeAlias = Callable[[TokenIds], Vectors]

WIDTH = 384
MAX_TOKENS = 254
"""The 256 positions that the model was trained on, without the two markers."""
DOCUMENT_PADDING = 8
"""Lengths are rounded up to a multiple of this: few lengths make full batches. It adds four tokens on average."""
QUERY_PADDING = 1
"""Queries are few, and a token less saves 0.1 ms; vectors differ by 1e-7 at most."""
BATCH_TOKENS = 512
"""More tokens do not fit the processor's caches: from 1,024 on a batch is slower."""
SLAB_WINDOWS = 1024
"""Windows that are sorted and embedded at a time, so that memory does not grow with the number of texts."""

DATA = Path(__file__).parent / "data"
GRAPH = DATA / "minilm-int8.onnx"


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A part of a text that the model can read at once. `length` counts markers and padding."""

    text_number: int
    ids: list[int]
    length: int
    is_last: bool


class MiniLM:
    """Embeds with all-MiniLM-L6-v2 in int8: 384 numbers of unit length. The model is loaded on first use."""

    space = Space(
        embedder="minilm",
        model="all-MiniLM-L6-v2-int8",
        dimension=WIDTH,
        normalised=True,
        version="1",
    )
    max_tokens = MAX_TOKENS

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InputError(
                f"threads is {threads}: it must be 1 or more.",
                hint="leave it out to use every core",
            )
        self._threads = threads or cores()
        self._loading = Lock()
        self._loaded: tuple[Model, WordPiece] | None = None

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Vectors:
        """Return one unit row per text, in order; a text too long for the model is the mean of its windows."""
        check_texts(texts, role)
        sums = np.zeros((len(texts), WIDTH), np.float32)
        if len(texts):
            padding = DOCUMENT_PADDING
            if role == "query":
                padding = QUERY_PADDING
            self._add_windows(sums, texts, progress, padding=padding)
            sums /= np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
        return sums

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees in a text, without markers."""
        return self._load()[1].count(text)

    def _add_windows(
        self, sums: Vectors, texts: Sequence[str], progress: Progress | None, *, padding: int
    ) -> None:
        """Add the vector of every window, weighted by its length, to the row of its text."""
        model, tokenizer = self._load()
        windows = _cut_windows(tokenizer, texts, padding)
        done = 0
        while slab := list(islice(windows, SLAB_WINDOWS)):
            batches = list(_make_batches(slab))
            inputs = [_pad(tokenizer, [slab[place] for place in batch]) for batch in batches]
            vectors = np.empty((len(slab), WIDTH), np.float32)
            with closing(self._run(model, inputs)) as outputs:
                for batch, output in zip(batches, outputs, strict=True):
                    vectors[batch] = output
                    done += sum(slab[place].is_last for place in batch)
                    if progress is not None:
                        progress("embed", done, len(texts))
            # Added in the order of the text, so that the sum does not depend on the batches.
            for window, vector in zip(slab, vectors, strict=True):
                sums[window.text_number] += vector * np.float32(max(1, len(window.ids)))

    def _run(self, model: Model, inputs: Sequence[TokenIds]) -> Generator[Vectors, None, None]:
        """Yield the vectors of each batch in order; batches run in parallel threads."""
        workers = min(self._threads, len(inputs))
        if workers == 1:
            yield from map(model, inputs)
            return
        pool = ThreadPoolExecutor(workers, thread_name_prefix="minilm")
        try:
            yield from pool.map(model, inputs)
        finally:
            # After Ctrl-C only the running batches are waited for.
            pool.shutdown(cancel_futures=True)

    def _load(self) -> tuple[Model, WordPiece]:
        with self._loading:
            if self._loaded is None:
                self._loaded = load_model(GRAPH), WordPiece.from_file(VOCABULARY)
            return self._loaded


def configured(settings: Settings) -> MiniLM:
    """Return the embedder with the number of threads in the settings."""
    return MiniLM(threads=settings.embed.threads or None)


def load_model(path: Path) -> Model:
    """Return a function from token ids to vectors; raise `ConfigError` if the model cannot be loaded."""
    if not path.is_file():
        raise ConfigError(f"The model {path.name} is missing.", hint="install ragstone again")
    try:
        runtime = importlib.import_module("onnxruntime")
    except (ImportError, OSError) as error:
        # There is no wheel for this platform, or a system library is missing.
        raise ConfigError(
            f"onnxruntime cannot be loaded: {error}.", hint="install onnxruntime"
        ) from error
    options = runtime.SessionOptions()
    # Batches run in parallel threads of one session; threads inside it would only wait for each other.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # it keeps one plan per shape, and there are 32 lengths
    failures = runtime.capi.onnxruntime_pybind11_state
    try:
        session = runtime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except (
        failures.Fail,
        failures.InvalidGraph,
        failures.InvalidProtobuf,
        failures.NotImplemented,
    ) as error:
        raise ConfigError(
            f"The model {path.name} is damaged.", hint="install ragstone again"
        ) from error

    def run(ids: TokenIds) -> Vectors:
        return np.asarray(session.run(None, {"input_ids": ids})[0], dtype=np.float32)

    return run


def _cut_windows(
    tokenizer: WordPiece, texts: Sequence[str], padding: int
) -> Iterator[TokenWindow]:
    """Yield the windows of the texts in order; those of one text have about the same length."""
    for number, text in enumerate(texts):
        windows = list(tokenizer.windows(text, MAX_TOKENS)) or [[]]
        for place, ids in enumerate(windows, start=1):
            length = -(-(len(ids) + 2) // padding) * padding
            yield TokenWindow(number, ids, length, is_last=place == len(windows))


def _make_batches(windows: Sequence[TokenWindow]) -> Iterator[list[int]]:
    """Yield the places of windows that have the same length and are embedded together."""
    lengths = [window.length for window in windows]
    ordered = sorted(range(len(windows)), key=lengths.__getitem__)
    for length, places in groupby(ordered, key=lengths.__getitem__):
        while batch := list(islice(places, max(1, BATCH_TOKENS // length))):
            yield batch


def _pad(tokenizer: WordPiece, batch: Sequence[TokenWindow]) -> TokenIds:
    """Return the ids of windows of one length as a matrix, with markers and padding."""
    ids = np.full((len(batch), batch[0].length), tokenizer.pad, np.int64)
    for row, window in zip(ids, batch, strict=True):
        row[: len(window.ids) + 2] = [tokenizer.first, *window.ids, tokenizer.last]
    return ids
