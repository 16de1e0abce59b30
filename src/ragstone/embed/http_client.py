"""The one client for model services: it posts JSON, repeats failed requests, and turns failures into sentences."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from ragstone.embed.request_failures import BadReply, RequestRefused
from ragstone.embed.retries import (
    CircuitBreaker,
    Patience,
    ReplyTime,
    is_too_long,
    pause_seconds,
    requested_pause,
    retry_pause,
)
from ragstone.errors import ConfigError, ProviderError

SECONDS_TO_CONNECT: Final = 10.0
_OWN_MACHINE: Final = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_SHOWN_CHARACTERS: Final = 200
_OK: Final = 200
_SERVER_ERROR: Final = 500
_MAX_REPLY_BYTES: Final = 64_000_000
"""The largest sound reply, 128 vectors of 16,384 numbers, has about 45 MB."""
_JSON_CONTENT: Final = {"Content-Type": "application/json"}
_REFUSED_KEY: Final = (401, 403)
_TOO_LARGE: Final = 413
_REFUSED_TEXT: Final = (400, _TOO_LARGE, 422)
_SIGNS_OF_LENGTH: Final = ("context length", "context size", "tokens", "too long", "too large")
_RETRYABLE: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_RATE_LIMITED: Final = 429
_ATTEMPTS_TO_CONNECT: Final = 3
"""A service that refuses connections is not running: more attempts only make the user wait."""

Json = Any
"""A decoded JSON value."""


@dataclass(frozen=True, slots=True)
class ServiceNames:
    """How messages name a service and its settings."""

    title: str
    model: str
    section: str
    """The section of the settings: `embed` or `rerank`."""
    key_variable: str
    start_hint: str = "check the network, or try again later"
    missing_model_hint: str = ""


@dataclass(slots=True)
class ServiceClient:
    """Posts JSON to one service. Safe to use from several threads."""

    url: str
    names: ServiceNames
    headers: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], object] = time.sleep
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    reply_time: ReplyTime = field(default_factory=ReplyTime)
    problem: str = ""
    """Why the last request failed; empty if it succeeded."""
    _client: httpx2.Client | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def post(self, path: str, body: Json, patience: Patience) -> Json:
        """Return the decoded reply; raise `ProviderError` if the service fails in every attempt."""
        deadline = time.monotonic() + patience.total_seconds
        self._check_breaker()
        attempt = 0
        while True:
            try:
                reply = self._send(path, body, self.reply_time.seconds(patience))
            except _Failure as failure:
                attempt += 1
                self._pause_or_raise(failure, attempt, patience, deadline)
            else:
                self.breaker.record_success()
                self.problem = ""
                return reply

    def close(self) -> None:
        """Close the connections; they are opened again on the next use."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _pause_or_raise(
        self, failure: _Failure, attempt: int, patience: Patience, deadline: float
    ) -> None:
        """Wait before the next attempt; raise the error if there is none."""
        attempts = patience.attempts
        if not failure.is_connected:
            attempts = min(attempts, _ATTEMPTS_TO_CONNECT)
        pause = retry_pause(attempt, failure.pause)
        is_last = attempt >= attempts or time.monotonic() + pause > deadline
        gives_up = not failure.error.retryable or is_last or is_too_long(pause)
        if failure.is_outage:
            self.breaker.record_failure(gave_up=gives_up)
        if gives_up:
            self.problem = str(failure.error)
            raise failure.error from failure.__cause__
        self.sleep(pause)

    def _check_breaker(self) -> None:
        seconds = self.breaker.seconds_until_retry()
        if seconds > 0:
            raise ProviderError(
                f"{self.names.title} failed several times and is asked again in {seconds:.0f} s",
                hint=self.names.start_hint,
                retryable=True,
            )

    def _send(self, path: str, body: Json, seconds: float) -> Json:
        """Return the reply to one request; raise `_Failure` if there is none that can be used."""
        started = time.monotonic()
        try:
            response = self._exchange(path, body, seconds)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ConfigError(
                f"{self.names.section}.url is no address: {self.url}",
                hint="for example http://127.0.0.1:8000/v1",
            ) from error
        except httpx2.ConnectError as error:
            raise _Failure(
                self._unreachable("cannot be reached"), is_connected=False
            ) from error
        except httpx2.TimeoutException as error:
            if isinstance(error, httpx2.ReadTimeout):
                self.reply_time.record_timeout(seconds)
            problem = f"did not answer within {seconds:.0f} s"
            raise _Failure(self._unreachable(problem)) from error
        except httpx2.HTTPError as error:
            problem = f"broke off the connection ({type(error).__name__})"
            raise _Failure(self._unreachable(problem)) from error
        if response.status == _OK:
            self.reply_time.record_reply(time.monotonic() - started)
            return self._decode(response.content)
        if response.status < _SERVER_ERROR:
            self.breaker.record_success()  # the service refuses this request, but it is not down
        raise self._status_failure(response)

    def _exchange(self, path: str, body: Json, seconds: float) -> _Response:
        """Return the answer to one request; it must arrive in time and have a bounded size."""
        deadline = time.monotonic() + seconds
        with self._connection().stream(
            "POST",
            self.url.rstrip("/") + path,
            content=encode_json(body),
            headers={**_JSON_CONTENT, **self.headers},
            timeout=httpx2.Timeout(seconds, connect=min(seconds, SECONDS_TO_CONNECT)),
        ) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > _MAX_REPLY_BYTES:
                    raise _Failure(
                        BadReply(f"{self.names.title} sent a reply that is too long")
                    )
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the reply is too slow")
            return _Response(response.status_code, response.headers, bytes(content))

    def _decode(self, content: bytes) -> Json:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            problem = f"{self.names.title} at {self.url} sent a reply that is no JSON"
            hint = (
                f"check {self.names.section}.url: a proxy or another program may answer there"
            )
            raise _Failure(BadReply(problem, hint=hint, retryable=True)) from error

    def _unreachable(self, problem: str) -> ProviderError:
        title = f"{self.names.title} at {self.url} {problem}"
        return ProviderError(title, hint=self.names.start_hint, retryable=True)

    def _status_failure(self, response: _Response) -> _Failure:
        status = response.status
        message = self._without_key(error_message(response.content))
        names = self.names
        if status in _REFUSED_KEY or _names_bad_key(response.content):
            problem = f"{names.title} refused the key ({status}): {message}"
            return _Failure(ProviderError(problem, hint=f"set {names.key_variable}"))
        if status == 404:
            hint = names.missing_model_hint or f"check {names.section}.model and .url"
            problem = (
                f"{names.title} has no model {names.model!r}, or no such address: {message}"
            )
            return _Failure(ProviderError(problem, hint=hint))
        if status in _REFUSED_TEXT:
            refused = RequestRefused(f"{names.title} refused a request ({status}): {message}")
            refused.is_too_long = status == _TOO_LARGE or _names_length(message)
            return _Failure(refused)
        if status == _RATE_LIMITED and _is_spent(response.content):
            hint = "check the plan and the balance of the account"
            return _Failure(ProviderError(f"{names.title}: {message}", hint=hint))
        problem = f"{names.title} answered {status}: {message}"
        error = ProviderError(problem, hint="try again later", retryable=status in _RETRYABLE)
        pause = requested_pause(response.headers)
        if pause is None:
            pause = _requested_in_body(response.content)
        return _Failure(error, pause=pause, is_outage=status >= _SERVER_ERROR)

    def _without_key(self, message: str) -> str:
        """Return a message of the service without our key, which some services repeat."""
        for value in self.headers.values():
            message = message.replace(value.removeprefix("Bearer "), "…")
        return message

    def _connection(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                self._client = service_client(SECONDS_TO_CONNECT)
            return self._client


@dataclass(frozen=True, slots=True)
class _Response:
    """An answer of the service, read to its end."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _Failure(Exception):
    """One failed attempt: the error for the caller, and how to go on."""

    def __init__(
        self,
        error: ProviderError,
        *,
        pause: float | None = None,
        is_outage: bool = True,
        is_connected: bool = True,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause
        self.is_outage = is_outage and error.retryable
        self.is_connected = is_connected


def service_client(seconds: float) -> httpx2.Client:
    """Return a client for a configured service: no redirects, and the proxies that the environment names.

    A service on this machine is reached directly.
    """
    timeout = httpx2.Timeout(seconds, connect=SECONDS_TO_CONNECT)
    direct = dict.fromkeys(_OWN_MACHINE)
    return httpx2.Client(timeout=timeout, mounts=direct, follow_redirects=False)


def encode_json(body: Json) -> bytes:
    """Return a value as JSON in UTF-8. Half of a surrogate pair cannot be encoded and becomes U+FFFD."""
    text = json.dumps(body, ensure_ascii=False)
    units = text.encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace").encode()


def error_message(body: bytes) -> str:
    """Return the message in an error's body, or the beginning of the body."""
    text = body[:2000].decode("utf-8", "replace")
    try:
        decoded = json.loads(body)
        message = decoded.get("error") or decoded.get("message") or decoded.get("detail")
        if isinstance(message, dict):
            message = message["message"]
        text = str(message or text)
    except (ValueError, KeyError, AttributeError, RecursionError):
        pass  # not JSON, or JSON of another shape: show it as it is
    line = " ".join(text.split())
    return line[:_SHOWN_CHARACTERS] or "nothing"


def _names_bad_key(body: bytes) -> bool:
    """Return whether an error says that the key is wrong. Gemini does so with status 400."""
    return b"API_KEY_INVALID" in body


def _names_length(message: str) -> bool:
    """Return whether a service says that a text is too long for its model."""
    return any(sign in message.lower() for sign in _SIGNS_OF_LENGTH)


def _is_spent(body: bytes) -> bool:
    """Return whether OpenAI says that the account has no money left."""
    return b"insufficient_quota" in body


def _requested_in_body(body: bytes) -> float | None:
    """Return the pause in seconds that Gemini asks for in the details of an error."""
    try:
        details = json.loads(body)["error"]["details"]
        delays = [detail["retryDelay"] for detail in details if "retryDelay" in detail]
        return pause_seconds(delays[0].removesuffix("s"))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None
