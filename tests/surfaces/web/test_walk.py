"""The walk of docs/guides/dashboard-walk.md: index a folder, find a passage in a PDF, see its reason, copy it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.support.browser import open_page, serve_folder, take_screenshots, write_sample

QUESTION = "what does the saw do when too little water flows"


def test_a_person_finds_a_passage_in_a_pdf_and_copies_it(
    browser: Browser, tmp_path: Path
) -> None:
    folder = write_sample(tmp_path / "quarry")
    with (
        serve_folder(folder, "--no-sync") as served,
        open_page(browser, served.url) as (page, record),
    ):
        index_the_folder(page)
        ask(page)
        see_why_it_is_first(page)
        open_its_page(page)
        copy_it(page)
        assert not record.problems()


def index_the_folder(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_text("Nothing is indexed yet").first).to_be_visible()
    clean_the_picture(page)
    take_screenshots(page, "walk-1-empty")
    page.get_by_role("button", name="Sync the folder").click()
    expect(page.locator(".folder-counts")).to_contain_text("up to date", timeout=90_000)
    page.wait_for_selector("#job:empty", state="attached")
    clean_the_picture(page)
    take_screenshots(page, "walk-2-indexed")


def ask(page: Page) -> None:
    page.get_by_label("Search", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=*")
    first = page.locator("[data-hit]").first
    expect(first.locator(".hit-place")).to_have_text("docs/saw-manual.pdf p.2")
    take_screenshots(page, "walk-3-hits")


def see_why_it_is_first(page: Page) -> None:
    first = page.locator("[data-hit]").first
    first.locator("summary").click()
    reason = first.locator(".why")
    expect(reason).to_contain_text("1st by")
    expect(reason.get_by_role("rowheader", name="words")).to_be_visible()
    page.wait_for_function("() => document.querySelector('[data-hit] img').naturalWidth > 0")
    first.locator(".hit-actions").scroll_into_view_if_needed()
    reason.locator("p").last.scroll_into_view_if_needed()
    take_screenshots(page, "walk-4-why")


def open_its_page(page: Page) -> None:
    page.locator("[data-hit]").first.get_by_role("link", name="Open document").click()
    expect(page.locator("#passage")).to_be_in_viewport()
    page.wait_for_function("() => document.querySelector('#page-2 img').naturalWidth > 0")
    expect(page.locator("mark.in-passage", has_text="saw").first).to_be_visible()
    take_screenshots(page, "walk-5-page")


def copy_it(page: Page) -> None:
    page.get_by_role("link", name="Back to the search").click()
    page.get_by_role("button", name="Build").click()
    page.get_by_role("button", name="Copy context").click()
    page.wait_for_function("() => navigator.clipboard.readText().then((text) => text !== '')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "docs/saw-manual.pdf p.2" in copied
    assert "20 litres a minute" in copied
    page.locator("#make-context").scroll_into_view_if_needed()
    take_screenshots(page, "walk-6-context")


def clean_the_picture(page: Page) -> None:
    """Remove messages and the path of the temporary folder, which the pictures of the guide must not show."""
    page.evaluate(
        """() => {
          document.getElementById('toasts').replaceChildren();
          for (const path of document.querySelectorAll('[aria-label=Folder] .path')) path.textContent = '~/quarry';
        }"""
    )
