"""A document opened from a hit: its passage marked, the pictures of its pages, and files that have none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ragstone import Document
from ragstone.surfaces.web.document_view import Passage, view_document
from ragstone.surfaces.web.highlight import LinePart
from tests.read.pdf_files import lines, pdf
from tests.support.browser import SAMPLE, find_barriers, open_page, take_screenshots
from tests.support.running_server import running_server

MANUAL = "saw-manual.pdf"
PICTURE = "/pictures/page?collection=default&uri={uri}&page={page}"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Return a folder with a PDF, a PDF with a password in its text, and a text."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    shutil.copy(SAMPLE / "docs" / MANUAL, folder / MANUAL)
    secret = lines('password = "Tr0ub4dor-3xyz-Kq9"')
    (folder / "secret.pdf").write_bytes(pdf([secret]))
    (folder / "notes.md").write_text("# Notes\n\nThe saw is blue.\n")
    return folder


# ── the passage of a hit ──────────────────────────────────────────────────────────────────────────


def test_a_hit_in_a_pdf_opens_at_its_passage_beside_the_picture_of_the_page(page: Page) -> None:
    page.goto("/search?q=how+much+water+cools+the+blade")
    first = page.locator("[data-hit]").first
    first.locator("summary").click()
    expect(first.get_by_role("img", name="Picture of docs/saw-manual.pdf p.2")).to_be_visible()
    first.get_by_role("link", name="Open document").click()
    page.wait_for_url("**/documents/default/docs/saw-manual.pdf?start=*")
    expect(page.locator("#passage")).to_be_in_viewport()
    expect(page.locator("mark.in-passage", has_text="Water").first).to_be_visible()
    expect(page.get_by_text("Found for “how much water cools the blade”.")).to_be_visible()
    picture = page.get_by_role("img", name="Picture of page 2")
    expect(picture).to_be_in_viewport()
    page.wait_for_function("() => document.querySelector('#page-2 img').naturalWidth === 1000")
    assert find_barriers(page) == []
    take_screenshots(page, "passage")
    page.get_by_role("link", name="Back to the search").click()
    expect(page.locator("[data-hit]").first).to_be_visible()


# ── the chunk in view ─────────────────────────────────────────────────────────────────────────────


def test_the_list_of_chunks_marks_the_one_of_the_address_and_the_one_in_view(
    page: Page,
) -> None:
    page.goto("/search?q=how+much+water+cools+the+blade")
    page.locator(".hit-place").first.click()
    marked = page.locator(".outline [aria-current=location]")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("Cooling")
    page.evaluate("scrollTo(0, 0)")
    expect(marked).to_contain_text("Before you start")
    page.locator(".outline a").last.click()
    expect(marked).to_contain_text("Loosen the flange")
    page.goto("/documents/default/docs/saw-manual.pdf#chunk-4")
    expect(marked).to_contain_text("Changing the blade")
    page.goto("/documents/default/docs/saw-manual.pdf?page=2#page-2")
    expect(marked).to_contain_text("p. 2")
    expect(marked).to_have_count(1)
    assert find_barriers(page) == []


def test_the_marked_chunk_of_a_long_list_is_scrolled_into_view(
    browser: Browser, tmp_path: Path
) -> None:
    sections = [f"## Part {number}\n\n{'Some words. ' * 60}\n" for number in range(60)]
    with running_server(tmp_path) as server, open_page(browser, server.url) as (page, _):
        document = Document("long.md", "\n".join(sections), "doc", language="markdown")
        server.state.engines.own.add(document, embed=False)
        page.goto("/documents/default/long.md")
        marked = page.locator(".outline [aria-current=location]")
        expect(marked).to_contain_text("Part 0")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(marked).to_contain_text("Part 59")
        expect(marked).to_be_in_viewport()
        page.goto("/documents/default/long.md#chunk-30")
        expect(marked).to_have_attribute("href", "#chunk-30")
        expect(marked).to_be_in_viewport()


def test_exactly_the_characters_of_a_passage_are_marked() -> None:
    text = "One two three.\nFour five six.\nSeven.\n"
    passage = Passage(4, 19, frozenset({"four"}))
    view = view_document(text, [], [], passage=passage)
    (block,) = view.parts[0].blocks
    assert [passage.segments(line) for line in block.lines] == [
        [LinePart("One "), LinePart("two three.", is_passage=True)],
        [LinePart("Four", is_marked=True, is_passage=True), LinePart(" five six.")],
        (LinePart("Seven."),),
    ]
    assert view.passage_line == 1


def test_a_passage_far_below_is_in_the_shown_part() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 4001))
    start = text.index("line 3500")
    view = view_document(text, [], [], passage=Passage(start, start + 9))
    assert view.passage_line == 3500 and view.first <= 3500 <= view.last


def test_a_passage_behind_the_end_of_the_text_is_not_there() -> None:
    view = view_document("Short.\n", [], [], passage=Passage(100, 120))
    assert view.passage_line == 0 and view.first == 1


# ── pictures of pages ─────────────────────────────────────────────────────────────────────────────


def test_only_pages_of_indexed_pdf_files_have_pictures(shelf: Path, old_files: None) -> None:
    (shelf.parent / "outside.pdf").write_bytes(pdf([lines("Outside.")]))
    with running_server(shelf) as server:
        engine = server.state.engines.own
        engine.sync()
        (shelf / "later.pdf").write_bytes(pdf([lines("Not indexed.")]))
        engine.add("Added.", uri="added.pdf", collection="other", embed=False)
        shown = server.get(PICTURE.format(uri=MANUAL, page=2))
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
        assert server.get(PICTURE.format(uri=MANUAL, page=99)).status_code == 404
        for uri in ("later.pdf", "notes.md", "../outside.pdf", ".ragstone/ragstone.db"):
            assert server.get(PICTURE.format(uri=uri, page=1)).status_code == 404, uri
        refused = server.get(PICTURE.format(uri="secret.pdf", page=1))
        assert (refused.status_code, "secrets" in refused.text) == (422, True)
        text = server.get("/documents/default/secret.pdf").text
        assert "Secrets were taken out" in text and "/pictures/" not in text


def test_a_file_that_changed_is_not_drawn(shelf: Path, old_files: None) -> None:
    with running_server(shelf) as server:
        server.state.engines.own.sync()
        (shelf / MANUAL).write_bytes(pdf([lines("Another file.")]))
        answer = server.get(PICTURE.format(uri=MANUAL, page=1))
        page = server.get(f"/documents/default/{MANUAL}").text
    assert (answer.status_code, "changed" in answer.text) == (422, True)
    assert "The file changed since it was indexed" in page and "/pictures/" not in page


def test_pictures_need_a_key_that_may_read(shelf: Path) -> None:
    with running_server(shelf) as server:
        engine = server.state.engines.own
        engine.sync()
        writer = engine.admin.keys.create(scopes=("write",)).token
        address = PICTURE.format(uri=MANUAL, page=1)
        assert server.get(address).status_code == 401
        assert server.get(address, key=writer).status_code == 403


def test_a_picture_that_fails_leaves_the_text(page: Page) -> None:
    page.route("**/pictures/page**", lambda route: route.fulfill(status=204))
    page.goto("/documents/default/docs/saw-manual.pdf?page=2#page-2")
    expect(page.locator("#page-2 .page-picture")).to_have_count(0)
    expect(page.locator("#page-2")).to_contain_text("Cooling")
