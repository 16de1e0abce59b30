"""An embedder behind a service: cuts texts into requests, checks the replies, counts usage and cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.config import Settings, check_key, provider_key
from ragstone.embed.argument_checks import check_texts
from ragstone.embed.http_client import Json, ServiceClient, ServiceNames
from ragstone.embed.models import facts_about, known_dimension
from ragstone.embed.request_failures import BadReply, RequestRefused
from ragstone.embed.retries import Patience
from ragstone.errors import MissingKey
from ragstone.protocols import Progress
from ragstone.text.tokens import estimate
from ragstone.types import EmbedUsage, RequestSize, Role, Space

Vectors: TypeAlias = NDArray[np.float32]
RowsByPosition: TypeAlias = Mapping[int, Sequence[float]]
"""Rows of a reply by the position of their text; rows that the reply lacks are missing."""

_MAX_USELESS_REPLIES: Final = 3
_MAX_REPLIES: Final = 8
"""If some rows of a request are sound, the others are requested more often, because a failure loses all of them."""
_TOKEN_MARGIN: Final = 0.7
"""Tokens are estimated, so a text is cut well below the limit of the model."""
_SHORTEST_WINDOW: Final = 100
"""The characters of a window that is not cut again if the service calls it too long."""
_MAX_TOKENS_OF_REQUEST: Final = 100_000_000
"""A service that counts more tokens in one request is not believed."""
_DOCUMENT_SECONDS: Final = 300.0
_BAD_SHAPE: Final = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
)
"""The errors of reading a reply that has another shape than expected."""


class Wire(Protocol):
    """The wire format of one provider."""

    def request(self, texts: Sequence[str], role: Role) -> tuple[str, Json]:
        """Return the path and the body of a request."""

    def rows(self, reply: Json, count: int) -> RowsByPosition:
        """Return the rows of a reply by position; raise `BadReply`, KeyError, TypeError or ValueError if it has none."""

    def tokens(self, reply: Json) -> int | None:
        """Return the tokens that the service counted, or None."""


@dataclass(slots=True)
class RemoteEmbedder:
    """Embeds with a model behind a service. Safe to use from several threads."""

    space: Space
    client: ServiceClient
    wire: Wire
    request_size: RequestSize
    max_tokens: int
    price: float | None = None
    document_seconds: float = 60.0
    query_seconds: float = 10.0
    usage: EmbedUsage = field(default_factory=EmbedUsage)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Vectors:
        """Return one unit row per text, in order; raise `ProviderError` if one cannot be embedded."""
        check_texts(texts, role)
        rows = np.zeros((len(texts), self.space.dimension), np.float32)
        for positions in self.cut(texts):
            rows[positions] = self.embed_request([texts[place] for place in positions], role)
            if progress is not None:
                progress("embed", positions[-1] + 1, len(texts))
        return rows

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the positions of the texts of each request; a request stays within the limits of the service."""
        requests: list[list[int]] = []
        tokens = 0
        for position, text in enumerate(texts):
            count = self.count_tokens(text)
            is_full = requests and len(requests[-1]) >= self.request_size.texts
            if not requests or is_full or tokens + count > self.request_size.tokens:
                requests.append([])
                tokens = 0
            requests[-1].append(position)
            tokens += count
        return requests

    def embed_request(
        self, texts: Sequence[str], role: Role = "document", *, seconds: float | None = None
    ) -> Vectors:
        """Return the rows of the texts of one request; retries end after `seconds`.

        If the service says that a text is too long, that text is sent again in shorter windows.
        """
        parts = 1
        while True:
            try:
                return self._embed_windows(texts, role, seconds, parts)
            except RequestRefused as error:
                parts *= 2
                is_short = len(texts[0]) < parts * _SHORTEST_WINDOW
                if len(texts) > 1 or is_short or not error.is_too_long:
                    raise

    def _embed_windows(
        self, texts: Sequence[str], role: Role, seconds: float | None, parts: int
    ) -> Vectors:
        """Return the rows of texts that are cut into `parts` times as many windows as estimated."""
        windows = [self._windows(text, parts) for text in texts]
        pieces = list(chain.from_iterable(windows))
        rows = self._rows(pieces, role, self._patience(role, seconds))
        vectors = np.zeros((len(texts), self.space.dimension), np.float32)
        start = 0
        for number, text_windows in enumerate(windows):
            weights = [max(1, len(window)) for window in text_windows]
            end = start + len(text_windows)
            vectors[number] = np.average(rows[start:end], axis=0, weights=weights)
            start = end
        return _unit_rows(vectors)

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens the model sees in a text."""
        return estimate(text)

    @property
    def problem(self) -> str:
        """Return why the last request failed; empty if it succeeded."""
        return self.client.problem

    def close(self) -> None:
        """Close the connections; they are opened again on the next use."""
        self.client.close()

    def _patience(self, role: Role, seconds: float | None) -> Patience:
        if role == "query":
            return Patience(self.query_seconds, self.query_seconds, attempts=3)
        if seconds is not None and seconds < self.document_seconds:
            # A request that is cut short may have been paid for: only the retries are limited.
            reply_seconds = max(self.query_seconds, min(seconds, self.document_seconds))
            return Patience(
                reply_seconds, seconds, attempts=2, slow_reply_seconds=self.document_seconds
            )
        longest = max(_DOCUMENT_SECONDS, self.document_seconds)
        total = longest if seconds is None else min(longest, seconds)
        return Patience(self.document_seconds, total, slow_reply_seconds=longest)

    def _windows(self, text: str, parts: int) -> list[str]:
        """Return a text in pieces that the model can read; nothing is cut off silently."""
        limit = int(self.max_tokens * _TOKEN_MARGIN)
        count = parts * max(1, -(-self.count_tokens(text) // limit))
        if count == 1:
            return [text or " "]  # some services refuse an empty text
        length = -(-len(text) // count)
        return [text[start : start + length] for start in range(0, len(text), length)]

    def _rows(self, texts: Sequence[str], role: Role, patience: Patience) -> Vectors:
        """Return one row per text. Rows of a reply that are sound are kept; only the others are requested again."""
        rows = np.zeros((len(texts), self.space.dimension), np.float32)
        missing = list(range(len(texts)))
        for attempt in range(_MAX_REPLIES):
            if attempt >= _MAX_USELESS_REPLIES and len(missing) == len(texts):
                break  # not one sound row: the settings are wrong
            reply = self._request([texts[place] for place in missing], role, patience)
            for number, row in reply.rows.items():
                rows[missing[number]] = row
            missing = [
                place for number, place in enumerate(missing) if number not in reply.rows
            ]
            if not missing:
                return rows
        raise BadReply(
            f"{self.client.names.title} sent {reply.problem}", hint=reply.hint, retryable=True
        )

    def _request(self, texts: Sequence[str], role: Role, patience: Patience) -> _Reply:
        path, body = self.wire.request([self._prefix(role) + text for text in texts], role)
        reply = self.client.post(path, body, patience)
        self._count(texts, reply)
        try:
            rows = self.wire.rows(reply, len(texts))
        except BadReply as error:
            return _Reply({}, error.message)
        except _BAD_SHAPE:
            return _Reply({}, "a reply of another shape", f"check {self._url_setting}")
        return self._check(rows, len(texts))

    def _check(self, rows: RowsByPosition, count: int) -> _Reply:
        """Return the sound rows of a reply, and the problem of the others."""
        dimension = self.space.dimension
        sound: dict[int, Vectors] = {}
        problem = f"{len(rows)} vectors for {count} texts"
        hint = "try again; if it stays, check embed.model and the log of the service"
        for position, values in rows.items():
            row = _to_row(values)
            if row is None:
                problem = "a vector that is no list of numbers"
            elif row.shape != (dimension,):
                problem = f"{row.size} numbers per vector, and the settings say {dimension}"
                hint = f"set embed.dimension = {row.size}, then run `ragstone reembed`"
            elif not np.isfinite(row).all() or not row.any():
                problem = "a vector with numbers that are not finite, or only zeros"
            elif 0 <= position < count:
                sound[position] = row
        return _Reply(sound, problem, hint)

    def _count(self, texts: Sequence[str], reply: Json) -> None:
        """Add the tokens of a request to the usage; they are estimated if the service does not say."""
        try:
            tokens = self.wire.tokens(reply)
        except _BAD_SHAPE:
            tokens = None
        if tokens is None or not 0 <= tokens <= _MAX_TOKENS_OF_REQUEST:
            tokens = sum(self.count_tokens(text) for text in texts)
        cost = tokens * (self.price or 0.0) / 1_000_000
        with self._lock:
            usage = self.usage
            self.usage = replace(
                usage,
                requests=usage.requests + 1,
                texts=usage.texts + len(texts),
                tokens=usage.tokens + tokens,
                cost=usage.cost + cost,
            )

    def _prefix(self, role: Role) -> str:
        if role == "query":
            return self.space.query_prefix
        return self.space.document_prefix

    @property
    def _url_setting(self) -> str:
        return f"{self.client.names.section}.url"


@dataclass(frozen=True, slots=True)
class _Reply:
    """The sound rows of a reply, and the problem of the others."""

    rows: Mapping[int, Vectors]
    problem: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ProviderDefaults:
    """What is used if the settings do not say otherwise."""

    name: str
    title: str
    url: str
    model: str
    request_size: RequestSize
    key_variables: tuple[str, ...] = ()
    """The usual variables of the key; empty if the service needs none."""
    start_hint: str = "check the network, or try again later"


def remote_embedder(
    settings: Settings,
    defaults: ProviderDefaults,
    make_wire: Callable[[str, int, int], Wire],
    headers: Callable[[str], Mapping[str, str]],
) -> RemoteEmbedder:
    """Return the embedder of a provider with these settings; `ConfigError` if the key is missing."""
    embed = settings.embed
    model = embed.model or defaults.model
    facts = facts_about(model)
    dimension = known_dimension(model, embed.dimension)
    key = _find_key(settings, defaults)
    space = Space(
        embedder=defaults.name,
        model=model,
        dimension=dimension,
        query_prefix=facts.query_prefix if embed.query_prefix is None else embed.query_prefix,
        document_prefix=(
            facts.document_prefix if embed.document_prefix is None else embed.document_prefix
        ),
        normalised=True,
        version="1",
    )
    missing_model = ""
    if defaults.name == "ollama":
        missing_model = f"`ollama pull {model}`"
    names = ServiceNames(
        defaults.title,
        model,
        "embed",
        _describe_variables(defaults),
        defaults.start_hint,
        missing_model,
    )
    url = embed.url or defaults.url
    return RemoteEmbedder(
        space=space,
        client=ServiceClient(url, names, headers(key) if key else {}),
        wire=make_wire(model, dimension, facts.dimension),
        request_size=replace(defaults.request_size, at_once=embed.concurrency),
        max_tokens=facts.max_tokens,
        price=facts.price if embed.price is None else embed.price,
        document_seconds=float(embed.seconds),
        query_seconds=float(embed.query_seconds),
    )


def _find_key(settings: Settings, defaults: ProviderDefaults) -> str:
    """Return the key; an OpenAI-shaped service of the user may need none."""
    # A project file that came with a clone may choose a provider, but no key is sent to it. Only the user sets a url.
    is_chosen_by_user = not settings.comes_from_project("embed.provider")
    if settings.embed.api_key and (is_chosen_by_user or settings.embed.url):
        return check_key(settings.embed.api_key, "embed.api_key")
    if is_chosen_by_user and not settings.embed.url:
        key = provider_key(defaults.key_variables)
        if key:
            return key
    if not defaults.key_variables or settings.embed.url:
        return ""
    variables = _describe_variables(defaults)
    if not is_chosen_by_user:
        variables = f"RAGSTONE_EMBED_PROVIDER={settings.embed.provider} and {variables}"
    raise MissingKey(
        f"{defaults.title} needs a key.",
        hint=f'set {variables}, or embed.provider = "local"',
    )


def _describe_variables(defaults: ProviderDefaults) -> str:
    own = "RAGSTONE_EMBED_API_KEY"
    if not defaults.key_variables:
        return own
    return f"{defaults.key_variables[0]} or {own}"


def _to_row(values: Sequence[float]) -> Vectors | None:
    """Return the numbers of a reply as a vector; None if they are none."""
    try:
        return np.asarray(values, np.float32)
    except _BAD_SHAPE:
        return None


def _unit_rows(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, dtype=np.float32)
