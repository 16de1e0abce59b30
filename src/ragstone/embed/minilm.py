"""MiniLM, the embedder inside the package: nothing to download, no key, no network.

A text's vector is the same alone and in any company: ranges are fixed, not measured per batch, and texts share a batch
only with texts of the same padded length, which depends on nothing but the text itself. One query by itself takes a
shorter way, to the same vector but for the last bit.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.config import Settings, cores
from ragstone.embed.numpy_forward import WIDTH, forward, ready
from ragstone.embed.onnx_file import read_tensors
from ragstone.embed.wordpiece import PART, WordPiece
from ragstone.errors import ConfigError, InputError
from ragstone.protocols import Progress
from ragstone.types import Role, Space

Vectors: TypeAlias = NDArray[np.float32]
Ids: TypeAlias = NDArray[np.int64]
Model: TypeAlias = Callable[[Ids], Vectors]

MAX_TOKENS = 254  # the 256 positions that the model was trained on, less the two markers
PADDED_TO = 8  # few lengths make full batches; on average four tokens of padding
QUERY_PADDED_TO = 1  # queries are few, and a token less is 0.1 ms less; rows differ by 1e-7 at most
BATCH_TOKENS = 512  # more does not fit the caches near the core: slower from 1,024 on
SLAB_WINDOWS = 1024  # windows held, sorted and embedded at a time, however many texts there are

DATA = Path(__file__).parent / "data"
GRAPH = DATA / "minilm-int8.onnx"
VOCABULARY = DATA / "minilm-vocab.txt"


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of a text that the model can read at once."""

    text: int
    ids: list[int]
    ends_text: bool
    padded_to: int

    @property
    def length(self) -> int:
        """Return the length that the model sees, markers and padding counted."""
        return -(-(len(self.ids) + 2) // self.padded_to) * self.padded_to


class MiniLM:
    """Embeds with all-MiniLM-L6-v2 in int8: 384 numbers of unit length. Files are read on first use."""

    space = Space(embedder="minilm", model="all-MiniLM-L6-v2-int8", dimension=WIDTH, normalised=True, version="1")
    max_tokens = MAX_TOKENS
    related = 0.40  # nonsense reached .35 over 3,000 chunks

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads}: it must be 1 or more.", hint="leave it out to use every core")
        self._threads = threads or cores()
        self._lock = Lock()
        self._model: Model | None = None
        self._tokenizer: WordPiece | None = None
        self._backend = ""

    @property
    def backend(self) -> str:
        """Return what does the arithmetic: "onnxruntime", or "numpy" where that cannot be loaded."""
        self._load()
        return self._backend

    def embed(self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None) -> Vectors:
        """Return one unit row per text, in order; a text too long for the model is the mean of its windows."""
        if isinstance(texts, str):
            raise InputError("embed takes a list of texts, not one text.", hint="put it in a list: [text]")
        if role not in ("document", "query"):
            raise InputError(f"{role!r} is not a role.", hint='use "document" or "query"')
        if role == "query" and len(texts) == 1 and progress is None and (row := self._at_once(texts[0])) is not None:
            return row
        sums = np.zeros((len(texts), WIDTH), np.float32)
        if len(texts):
            padded_to = PADDED_TO if role == "document" else QUERY_PADDED_TO
            self._fill(sums, texts, progress, padded_to=padded_to)
            sums /= np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
        return sums

    def _at_once(self, text: str) -> Vectors | None:
        """Return the row of a text that fits the model, None for a longer one: every search waits for a query."""
        if len(text) > PART:
            return None
        model, tokenizer = self._load()
        ids = tokenizer.encode(text)
        return model(np.array([[tokenizer.first, *ids, tokenizer.last]], np.int64)) if len(ids) <= MAX_TOKENS else None

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees in a text, markers not counted."""
        return self._load()[1].count(text)

    def _fill(self, sums: Vectors, texts: Sequence[str], progress: Progress | None, *, padded_to: int) -> None:
        """Add every window's vector, weighted by its length, to the row of its text."""
        _, tokenizer = self._load()
        windows = _windows(tokenizer, texts, padded_to)
        done = 0
        while slab := list(islice(windows, SLAB_WINDOWS)):
            batches = list(_batches(slab))
            matrices = [_matrix(tokenizer, [slab[place] for place in batch]) for batch in batches]
            rows = np.empty((len(slab), WIDTH), np.float32)
            with closing(self._run(matrices)) as results:
                for batch, vectors in zip(batches, results, strict=True):
                    rows[batch] = vectors
                    done += sum(slab[place].ends_text for place in batch)
                    if progress is not None:
                        progress("embed", done, len(texts))
            for window, row in zip(slab, rows, strict=True):
                sums[window.text] += row * np.float32(max(1, len(window.ids)))

    def _run(self, matrices: Sequence[Ids]) -> Generator[Vectors, None, None]:
        """Yield the vectors of each batch in order, as many at work at once as there are threads."""
        model, _ = self._load()
        workers = min(self._threads, len(matrices))
        if workers == 1 or self._backend == "numpy":  # NumPy's own matrix product uses every core
            yield from map(model, matrices)
            return
        pool = ThreadPoolExecutor(workers, thread_name_prefix="minilm")
        try:
            yield from pool.map(model, matrices)
        finally:
            pool.shutdown(cancel_futures=True)  # on Ctrl-C only the batches already at work are waited for

    def _load(self) -> tuple[Model, WordPiece]:
        with self._lock:
            if self._model is None or self._tokenizer is None:
                self._tokenizer = WordPiece.from_file(VOCABULARY)
                self._model, self._backend = load_model(GRAPH)
            return self._model, self._tokenizer


def configured(settings: Settings) -> MiniLM:
    """Return the embedder with as many threads as the settings say."""
    return MiniLM(threads=settings.embed.threads or None)


def load_model(path: Path) -> tuple[Model, str]:
    """Return a function from token ids to vectors and the name of what computes it."""
    if not path.is_file():
        raise ConfigError(f"The model {path.name} is missing.", hint="install ragstone again")
    try:
        runtime = importlib.import_module("onnxruntime")
    except (ImportError, OSError):  # no wheel for this platform, or a system library is missing
        return partial(forward, ready(read_tensors(path))), "numpy"
    options = runtime.SessionOptions()
    # Workers run side by side in one session; threads inside it would only wait for each other.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # one plan per shape is kept for ever, and there are 32 lengths
    failures = runtime.capi.onnxruntime_pybind11_state
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NotImplemented):
        # A build without one of the operators still has the weights; a damaged file is told apart by its reader.
        return partial(forward, ready(read_tensors(path))), "numpy"

    def run(ids: Ids) -> Vectors:
        return np.asarray(session.run(None, {"input_ids": ids})[0], dtype=np.float32)

    return run, "onnxruntime"


def _windows(tokenizer: WordPiece, texts: Iterable[str], padded_to: int) -> Iterator[_Window]:
    """Yield the texts' windows in order, each text's of about the same length."""
    for number, text in enumerate(texts):
        held: list[int] | None = None
        for ids in tokenizer.windows(text, MAX_TOKENS):
            if held is not None:
                yield _Window(number, held, False, padded_to)
            held = ids
        yield _Window(number, held or [], True, padded_to)


def _batches(slab: Sequence[_Window]) -> Iterator[list[int]]:
    """Yield places of windows that are of one length and few enough to be embedded together."""
    order = sorted(range(len(slab)), key=lambda place: slab[place].length)
    for length, places in groupby(order, key=lambda place: slab[place].length):
        while batch := list(islice(places, max(1, BATCH_TOKENS // length))):
            yield batch


def _matrix(tokenizer: WordPiece, windows: Sequence[_Window]) -> Ids:
    ids = np.full((len(windows), windows[0].length), tokenizer.pad, np.int64)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window.ids) + 2] = [tokenizer.first, *window.ids, tokenizer.last]
    return ids
