"""Conversations in a browser: turns, replaced facts, recall, forgetting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Serve a project with two conversations; in one a later turn replaces an earlier one."""
    with running_server(tmp_path) as running:
        engine = running.state.engines.own
        engine.remember("planning", "user", "Our database is MySQL.")
        engine.remember("planning", "assistant", "Noted. The cutting plan is in docs/plan.md.")
        engine.remember("planning", "user", "Our database is Postgres now.")
        engine.remember("shop floor", "user", "The saw blade lasts for 400 square metres.")
        yield running


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    """Open a page on the server of this test."""
    with open_page(browser, server.url) as (opened, record):
        yield opened
        assert record.problems() == []


def test_sessions_are_listed_and_opened(page: Page) -> None:
    page.goto("/memory")
    expect(page.get_by_role("row", name="planning 3")).to_be_visible()
    take_screenshots(page, "memory")
    assert find_barriers(page) == []
    page.get_by_role("link", name="shop floor").click()
    expect(page.get_by_text("400 square metres")).to_be_visible()
    page.goto("/memory/planning?limit=2")
    expect(page.locator(".page-header-words")).to_contain_text("2 of 3 turns")


def test_a_replaced_fact_is_shown_with_the_turn_that_replaces_it(page: Page) -> None:
    page.goto("/memory/planning")
    replaced = page.locator("#turn-0")
    expect(replaced).to_contain_text("replaced by turn 2")
    expect(page.locator("#turn-2")).to_contain_text("replaces turn 0")
    expect(page.get_by_role("region", name="Turns")).to_contain_text("counted from 0")
    take_screenshots(page, "memory-session")
    assert find_barriers(page) == []
    page.get_by_role("button", name="Keep both").click()
    expect(replaced).not_to_contain_text("replaced by")


def test_a_question_recalls_a_turn_of_any_session(page: Page) -> None:
    page.goto("/memory")
    box = page.get_by_label("Ask all conversations")
    box.fill("how long does a blade last")
    box.press("Enter")
    recalled = page.get_by_role("region", name="Recalled")
    expect(recalled).to_contain_text("shop floor, turn 0")
    page.goto("/memory/planning?q=which+database")
    expect(page.get_by_role("region", name="Recalled")).to_contain_text("Postgres")


def test_a_turn_and_a_session_are_forgotten(page: Page, server: RunningServer) -> None:
    page.goto("/memory/planning")
    page.get_by_role("button", name="Forget turn 1").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_text("docs/plan.md")).to_have_count(0)
    page.get_by_role("button", name="Forget conversation").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    page.wait_for_url("**/memory")
    expect(page.get_by_role("link", name="planning")).to_have_count(0)
    engine = server.state.engines.own
    assert [session.name for session in engine.memory.sessions()] == ["shop floor"]


def test_a_session_whose_name_is_no_path_is_shown_and_forgotten(
    page: Page, server: RunningServer
) -> None:
    server.state.engines.own.remember("a/b/../c", "user", "The gate opens at six.")
    page.goto("/memory")
    page.get_by_role("link", name="a/b/../c").click()
    expect(page.locator("#turn-0")).to_contain_text("The gate opens at six.")
    page.get_by_label("Ask this conversation").fill("gate")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Recalled")).to_contain_text("six")
    page.get_by_role("button", name="Forget conversation").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    page.wait_for_url("**/memory")
    expect(page.get_by_role("link", name="a/b/../c")).to_have_count(0)


def test_without_conversations_the_page_says_how_to_start(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        running_server(tmp_path_factory.mktemp("young")) as server,
        open_page(browser, server.url) as (page, _),
    ):
        page.goto("/memory")
        expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
        assert find_barriers(page) == []
