"""The login form with keys, and tokens against requests of other sites."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from ragstone.surfaces.web.page import PageRoute
from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server with a key."""
    with running_server(tmp_path_factory.mktemp("keyed")) as server:
        keys = server.state.engines.own.admin.keys
        server.key = keys.create(scopes=("admin",)).token
        yield server


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server for the user of this machine."""
    with running_server(tmp_path_factory.mktemp("local")) as server:
        yield server


def test_a_key_signs_in_and_the_button_signs_out(
    browser: Browser, keyed: RunningServer
) -> None:
    with open_page(browser, keyed.url) as (page, record):
        answer = page.goto("/")
        assert answer is not None and answer.status == 401
        assert find_barriers(page) == []
        take_screenshots(page, "login")
        page.get_by_label("Key").fill("wrong \u2713 key")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("This key is not valid here.")
        page.get_by_label("Key").fill(keyed.key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        cookie = next(c for c in page.context.cookies() if c["name"] == "ragstone_session")
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
        assert keyed.key not in page.content()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert all("status of 401" in error for error in record.console_errors)


def test_a_page_for_programs_takes_the_key_in_a_header(keyed: RunningServer) -> None:
    assert keyed.get("/").status_code == 200
    refused = keyed.get("/", key="")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


def test_htmx_reloads_the_page_when_the_session_is_over(keyed: RunningServer) -> None:
    answer = keyed.get("/", key="", headers={"hx-request": "true"})
    assert (answer.status_code, answer.headers["hx-refresh"]) == (401, "true")
    assert answer.text == ""


def test_every_change_needs_the_token_of_a_page(local: RunningServer) -> None:
    changes = [
        (method, route.path)
        for route in local.rest_app.routes
        if isinstance(route, PageRoute)
        for method in (route.methods or ())
        if method not in ("GET", "HEAD")
    ]
    for method, path in changes:
        for headers in ({}, {"x-csrf-token": ""}, {"x-csrf-token": "0" * 64}):
            answer = local.request(method, path, headers={"hx-request": "true", **headers})
            assert answer.status_code == 403, (method, path)


def test_a_cookie_of_another_server_does_not_lock_the_user_out(local: RunningServer) -> None:
    headers = {"cookie": "ragstone_session=0123456789abcdef"}
    assert local.get("/", headers=headers).status_code == 200
    assert local.get("/api/rag/status", headers=headers).status_code == 200


def test_a_message_for_htmx_says_why_a_request_failed(local: RunningServer) -> None:
    answer = local.get("/dashboard/other", headers={"hx-request": "true"})
    assert answer.status_code == 404
    assert "There is no project 'other'." in answer.headers["hx-trigger"]
