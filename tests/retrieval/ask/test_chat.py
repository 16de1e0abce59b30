from __future__ import annotations

import pytest

from ragstone.errors import ConfigError, ProviderError
from ragstone.retrieval.ask.chat import Chat
from tests.retrieval.ask.conftest import Service

HELLO = [{"role": "user", "content": "hello"}]


def test_the_answer_arrives_in_pieces(service: Service) -> None:
    service.says = "The ferry leaves at nine."
    pieces = list(Chat(service.url, "tiny", "key").stream(HELLO))
    assert len(pieces) > 2
    assert "".join(pieces) == service.says
    assert service.requests == [{"model": "tiny", "messages": HELLO, "stream": True}]
    assert {key.lower(): value for key, value in service.headers[0].items()}[
        "authorization"
    ] == "Bearer key"


@pytest.mark.parametrize(
    ("status", "body", "words", "again"),
    [
        (401, b"", "refused the key", False),
        (404, b"", "no model 'tiny'", False),
        (429, b'{"error": {"message": "slow down"}}', "slow down", True),
        (500, b"<html>oops</html>", "500: <html>oops", True),
        (400, b'{"error": "bad model"}', "bad model", False),
        (302, b"", "302", False),
    ],
)
def test_an_error_status_is_reported_with_the_services_message(
    service: Service, status: int, body: bytes, words: str, again: bool
) -> None:
    service.status, service.body = status, body
    with pytest.raises(ProviderError, match=words) as caught:
        list(Chat(service.url, "tiny").stream(HELLO))
    assert caught.value.retryable is again


@pytest.mark.parametrize(
    "raw",
    [
        b"data: not json\n\n",
        b"data: []\n\n",
        b'data: {"choices": [7]}\n\n',
        b'data: {"error": "boom"}\n\n',
    ],
)
def test_a_malformed_stream_is_a_provider_error(service: Service, raw: bytes) -> None:
    service.raw = raw
    with pytest.raises(ProviderError):
        list(Chat(service.url, "tiny").stream(HELLO))


def test_other_events_and_empty_ones_are_passed_over(service: Service) -> None:
    service.raw = b': ping\n\nevent: x\n\ndata: {"choices": []}\n\ndata: {"choices": [{"delta": {}}]}\n\ndata: [DONE]\n\n'
    assert list(Chat(service.url, "tiny").stream(HELLO)) == []


def test_an_endless_answer_is_cut(service: Service) -> None:
    service.says = "x" * 150_000
    assert len("".join(Chat(service.url, "tiny").stream(HELLO))) <= 100_000


def test_a_missing_service_is_unreachable() -> None:
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        list(Chat("http://127.0.0.1:9", "tiny").stream(HELLO))
    assert caught.value.retryable


def test_a_malformed_address_is_a_config_error() -> None:
    with pytest.raises((ConfigError, ProviderError)):
        list(Chat("http://[broken", "tiny").stream(HELLO))


def test_the_temperature_is_sent_only_if_it_is_set(service: Service) -> None:
    list(Chat(service.url, "tiny", temperature=0.5).stream(HELLO))
    list(Chat(service.url, "tiny").stream(HELLO))
    assert service.requests[0]["temperature"] == 0.5
    assert "temperature" not in service.requests[1]


def test_a_proxy_of_the_environment_is_used_except_for_this_machine(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", service.url.removesuffix("/v1"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    list(Chat("http://model.invalid/v1", "far").stream(HELLO))
    assert [request["model"] for request in service.requests] == ["far"]
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    list(Chat(service.url, "near").stream(HELLO))
    assert [request["model"] for request in service.requests] == ["far", "near"]
