"""Events in a browser: the log, filters, new events as they happen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Serve a project that indexed a document and answered a question."""
    with running_server(tmp_path) as running:
        engine = running.state.engines.own
        engine.add("The crane lifts twelve tonnes.", uri="crane.md", embed=False)
        engine.search("what does the crane lift")
        yield running


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    """Open a page on the server of this test."""
    with open_page(browser, server.url) as (opened, record):
        yield opened
        assert record.problems() == []


def test_a_search_event_opens_in_the_lab(page: Page) -> None:
    page.goto("/events")
    expect(page.get_by_role("row", name="crane.md")).to_be_visible()
    take_screenshots(page, "events")
    assert find_barriers(page) == []
    page.get_by_role("link", name="what does the crane lift").first.click()
    expect(page.get_by_label("Query", exact=True)).to_have_value("what does the crane lift")


def test_an_event_opens_the_lab_with_the_settings_it_had(
    page: Page, server: RunningServer
) -> None:
    server.state.engines.own.search("heavy crane", 3, mode="words")
    page.goto("/events?names=rag_search_completed")
    page.get_by_role("link", name="heavy crane").click()
    assert page.url.endswith("/search?q=heavy%20crane&mode=words&top_k=3")


def test_a_query_without_visible_characters_has_a_name(
    page: Page, server: RunningServer
) -> None:
    server.state.engines.own.search(" \u200b")
    page.goto("/events")
    expect(page.get_by_role("link", name="(empty)").first).to_be_visible()
    assert find_barriers(page) == []


def test_a_new_event_appears_without_reloading(page: Page, server: RunningServer) -> None:
    page.goto("/events")
    server.state.engines.own.search("how heavy is a slab")
    expect(page.get_by_role("link", name="how heavy is a slab").first).to_be_visible()


def test_the_usual_events_are_complete_and_name_each_search_once(
    page: Page, server: RunningServer
) -> None:
    server.state.engines.own.add("The winch pulls.", uri="winch.md", embed=False)
    page.goto("/events")
    expect(page.get_by_role("row", name="winch.md")).to_contain_text(
        "1 chunk added, in default"
    )
    expect(page.get_by_role("link", name="what does the crane lift")).to_have_count(1)
    page.get_by_label("search started").check()
    expect(page.get_by_role("link", name="what does the crane lift")).to_have_count(1)
    assert "names=rag_search_started" in page.url


def test_events_are_filtered_by_their_kind(page: Page) -> None:
    page.goto("/events")
    page.get_by_label("indexed").check()
    expect(page.get_by_role("link", name="what does the crane lift")).to_have_count(0)
    expect(page.get_by_role("row", name="crane.md")).to_be_visible()
    assert "names=rag_chunk_indexed" in page.url


def test_events_are_words_and_not_raw_data(server: RunningServer) -> None:
    engine = server.state.engines.own
    for number in range(5):
        engine.add(f"Stone {number}.", uri=f"stones/{number}.md", embed=False)
    engine.remove(ids=[f"stones/{number}.md" for number in range(5)])
    engine.admin.keys.create("laptop", scopes=("read",))
    (key,) = engine.admin.keys.list()
    engine.admin.keys.revoke(key.id)
    text = server.get("/events", key=engine.admin.keys.create(scopes=("read",)).token).text
    assert "stones/0.md, stones/1.md, stones/2.md and 2 more" in text
    for words in ("Key revoked", "Key created", "scopes: read", "5 documents"):
        assert words in text
    for raw in ("[&#39;", "key.revoke", "top_k 5", "actor "):
        assert raw not in text


def test_a_wrong_position_is_refused(server: RunningServer) -> None:
    assert server.get("/events/rows?position=abc").status_code == 400
