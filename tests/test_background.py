"""Work beside the caller's is done once, by whoever comes first."""

from __future__ import annotations

import threading

import pytest

from ragstone.background import Aside, Once
from ragstone.errors import StoreError


def test_work_that_was_done_is_not_done_again_by_a_pool_that_gets_its_thread_late() -> None:
    done: list[int] = []

    def work() -> list[int]:
        done.append(1)
        return []

    def fails() -> list[int]:
        done.append(2)
        raise StoreError("the disk is gone")

    once, broken = Once(work), Once(fails)
    assert (once(), once(), done) == ([], [], [1])
    for _ in range(2):
        with pytest.raises(StoreError, match="gone"):
            broken()
    assert done == [1, 2]


@pytest.mark.parametrize(("count", "elsewhere"), [(1, False), (2, True)])
def test_another_thread_works_where_there_is_a_core_for_it(
    monkeypatch: pytest.MonkeyPatch, count: int, elsewhere: bool
) -> None:
    monkeypatch.setattr("ragstone.background.cores", lambda: count)
    begun = threading.Event()

    def work() -> str:
        begun.set()
        return threading.current_thread().name

    given = Aside()(work)
    assert begun.wait(5) is True if elsewhere else not begun.is_set()
    assert given().startswith("ragstone-aside") is elsewhere


def test_what_is_not_wanted_any_more_is_not_begun() -> None:
    done: list[int] = []
    once = Once(lambda: done.append(1))
    once.forget()
    assert done == []


def test_work_that_somebody_is_at_is_waited_for() -> None:
    begun, may_end = threading.Event(), threading.Event()
    done: list[bool] = []

    def work() -> None:
        begun.set()
        may_end.wait(5)
        done.append(True)

    once = Once(work)
    at_it = threading.Thread(target=once)
    at_it.start()
    assert begun.wait(5)
    threading.Timer(0.05, may_end.set).start()
    once.forget()
    assert done == [True]
    at_it.join()
