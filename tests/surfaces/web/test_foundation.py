"""Every page: its headers, its files, keys on the keyboard, themes, and what a screen reader finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ragstone.surfaces.web.headers import CONTENT_POLICY
from ragstone.surfaces.web.site import PAGES
from ragstone.surfaces.web.static_files import static_files, static_url
from tests.support.browser import (
    PageRecord,
    ServedFolder,
    find_barriers,
    open_page,
    take_screenshots,
)
from tests.support.running_server import RunningServer, running_server

ADDRESSES = [page.NAV.path for page in PAGES if page.NAV is not None]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server for the user of this machine, with an empty folder."""
    folder: Path = tmp_path_factory.mktemp("local")
    with running_server(folder) as server:
        yield server


# ── headers and files ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("address", [*ADDRESSES, "/nowhere"])
def test_a_page_has_the_strict_policy(local: RunningServer, address: str) -> None:
    answer = local.get(address, headers={"accept": "text/html"})
    assert answer.headers["content-security-policy"] == CONTENT_POLICY
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert "<script>" not in answer.text and " style=" not in answer.text
    assert not re.search(r"\son[a-z]+=", answer.text)
    assert not re.search(r"(?:src|href)=\"(?!/|#)", answer.text)


def test_no_file_loads_from_another_place() -> None:
    for name, data in static_files().items():
        if not name.startswith("vendor/"):
            text = data.decode().replace("http://www.w3.org/2000/svg", "")
            assert "://" not in text and "@import" not in text, name


def test_our_scripts_are_short() -> None:
    for name, data in static_files().items():
        if name.startswith("js/"):
            assert len(data.decode().splitlines()) < 200, name


def test_vendored_files_have_their_licences() -> None:
    vendor = Path(__file__).parents[3] / "src/ragstone/surfaces/web/static/vendor"
    folders = [path for path in vendor.iterdir() if path.is_dir()]
    assert len(folders) == 2
    assert all((folder / "LICENSE").is_file() for folder in folders)


def test_files_may_be_kept_because_their_address_has_a_hash(local: RunningServer) -> None:
    kept = local.get(static_url("js/main.js"))
    assert kept.headers["content-type"].startswith("text/javascript")
    assert "immutable" in kept.headers["cache-control"]
    old = local.get("/static/000000000000/js/main.js")
    assert old.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "name", ["..%2fpage.py", "vendor/htmx/LICENSE", "js/", "%2e%2e/page.py"]
)
def test_other_files_are_not_served(local: RunningServer, name: str) -> None:
    assert local.get(f"/static/x/{name}").status_code == 404


# ── failures ──────────────────────────────────────────────────────────────────────────────────────


def test_a_wrong_address_is_a_page_for_people_and_json_for_programs(
    local: RunningServer,
) -> None:
    page = local.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such address." in page.text
    assert local.get("/nowhere").json()["error"]["code"] == "not_found"
    rest = local.get("/api/rag/nowhere", headers={"accept": "text/html"})
    assert rest.json()["success"] is False


def test_a_stranger_sees_no_navigation_on_a_wrong_address(folder: Path) -> None:
    with running_server(folder, project="workshop") as server:
        server.state.engines.own.admin.keys.create(scopes=("admin",))
        page = server.get("/nowhere", headers={"accept": "text/html"})
        assert page.status_code == 404 and "There is no such address." in page.text
        assert "workshop" not in page.text and "nav-link" not in page.text


def test_the_address_of_older_dashboards_leads_to_the_first_page(local: RunningServer) -> None:
    answer = local.get("/dashboard/default?module=rag")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert local.get("/dashboard/other").status_code == 404


# ── in the browser ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_has_no_barriers(page: Page, address: str) -> None:
    page.goto(address)
    assert find_barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_barriers(page) == []


def test_the_keyboard_reaches_every_page(page: Page) -> None:
    page.goto("/")
    links = page.locator("[data-go]").evaluate_all(
        "links => links.map((link) => [link.dataset.go, link.getAttribute('href')])"
    )
    assert len({key for key, _ in links}) == len(ADDRESSES)
    for key, address in links:
        page.keyboard.press("Escape")  # leaves an input that has the focus
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**{address}")
        expect(page.locator(".nav-link[aria-current=page]")).to_have_attribute("href", address)


def test_a_question_mark_lists_the_keys(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#key-list")).to_contain_text("Go to Home")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_the_first_tab_leads_to_the_content(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()


def test_the_theme_stays_after_a_reload(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 16, 19)"


def test_a_page_does_not_move_after_it_is_shown(page: Page) -> None:
    page.goto("/")
    page.wait_for_timeout(300)
    shift = page.evaluate(
        """() => new Promise((done) => {
          let total = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) total += entry.value;
          }).observe({type: 'layout-shift', buffered: true});
          setTimeout(() => done(total), 200);
        })"""
    )
    assert shift < 0.01


def test_a_failed_page_is_readable(page: Page, record: PageRecord) -> None:
    page.goto("/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such address.")
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert find_barriers(page) == []
    page.goto("/documents/default/nothing.md")
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    page.goto("/nowhere")
    take_screenshots(page, "not-found")
    record.console_errors.clear()


def test_a_message_covers_no_control(page: Page) -> None:
    page.goto("/collections/default?q=docs")
    page.get_by_role("checkbox", name="Choose all documents of this page").check()
    page.evaluate(
        """() => document.dispatchEvent(new CustomEvent('toast', {detail: {
          message: 'Deleted a document with quite a long name.', hint: 'It has a hint.', kind: 'error'}}))"""
    )
    expect(page.locator(".toast")).to_be_in_viewport(ratio=1)
    covered = page.evaluate(
        """() => {
          const box = document.querySelector(".toast").getBoundingClientRect();
          return [...document.querySelectorAll("a, button, input, summary")]
            .filter((control) => !control.closest(".toast") && control.checkVisibility())
            .filter((control) => {
              const {top, bottom, left, right} = control.getBoundingClientRect();
              return top < box.bottom && bottom > box.top && left < box.right && right > box.left;
            })
            .map((control) => control.outerHTML);
        }"""
    )
    assert covered == []


def test_the_navigation_is_at_the_bottom_of_a_phone(
    browser: Browser, served: ServedFolder
) -> None:
    with open_page(browser, served.url) as (page, _):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto("/")
        box = page.get_by_role("navigation", name="Pages").bounding_box()
        assert box is not None and box["y"] + box["height"] == 844
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
