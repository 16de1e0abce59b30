"""Requests to a server: JSON in, JSON out, and its failures as the errors of `ragstone.errors`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Final, TypedDict

import httpx2

from ragstone import errors
from ragstone.errors import InputError, Overloaded, ProviderError, RagstoneError
from ragstone.surfaces.present import Json

_PREFIX: Final = "/api/rag"
_MAX_WAIT_SECONDS: Final = 30.0


class _Options(TypedDict, total=False):
    """What a request carries."""

    params: Mapping[str, str | int]
    content: bytes
    headers: Mapping[str, str]


class ServerConnection:
    """Sends requests; may be used from several threads. An overloaded server is asked again a few times."""

    def __init__(self, url: str, key: str | None, *, seconds: float, retries: int) -> None:
        """Keep the address and the key; nothing is sent yet."""
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InputError(f"{url!r} is no address", hint='Client("http://127.0.0.1:8377")')
        headers = {"authorization": f"Bearer {_check_key(key)}"} if key else {}
        self._url = url.rstrip("/")
        self._retries = retries
        self._http = httpx2.Client(headers=headers, timeout=seconds, trust_env=False)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def get(self, path: str, **parameters: str | int | None) -> Json:
        """Return the answer to a GET request; parameters that are None are left out."""
        set_parameters = {
            name: value for name, value in parameters.items() if value is not None
        }
        return self._send("GET", path, {"params": set_parameters})

    def post(self, path: str, body: Mapping[str, object]) -> Json:
        """Return the answer to a POST request."""
        # ASCII: texts may have lone surrogates, which UTF-8 cannot represent.
        try:
            content = json.dumps(dict(body)).encode("ascii")
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"the arguments cannot be sent as JSON: {error}",
                hint="use texts, numbers, lists and dicts",
            ) from error
        headers = {"content-type": "application/json"}
        return self._send("POST", path, {"content": content, "headers": headers})

    def _send(self, method: str, path: str, options: _Options) -> Json:
        for _ in range(self._retries):
            try:
                return self._send_once(method, path, options)
            except Overloaded as error:
                time.sleep(min(error.retry_after, _MAX_WAIT_SECONDS))
        return self._send_once(method, path, options)

    def _send_once(self, method: str, path: str, options: _Options) -> Json:
        try:
            response = self._http.request(method, self._url + _PREFIX + path, **options)
            data = response.json()
        except httpx2.TransportError as error:
            raise ProviderError(
                f"{self._url} cannot be reached: {error or type(error).__name__}",
                hint="start it with `ragstone serve`",
                retryable=True,
            ) from error
        except ValueError as error:
            raise ProviderError(
                f"{self._url} is no Ragstone server", hint="check the address"
            ) from error
        if not isinstance(data, dict):
            raise ProviderError(f"{self._url} is no Ragstone server", hint="check the address")
        if response.is_success:
            return data
        failure = data.get("error")
        if not isinstance(failure, dict):
            raise ProviderError(
                f"{self._url} answered with status {response.status_code}",
                hint="check that it is a Ragstone server",
            )
        raise read_failure(failure, response.headers.get("retry-after"))


def _check_key(key: str) -> str:
    """Return the key without spaces around it; `InputError` if no header can hold it."""
    stripped = key.strip() if isinstance(key, str) else ""
    if not stripped.isascii() or not stripped.isprintable() or not stripped:
        raise InputError(
            "the key has characters that no key has", hint="copy it again, without quotes"
        )
    return stripped


def read_failure(error: Json, retry_after: str | None = None) -> RagstoneError:
    """Return the failure of a server as the error that the engine would raise."""
    code = str(error.get("code", ""))
    message = str(error.get("message", "the server failed"))
    hint = str(error.get("hint", ""))
    failure = _kind(code)(message, hint=hint)
    if isinstance(failure, ProviderError):
        failure.retryable = bool(error.get("retryable"))
    if isinstance(failure, Overloaded):
        failure.retry_after = _seconds(retry_after)
    return failure


def _kind(code: str) -> type[RagstoneError]:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, RagstoneError) and kind.code == code:
            return kind
    return RagstoneError


def _seconds(text: str | None) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 1.0
