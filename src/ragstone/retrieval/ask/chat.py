"""A language model behind any endpoint that speaks OpenAI's chat completions, Ollama's included; words as they come."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.errors import ConfigError, ProviderError

Message = Mapping[str, str]
_MOST_CHARACTERS: Final = 100_000
"""An answer that goes on for ever is cut here."""
_SHOWN: Final = 200
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Chat:
    """Where the model is and what it is called."""

    url: str
    model: str
    api_key: str | None = None
    seconds: int = 120

    def stream(self, messages: Sequence[Message]) -> Iterator[str]:
        """Yield the answer piece by piece; `ProviderError` where the service fails."""
        httpx = importlib.import_module("httpx2")  # comes with the MCP package, and takes a while to load
        body = {"model": self.model, "messages": list(messages), "stream": True, "temperature": 0}
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        limits = httpx.Timeout(self.seconds, connect=10)
        try:
            # Nothing but what the user named: no proxy from the environment, no redirect to elsewhere.
            with (
                httpx.Client(timeout=limits, trust_env=False, follow_redirects=False) as client,
                client.stream("POST", self._address, json=body, headers=headers) as reply,
            ):
                if reply.status_code != 200:
                    raise self._refused(reply.status_code, reply.read())
                yield from _pieces(reply.iter_lines())
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigError(
                f"ask.url is no address: {self.url}", hint="for example http://127.0.0.1:11434/v1"
            ) from error
        except httpx.HTTPError as error:
            raise ProviderError(
                f"the model at {self.url} cannot be reached: {type(error).__name__}",
                hint="check ask.url, and that the service runs",
                retryable=True,
            ) from error

    @property
    def _address(self) -> str:
        return f"{self.url.rstrip('/')}/chat/completions"

    def _refused(self, status: int, body: bytes) -> ProviderError:
        if status in (401, 403):
            return ProviderError(f"the model's service refused the key ({status})", hint="set RAGSTONE_ASK_API_KEY")
        if status == 404:
            return ProviderError(
                f"the service has no model {self.model!r}, or no such address ({status})",
                hint="check ask.model and ask.url; with Ollama: `ollama pull` it first",
            )
        said = _complaint(body)
        return ProviderError(f"the model's service answered {status}: {said}", retryable=status in _AGAIN)


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Yield the text of each event of a stream; `ProviderError` for what is none."""
    length = 0
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            return
        piece = _text(data)
        length += len(piece)
        if length > _MOST_CHARACTERS:
            return
        if piece:
            yield piece


def _text(data: str) -> str:
    try:
        event: Any = json.loads(data)
        if "error" in event:
            raise ProviderError(f"the model's service failed: {str(event['error'])[:_SHOWN]}", retryable=True)
        choices = event.get("choices") or [{}]
        content = (choices[0].get("delta") or {}).get("content")
    except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
        raise ProviderError("the model's service sent what is no answer", retryable=True) from error
    return content if isinstance(content, str) else ""


def _complaint(body: bytes) -> str:
    text = body[:2000].decode("utf-8", "replace")
    try:
        told = json.loads(text)
        text = str(told["error"]["message"] if isinstance(told.get("error"), dict) else told.get("error", text))
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    return " ".join(text.split())[:_SHOWN] or "nothing"
