"""Collections and documents: lists, uploads, pasted texts, deletion, the ledger, and a document with its chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ragstone import Document
from ragstone.surfaces.web.addresses import collection_path, document_path
from ragstone.surfaces.web.document_view import MAX_LINES, view_document
from ragstone.types import Mark
from tests.support.browser import (
    PageRecord,
    find_barriers,
    open_page,
    take_screenshots,
)
from tests.support.running_server import RunningServer, running_server


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Serve a collection with 120 documents, and one with a name that is no path."""
    folder: Path = tmp_path_factory.mktemp("shelf")
    with running_server(folder) as server:
        engine = server.state.engines.own
        documents = [
            Document(f"notes/{n:03d}.md", f"# Note {n}\n\nText {n}.\n", kind="doc")
            for n in range(120)
        ]
        engine.add(documents, collection="notes", embed=False)
        engine.add("# Odd\n\nA text.\n", uri="a//../b?.md", collection="x/..", embed=False)
        yield server


@pytest.fixture
def opened_shelf(browser: Browser, shelf: RunningServer) -> Iterator[tuple[Page, PageRecord]]:
    """Open a page on the server; the test fails if a script fails."""
    with open_page(browser, shelf.url) as (page, record):
        yield page, record
        assert not record.problems()


# ── collections ───────────────────────────────────────────────────────────────────────────────────


def test_a_collection_is_created_filled_and_deleted(
    opened_shelf: tuple[Page, PageRecord], tmp_path: Path
) -> None:
    page, _ = opened_shelf
    page.goto("/collections")
    page.get_by_label("Name").fill("handbook")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/collections/handbook")
    (tmp_path / "office.md").write_text("# Office\n\nIt opens at nine.\n")
    (tmp_path / "picture.bin").write_bytes(b"\0\1\2")
    page.locator("#files").set_input_files([tmp_path / "office.md", tmp_path / "picture.bin"])
    expect(page.locator("#uploads")).to_contain_text("1 chunk")
    expect(page.locator(".upload-failed")).to_contain_text("picture.bin")
    expect(page.locator("#documents")).to_contain_text("office.md")
    expect(page.locator(".page-header-words")).to_contain_text("1 document in 1 chunk")
    page.get_by_label("Name").fill("pasted.md")
    page.get_by_role("textbox", name="Text").fill("A pasted text.")
    page.get_by_role("button", name="Add the text").click()
    expect(page.locator("#documents")).to_contain_text("pasted.md")
    take_screenshots(page, "ingest")
    page.get_by_role("checkbox", name="Choose pasted.md").check()
    page.get_by_role("button", name="Delete the chosen").click()
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    expect(page.locator("#documents")).not_to_contain_text("pasted.md")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#confirm-question")).to_contain_text("handbook")
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    page.wait_for_url("**/collections")
    expect(page.locator("main")).not_to_contain_text("handbook")


def test_the_place_for_files_is_marked_while_files_are_over_the_page(
    opened_shelf: tuple[Page, PageRecord],
) -> None:
    page, _ = opened_shelf
    page.goto("/collections/notes")
    send = "(name) => document.dispatchEvent(new DragEvent(name, {bubbles: true}))"
    page.evaluate(send, "dragover")
    expect(page.locator(".drop-over")).to_have_count(1)
    page.evaluate(send, "dragleave")
    expect(page.locator(".drop-over")).to_have_count(0)


def test_files_are_dropped_and_texts_pasted(opened_shelf: tuple[Page, PageRecord]) -> None:
    page, _ = opened_shelf
    page.goto("/collections/notes")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(['# Dropped\\n'], 'dropped.md'));
          document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
        }"""
    )
    expect(page.locator("#uploads")).to_contain_text("1 chunk")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData('text', 'from the clipboard');
          document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true}));
        }"""
    )
    expect(page.locator("#paste-text")).to_have_value("from the clipboard")
    expect(page.locator("#paste-name")).to_be_focused()


def test_dropped_files_replace_documents_only_after_a_question(
    opened_shelf: tuple[Page, PageRecord], shelf: RunningServer
) -> None:
    page, _ = opened_shelf
    page.goto("/collections/notes")
    admin = shelf.state.engines.own.admin

    def drop(text: str) -> None:
        page.evaluate(
            """(text) => {
              const data = new DataTransfer();
              data.items.add(new File([text], 'office.md'));
              data.items.add(new File([text], `${text.length}.md`));
              document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
            }""",
            text,
        )

    def state_of(name: str) -> Locator:
        row = page.locator("#uploads li", has=page.get_by_text(name, exact=True)).first
        return row.locator(".number")

    drop("It opens at nine.")
    expect(state_of("office.md")).to_have_text("1 chunk")
    drop("It opens at ten.")
    expect(page.locator("#confirm-question")).to_contain_text("office.md")
    assert find_barriers(page) == []
    page.get_by_role("button", name="Cancel").click()
    expect(state_of("office.md")).to_contain_text("Left out")
    expect(state_of("16.md")).to_have_text("1 chunk")
    assert admin.text("office.md", collection="notes") == "It opens at nine."
    drop("It opens at eleven.")
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(state_of("office.md")).to_have_text("Replaced the document of this name · 1 chunk")
    assert admin.text("office.md", collection="notes") == "It opens at eleven."


def test_a_pasted_text_does_not_replace_a_document_without_asking(
    opened_shelf: tuple[Page, PageRecord], shelf: RunningServer
) -> None:
    page, _ = opened_shelf
    page.goto("/collections/notes")
    page.keyboard.press("n")

    def paste(name: str, text: str, kind: str) -> None:
        page.get_by_label("Name").fill(name)
        page.get_by_label("Kind").fill(kind)
        page.get_by_role("textbox", name="Text").fill(text)
        page.get_by_role("button", name="Add the text").click()

    paste("rule.md", "The first text.", "agent_rule")
    expect(page.locator(".toast")).to_contain_text("Added rule.md.")
    paste("rule.md", "The second text.", "adr")
    expect(page.locator("#paste-answer")).to_contain_text("a document rule.md already")
    assert find_barriers(page) == []
    admin = shelf.state.engines.own.admin
    assert admin.text("rule.md", collection="notes") == "The first text."
    page.get_by_role("button", name="Replace it").click()
    expect(page.get_by_text("Replaced rule.md.")).to_be_visible()
    document = admin.document("rule.md", collection="notes")
    assert document is not None and document.kind == "adr"
    assert admin.text("rule.md", collection="notes") == "The second text."
    expect(page.locator("#paste-answer")).to_be_empty()
    assert page.locator("#kinds option[value=agent_rule]").count() == 1


def test_a_pasted_text_has_words_and_its_heading_is_its_title(
    opened_shelf: tuple[Page, PageRecord], shelf: RunningServer
) -> None:
    page, record = opened_shelf
    engine = shelf.state.engines.own
    engine.add("# First\n", uri="first.md", collection="loose", embed=False)
    page.goto("/collections/loose")
    page.get_by_role("button", name="Add documents").click()
    page.get_by_label("Name").fill("shed.md")
    page.get_by_role("textbox", name="Text").fill("   ")
    page.get_by_role("button", name="Add the text").click()
    expect(page.locator("#toasts")).to_contain_text("The text is empty.")
    assert engine.admin.document("shed.md", collection="loose") is None
    page.get_by_role("textbox", name="Text").fill("# Cupboard\n\nIt has two doors.")
    page.get_by_role("button", name="Add the text").click()
    expect(page.locator("#documents")).to_contain_text("Cupboard")
    record.console_errors.clear()


def test_an_uploaded_file_is_a_link_and_the_list_can_be_cleared(
    opened_shelf: tuple[Page, PageRecord], shelf: RunningServer, tmp_path: Path
) -> None:
    page, _ = opened_shelf
    shelf.state.engines.own.admin.create_collection("uploads")
    page.goto("/collections/uploads")
    (tmp_path / "office.md").write_text("# Office\n\nIt opens at nine.\n")
    page.locator("#files").set_input_files([tmp_path / "office.md"])
    name = page.locator("#uploads").get_by_role("link", name="office.md")
    expect(name).to_have_attribute("href", "/documents?collection=uploads&uri=office.md")
    page.get_by_role("button", name="Clear the list").click()
    expect(page.locator("#uploads li")).to_have_count(0)
    expect(page.get_by_role("button", name="Clear the list")).to_be_hidden()


def test_a_deletion_says_that_files_on_disk_stay(page: Page) -> None:
    page.goto("/collections/default")
    dialog = page.locator("#confirm")
    page.get_by_role("button", name="Delete", exact=True).first.click()
    expect(dialog).to_contain_text("The files on disk stay")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("checkbox", name="Choose docs/saw-manual.pdf").check()
    page.get_by_role("button", name="Delete the chosen").click()
    expect(dialog).to_contain_text("Delete docs/saw-manual.pdf from the index?")
    expect(dialog).to_contain_text("The file on disk stays")
    dialog.get_by_role("button", name="Cancel").click()
    page.goto("/documents/default/docs/saw-manual.pdf")
    page.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("The file on disk stays")


def test_names_that_are_no_paths_have_pages(shelf: RunningServer) -> None:
    address = collection_path("x/..")
    assert address.startswith("/collections?name=")
    shown = shelf.get(address)
    assert shown.status_code == 200 and "a//../b?.md" in shown.text
    document = shelf.get(document_path("x/..", "a//../b?.md"))
    assert document.status_code == 200 and "A text." in document.text


def test_a_collection_whose_name_is_no_path_is_deleted(
    opened_shelf: tuple[Page, PageRecord], shelf: RunningServer
) -> None:
    page, _ = opened_shelf
    shelf.state.engines.own.add("Gone soon.", uri="a.md", collection="..", embed=False)
    page.goto(collection_path(".."))
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("Deleted .. with 1 document.")


def test_a_failure_of_the_router_is_shown_as_a_message(shelf: RunningServer) -> None:
    answer = shelf.delete("/search", headers={"hx-request": "true", "accept": "*/*"})
    assert answer.status_code == 405
    assert "does not take DELETE" in answer.headers["hx-trigger"]


def test_an_unknown_collection_or_document_is_a_page(shelf: RunningServer) -> None:
    for address in ("/collections/nothing", "/documents/notes/nothing.md"):
        answer = shelf.get(address)
        assert answer.status_code == 404
        assert "There is no" in answer.text


def test_a_reader_sees_no_buttons_that_change(shelf: RunningServer, folder: Path) -> None:
    with running_server(folder) as server:
        engine = server.state.engines.own
        engine.sync()
        token = engine.admin.keys.create(scopes=("read",)).token
        for address in ("/collections", "/collections/default", "/documents/default/lease.py"):
            page = server.get(address, key=token)
            assert page.status_code == 200
            assert "hx-delete" not in page.text and "hx-post" not in page.text


def test_the_ledger_lists_every_file_with_its_reason(folder: Path, old_files: None) -> None:
    (folder / "blob.dat").write_bytes(b"\0\1\2")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with running_server(folder) as server:
        server.state.engines.own.sync()
        (folder / "new.md").write_text("# New\n")
        (folder / "lease.py").write_text("changed = True\n")
        (folder / "docs/locks.md").unlink()
        address = "/collections/default?view=ledger"
        page = server.get(address, headers={"hx-request": "true"}).text
        ledger = server.state.engines.own.admin.compare_folder()
    assert [skip.uri for skip in ledger.skipped] == ["blob.dat"]
    assert [skip.uri for skip in ledger.failed] == ["broken.pdf"]
    assert (ledger.changed, ledger.new, ledger.gone) == (
        ("lease.py",),
        ("new.md",),
        ("docs/locks.md",),
    )
    assert ledger.files == 4 and ledger.current == 0 and ledger.waiting == 3
    for text in ("blob.dat", "broken.pdf", "it is damaged", "removed from the folder"):
        assert text in page


def test_pages_of_a_collection_have_no_barriers(page: Page) -> None:
    page.goto("/collections/default")
    page.keyboard.press("n")
    expect(page.locator("#files")).to_be_focused()
    assert find_barriers(page) == []
    page.reload()
    take_screenshots(page, "collection")
    page.goto("/collections/default?view=ledger")
    expect(page.locator(".stats")).to_contain_text("Files found")
    assert find_barriers(page) == []
    take_screenshots(page, "ledger")


def test_documents_that_are_no_files_say_where_they_come_from(page: Page) -> None:
    page.goto("/collections/default?q=graph:table")
    expect(page.get_by_role("row", name="graph:table/orders")).to_contain_text("made from code")


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


def test_a_pdf_is_shown_by_pages(page: Page) -> None:
    page.goto("/documents/default/docs/saw-manual.pdf?page=2#page-2")
    expect(page.locator("#page-2 h2")).to_have_text("Page 2")
    expect(page.locator("#page-2")).to_be_in_viewport()
    assert find_barriers(page) == []
    take_screenshots(page, "pdf")


def test_chunks_are_marked_in_the_text(page: Page) -> None:
    page.goto("/documents/default/docs/shipping.md")
    expect(page.locator(".chunk").first).to_be_visible()
    page.locator(".outline a").first.click()
    page.wait_for_url("**#chunk-0")
    page.goto("/documents/default/app/Models/Order.php?line=5#L5")
    expect(page.locator("#L5")).to_be_in_viewport()
    assert find_barriers(page) == []
    take_screenshots(page, "document")


def test_a_long_document_is_shown_in_parts() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 4001)) + "\n"
    view = view_document(text, [], [], line=2000, page=0)
    assert (view.first, view.last, view.total) == (MAX_LINES + 1, 2 * MAX_LINES, 4000)
    assert view.parts[0].blocks[0].lines[0].text == f"line {MAX_LINES + 1}"


def test_lines_belong_to_the_page_that_they_start_on() -> None:
    marks = (Mark(0, 1), Mark(8, 2, "ii"), Mark(16, 3, "Costs", "sheet"))
    view = view_document("page one"[:7] + "\npage 22\npage 33", [], marks, line=0, page=3)
    assert [part.label for part in view.parts] == ["Page 1", "Page ii", "Sheet Costs"]
    assert [part.blocks[0].lines[0].text for part in view.parts] == [
        "page on",
        "page 22",
        "page 33",
    ]


def test_an_empty_document_has_no_parts() -> None:
    assert view_document("", [], [], line=0, page=0).parts == []
