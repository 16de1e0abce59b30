"""A language model behind an endpoint that speaks OpenAI's chat completions, such as Ollama."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx2

from ragstone.config import check_key
from ragstone.embed.http_client import encode_json, error_message, service_client
from ragstone.errors import ConfigError, ProviderError

Message = Mapping[str, str]
_MAX_CHARACTERS: Final = 100_000
_SHOWN_CHARACTERS: Final = 200
_RETRYABLE: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Chat:
    """The address and the name of a model."""

    url: str
    model: str
    api_key: str | None = None
    seconds: int = 120
    temperature: float | None = None
    """Sent only if it is set: some models refuse the parameter."""

    def stream(self, messages: Sequence[Message]) -> Iterator[str]:
        """Yield the answer piece by piece, at most 100,000 characters; raise `ProviderError` if the service fails."""
        body: dict[str, object] = {
            "model": self.model,
            "messages": list(messages),
            "stream": True,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {check_key(self.api_key, 'ask.api_key')}"
        base = self.url.rstrip("/")
        address = f"{base}/chat/completions"
        try:
            with (
                service_client(self.seconds) as client,
                client.stream(
                    "POST", address, content=encode_json(body), headers=headers
                ) as response,
            ):
                if response.status_code != _OK:
                    raise self._status_error(response.status_code, response.read())
                yield from _read_events(response.iter_lines())
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ConfigError(
                f"ask.url is no address: {self.url}",
                hint="for example http://127.0.0.1:11434/v1",
            ) from error
        except httpx2.HTTPError as error:
            raise ProviderError(
                f"the model at {self.url} cannot be reached: {type(error).__name__}",
                hint="check ask.url, and that the service runs",
                retryable=True,
            ) from error

    def _status_error(self, status: int, body: bytes) -> ProviderError:
        if status in (401, 403):
            return ProviderError(
                f"the model's service refused the key ({status})",
                hint="set RAGSTONE_ASK_API_KEY",
            )
        if status == 404:
            return ProviderError(
                f"the service has no model {self.model!r}, or no such address ({status})",
                hint="check ask.model and ask.url; with Ollama: `ollama pull` it first",
            )
        message = error_message(body)
        return ProviderError(
            f"the model's service answered {status}: {message}", retryable=status in _RETRYABLE
        )


def _read_events(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each event in a stream; raise `ProviderError` for a malformed one."""
    length = 0
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return
        text = _event_text(data)
        length += len(text)
        if length > _MAX_CHARACTERS:
            return
        if text:
            yield text


def _event_text(data: str) -> str:
    """Return the text in one event of the stream, or an empty text."""
    try:
        event = json.loads(data)
        if "error" in event:
            message = str(event["error"])[:_SHOWN_CHARACTERS]
            raise ProviderError(f"the model's service failed: {message}", retryable=True)
        choices = event.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        content = delta.get("content")
    except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
        raise ProviderError(
            "the model's service sent a malformed answer", retryable=True
        ) from error
    if not isinstance(content, str):
        return ""
    return content
