"""The cache that several threads share."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragstone.types.bounded_cache import BoundedCache


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let threads take turns as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_value_that_was_not_used_for_the_longest_time_goes() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache.get("a") == 1
    cache["c"] = 3
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    cache.pop("a")
    cache.pop("never there")
    assert cache.get("a") is None


def test_threads_never_see_an_error_or_a_wrong_value(quick_switches: None) -> None:
    cache: BoundedCache[int, int] = BoundedCache(8)

    def use(seed: int) -> int:
        choose = random.Random(seed)
        wrong = 0
        for _ in range(15_000):
            key = choose.randrange(14)
            value = cache.get(key)
            wrong += value not in (None, -key)
            cache[key] = -key
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(use, range(8))) == 0
