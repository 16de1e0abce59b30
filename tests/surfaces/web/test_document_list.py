"""The list of a collection: pages, filter, sorted columns, and the deletion of several documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ragstone import Document
from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server

COUNT = 120
SHORT, LONG = "odd\udcff name.md", "long.md"
"""A name that is no valid text, and the document with the most chunks."""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[RunningServer]:
    """Serve a collection with 120 notes of two kinds, the shortest and the longest document last by name."""
    kinds = ("doc", "adr")
    documents = [
        Document(f"notes/{number:03d}.md", f"# Note {number:03d}\n", kind=kinds[number % 2])
        for number in range(COUNT - 2)
    ]
    documents.append(Document(SHORT, "x", kind="doc"))
    documents.append(Document(LONG, "A sentence of some length. " * 400, kind="doc"))
    with running_server(tmp_path) as server:
        server.state.engines.own.add(documents, collection="notes", embed=False)
        yield server


@pytest.fixture
def page(browser: Browser, shelf: RunningServer) -> Iterator[Page]:
    """Open the list of documents."""
    with open_page(browser, shelf.url) as (opened, record):
        opened.goto("/collections/notes")
        yield opened
        assert record.problems() == []


def names(page: Page) -> Locator:
    """Return the links of the listed documents."""
    return page.locator("#documents tbody th a")


def heading(page: Page, name: str) -> Locator:
    """Return the heading of a column."""
    return page.get_by_role("columnheader", name=name, exact=True)


# ── pages and filter ──────────────────────────────────────────────────────────────────────────────


def test_the_list_has_pages_in_both_directions(page: Page) -> None:
    expect(names(page)).to_have_count(50)
    pager = page.get_by_role("navigation", name="Pages of documents")
    expect(pager).to_contain_text("1–50 of 120")
    page.keyboard.press("j")
    page.wait_for_url("**page=2")
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**page=3")
    expect(pager).to_contain_text("101–120 of 120")
    expect(names(page)).to_have_count(20)
    page.keyboard.press("k")
    page.wait_for_url("**page=2")


def test_the_list_is_filtered_while_a_person_types(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("07")
    expect(names(page)).to_have_count(12)
    page.locator("#q").fill("nothing like this")
    expect(page.locator("#documents")).to_contain_text("No document matches")


def test_a_page_behind_the_last_one_shows_the_first(page: Page) -> None:
    page.goto("/collections/notes?page=9")
    expect(names(page)).to_have_count(50)
    expect(page.get_by_role("navigation", name="Pages of documents")).to_contain_text("1–50")


# ── sorting ───────────────────────────────────────────────────────────────────────────────────────


def test_a_heading_sorts_by_its_column_and_then_the_other_way(page: Page) -> None:
    for column, direction, first, second in (
        ("Chunks", "descending", LONG, "notes/000.md"),
        ("Characters", "descending", LONG, "odd"),
        ("Kind", "ascending", "notes/001.md", "odd"),
        ("Document", "ascending", LONG, "odd"),
    ):
        heading(page, column).get_by_role("link").click()
        expect(heading(page, column)).to_have_attribute("aria-sort", direction)
        expect(names(page).first).to_contain_text(first)
        heading(page, column).get_by_role("link").click()
        expect(heading(page, column)).not_to_have_attribute("aria-sort", direction)
        expect(names(page).first).to_contain_text(second)
        expect(page.locator("[aria-sort]")).to_have_count(1)
    assert find_barriers(page) == []


def test_a_heading_is_used_by_keyboard_and_keeps_the_focus(page: Page) -> None:
    link = heading(page, "Chunks").get_by_role("link")
    link.focus()
    page.keyboard.press("Enter")
    expect(heading(page, "Chunks")).to_have_attribute("aria-sort", "descending")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading(page, "Chunks")).to_have_attribute("aria-sort", "ascending")


def test_sorting_keeps_filter_and_page_and_both_keep_the_order(page: Page) -> None:
    page.goto("/collections/notes?q=notes&kind=adr&page=2")
    expect(names(page)).to_have_count(9)
    heading(page, "Document").get_by_role("link").click()
    expect(names(page).first).to_have_text("notes/017.md")
    for parameter in ("q=notes", "kind=adr", "page=2", "sort=-name"):
        assert parameter in page.url
    page.get_by_role("link", name="Previous page").click()
    expect(names(page).first).to_have_text("notes/117.md")
    page.get_by_label("Filter the documents").fill("notes/00")
    expect(names(page)).to_have_text([f"notes/00{number}.md" for number in (9, 7, 5, 3, 1)])
    assert "sort=-name" in page.url


def test_an_unknown_column_is_refused(shelf: RunningServer) -> None:
    assert shelf.get("/collections/notes?sort=hash").status_code == 400


# ── deleting several ──────────────────────────────────────────────────────────────────────────────


def test_chosen_documents_are_deleted_after_one_question(
    page: Page, shelf: RunningServer
) -> None:
    page.goto("/collections/notes?q=notes&page=2")
    bar = page.locator("#chosen")
    expect(bar).to_be_hidden()
    chosen = [names(page).nth(row).inner_text() for row in range(3)]
    for name in chosen:
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    expect(bar).to_contain_text("3 chosen")
    expect(bar).to_be_in_viewport()
    assert find_barriers(page) == []
    take_screenshots(page, "chosen")
    bar.get_by_role("button", name="Delete the chosen").click()
    expect(page.locator("#confirm-question")).to_have_text("Delete 3 documents from the index?")
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    expect(page.locator("#toasts")).to_contain_text("Deleted 3 documents.")
    expect(page.locator(".page-header-words")).to_contain_text("117 documents")
    expect(names(page).first).not_to_have_text(chosen[0])
    expect(page.locator("#chosen")).to_be_hidden()
    assert "page=2" in page.url and "q=notes" in page.url
    admin = shelf.state.engines.own.admin
    assert [admin.document(name, collection="notes") for name in chosen] == [None] * 3


def test_all_documents_of_a_page_are_chosen_and_left_by_keyboard(page: Page) -> None:
    head = page.get_by_role("checkbox", name="Choose all documents of this page")
    head.focus()
    page.keyboard.press("Space")
    expect(page.locator("#chosen-count")).to_have_text("50 chosen")
    page.get_by_role("checkbox", name="Choose notes/000.md").uncheck()
    expect(page.locator("#chosen-count")).to_have_text("49 chosen")
    assert head.evaluate("(box) => box.indeterminate")
    page.get_by_role("button", name="Choose none").press("Enter")
    expect(page.locator("#chosen")).to_be_hidden()
    expect(page.locator("[data-choose]:checked")).to_have_count(0)
    expect(head).to_be_focused()


def test_a_name_that_is_no_valid_text_is_deleted(page: Page, shelf: RunningServer) -> None:
    page.goto("/collections/notes?q=odd*")
    page.locator("[data-choose]").check()
    page.get_by_role("button", name="Delete the chosen").click()
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    expect(page.locator("#documents")).to_contain_text("No document matches")
    assert shelf.state.engines.own.admin.document(SHORT, collection="notes") is None


def test_the_question_counts_the_files_that_stay_on_disk(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("files")
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"# {name}\n")
    with running_server(folder) as server, open_page(browser, server.url) as (page, _):
        server.state.engines.own.sync()
        server.state.engines.own.add("By hand.", uri="hand.md", embed=False)
        page.goto("/collections/default")
        dialog = page.locator("#confirm")
        for name, sentence in (
            ("a.md", "The file on"),
            ("b.md", "The files on"),
            ("hand.md", ": 2 of the 3."),
        ):
            page.get_by_role("checkbox", name=f"Choose {name}").check()
            page.get_by_role("button", name="Delete the chosen").click()
            expect(dialog).to_contain_text(sentence)
            expect(dialog).to_contain_text("on disk stay")
            dialog.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Delete the chosen").click()
        dialog.get_by_role("button", name="Delete").click()
        expect(page.locator("#documents")).to_contain_text("No documents yet")
    assert (folder / "a.md").exists() and (folder / "b.md").exists()


def test_a_reader_has_no_check_boxes(shelf: RunningServer) -> None:
    token = shelf.state.engines.own.admin.keys.create(scopes=("read",)).token
    shown = shelf.get("/collections/notes", key=token).text
    assert "notes/000.md" in shown and "checkbox" not in shown
    headers = {"hx-request": "true"}
    refused = shelf.request(
        "POST",
        "/documents/delete",
        key=token,
        headers=headers,
        data={"collection": "notes", "uris": "notes/000.md"},
    )
    assert refused.status_code == 403
