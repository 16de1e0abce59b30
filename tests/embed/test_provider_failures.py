"""Embedders behind a service: replies are checked, failures are retried, and what stays wrong is one clear sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.embed.retries import CircuitBreaker, requested_pause, retry_pause
from ragstone.errors import ProviderError
from tests.support.model_services import (
    Faults,
    ModelService,
    Reply,
    answer_gemini,
    answer_ollama,
    answer_openai,
    make_embedder,
    openai_at,
    serving,
    vector_of,
)
from tests.support.waiting import wait_until


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def openai(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_openai), "/v1"))


@pytest.fixture
def gemini(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_gemini, 3072), "/v1beta"))


@pytest.fixture
def ollama(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_ollama, 768)))


# ── replies ───────────────────────────────────────────────────────────────────────────────────────


def test_a_reordered_reply_is_ordered_by_its_index(
    tmp_path: Path, openai: ModelService
) -> None:
    openai.faults.reordered = 1
    rows = openai_at(tmp_path, openai).embed(["one", "two", "three"])
    assert np.allclose(rows[0], vector_of("one", 8), atol=1e-6)


@pytest.mark.parametrize("fault", ["short", "not_finite", "wrong_dimension"])
def test_of_a_bad_reply_only_the_bad_rows_are_requested_again(
    tmp_path: Path, openai: ModelService, fault: str
) -> None:
    setattr(openai.faults, fault, 1.0)

    def answer_badly_once(*arguments: Any) -> Reply:
        reply = answer_openai(*arguments)
        setattr(openai.faults, fault, 0.0)
        return reply

    openai.answer = answer_badly_once
    rows = openai_at(tmp_path, openai).embed([f"text {number}" for number in range(10)])
    assert np.allclose(rows[3], vector_of("text 3", 8), atol=1e-6) and np.isfinite(rows).all()
    assert len(openai.requests) == 2 and openai.paid_twice == 1


def test_a_dimension_that_stays_wrong_says_which_setting_to_change(
    tmp_path: Path, ollama: ModelService
) -> None:
    embedder = make_embedder(
        tmp_path, provider="ollama", model="own", dimension="512", url=ollama.url
    )
    with pytest.raises(
        ProviderError, match="768 numbers per vector, and the settings say 512"
    ) as caught:
        embedder.embed(["a"])
    assert "embed.dimension = 768" in caught.value.hint


def test_a_reply_that_is_no_json_or_of_another_shape_is_a_clear_failure(
    tmp_path: Path, openai: ModelService
) -> None:
    openai.answer = lambda *_: (200, {}, {"hello": "world"})
    with pytest.raises(ProviderError, match="a reply of another shape"):
        openai_at(tmp_path, openai).embed(["a"])


@pytest.mark.parametrize("faults", [Faults(not_finite=1.0), Faults(short=1.0)])
def test_a_reply_with_bad_or_missing_vectors_has_a_hint(
    tmp_path: Path, openai: ModelService, faults: Faults
) -> None:
    openai.faults = faults
    with pytest.raises(ProviderError, match="OpenAI sent") as caught:
        openai_at(tmp_path, openai).embed(["a"])
    assert "check embed.model and the log of the service" in caught.value.hint


# ── failures of the service ───────────────────────────────────────────────────────────────────────


def test_rate_limits_and_errors_are_retried(tmp_path: Path, openai: ModelService) -> None:
    openai.faults.rate_limited, openai.faults.broken = 0.3, 0.05
    embedder = openai_at(tmp_path, openai, seconds="30")
    for number in range(40):
        embedder.embed([f"text {number}"])
    assert openai.statuses[429] > 3 and openai.paid_twice == 0 and len(openai.embedded) == 40


def test_a_service_that_is_slower_than_the_setting_is_paid_twice_only_once(
    tmp_path: Path, ollama: ModelService
) -> None:
    ollama.seconds_per_request = 1.3
    embedder = make_embedder(
        tmp_path, provider="ollama", url=ollama.url, seconds="1", query_seconds="1"
    )
    for number in range(3):
        embedder.embed([f"text {number}"])
    assert wait_until(lambda: ollama.running == 0)
    assert len(ollama.embedded) == 3 and ollama.paid_twice == 1
    with pytest.raises(ProviderError, match="did not answer within 1 s"):
        embedder.embed(["a search does not wait longer"], role="query")


def test_the_pause_that_the_service_asks_for_is_kept(
    tmp_path: Path, openai: ModelService
) -> None:
    pauses: list[float] = []
    embedder = openai_at(tmp_path, openai)
    openai.faults.rate_limited, openai.faults.retry_after = 1.0, "3"

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        openai.faults.rate_limited = 0.0

    embedder.client.sleep = sleep
    embedder.embed(["a"])
    assert len(pauses) == 1 and 3 <= pauses[0] < 3.2


def test_gemini_asks_for_a_pause_in_the_body(tmp_path: Path, gemini: ModelService) -> None:
    pauses: list[float] = []
    embedder = make_embedder(tmp_path, provider="gemini", dimension="8", url=gemini.url)
    gemini.faults.rate_limited, gemini.faults.retry_after = 1.0, "2"

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        gemini.faults.rate_limited = 0.0

    embedder.client.sleep = sleep
    embedder.embed(["a"])
    assert len(pauses) == 1 and 2 <= pauses[0] < 2.2


def test_pauses_double_and_vary() -> None:
    assert all(retry_pause(3, None) <= 4 for _ in range(50))
    assert len({retry_pause(2, None) for _ in range(10)}) > 1
    assert retry_pause(50, None) <= 20


def test_a_retry_after_is_a_number_or_a_date() -> None:
    assert requested_pause({"retry-after": "7"}) == 7
    assert requested_pause({"retry-after-ms": "250"}) == 0.25
    assert requested_pause({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert requested_pause({"retry-after": "soon"}) is None and requested_pause({}) is None


def test_a_spent_account_is_not_asked_again(tmp_path: Path, openai: ModelService) -> None:
    error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    openai.answer = lambda *_: (429, {}, {"error": error})
    with pytest.raises(ProviderError, match="exceeded your current quota") as caught:
        openai_at(tmp_path, openai).embed(["a"])
    assert len(openai.requests) == 1 and "balance" in caught.value.hint


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_a_wrong_key_names_the_variable_and_is_not_retried(
    tmp_path: Path, stack: ExitStack, provider: str
) -> None:
    answer, path = (
        (answer_openai, "/v1") if provider == "openai" else (answer_gemini, "/v1beta")
    )
    service = stack.enter_context(serving(ModelService(answer), path))
    embedder = make_embedder(
        tmp_path, "sk-wrong", provider=provider, dimension="8", url=service.url
    )
    with pytest.raises(ProviderError, match="refused the key") as caught:
        embedder.embed(["a"])
    assert f"{provider.upper()}_API_KEY" in caught.value.hint and len(service.requests) == 1
    assert "sk-wrong" not in str(caught.value) and not caught.value.retryable


def test_a_service_that_does_not_run_is_one_sentence_with_a_hint(tmp_path: Path) -> None:
    embedder = make_embedder(tmp_path, provider="ollama", url="http://127.0.0.1:9")
    with pytest.raises(ProviderError, match="Ollama at .* cannot be reached") as caught:
        embedder.embed(["a"])
    assert "ollama serve" in caught.value.hint and caught.value.retryable


def test_a_model_that_is_not_pulled_is_said_with_the_command(
    tmp_path: Path, ollama: ModelService
) -> None:
    embedder = make_embedder(
        tmp_path, provider="ollama", model="missing", dimension="8", url=ollama.url
    )
    with pytest.raises(ProviderError, match="has no model 'missing'") as caught:
        embedder.embed(["a"])
    assert caught.value.hint == "`ollama pull missing`"


def test_a_service_that_is_down_is_left_alone_for_a_while(
    tmp_path: Path, openai: ModelService
) -> None:
    embedder = openai_at(tmp_path, openai)
    openai.is_down = True
    with pytest.raises(ProviderError, match="broke off the connection"):
        embedder.embed(["a"], "query")
    count = len(openai.requests)
    with pytest.raises(ProviderError, match="is asked again in"):
        embedder.embed(["a"], "query")
    assert len(openai.requests) == count


def test_a_circuit_breaker_lets_one_caller_try_again() -> None:
    clock = [0.0]
    breaker = CircuitBreaker(failures=2, seconds=30, now=lambda: clock[0])
    breaker.record_failure()
    assert breaker.seconds_until_retry() == 0
    breaker.record_failure()
    assert breaker.seconds_until_retry() == 30
    clock[0] = 31
    assert breaker.seconds_until_retry() == 0
    assert breaker.seconds_until_retry() == 30
    breaker.record_success()
    assert breaker.seconds_until_retry() == 0


def test_usage_and_cost_are_counted(tmp_path: Path, openai: ModelService) -> None:
    embedder = openai_at(tmp_path, openai, price="2.0")
    embedder.embed(["one two three", "four five"])
    usage = embedder.usage
    assert (usage.requests, usage.texts, usage.tokens) == (1, 2, 5)
    assert usage.cost == pytest.approx(5 * 2.0 / 1_000_000)
