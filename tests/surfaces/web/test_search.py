"""The search lab in a browser: hits with reasons, two settings side by side, a context to copy."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import Page, expect

from ragstone.types import Document
from tests.support.browser import PageRecord, ServedFolder, find_barriers, take_screenshots
from tests.support.running_server import running_server

QUESTION = "why do we avoid floating point numbers"


def open_lab(page: Page, query: str = QUESTION, further: str = "") -> None:
    page.goto(f"/search?q={quote(query)}{further}")


def test_an_empty_lab_says_what_it_is_for(page: Page) -> None:
    page.goto("/search")
    expect(page.get_by_text("What are you looking for?")).to_be_visible()
    take_screenshots(page, "search-empty")
    assert find_barriers(page) == []


def test_a_question_finds_its_passage_with_path_and_lines(page: Page) -> None:
    page.goto("/search")
    page.get_by_label("Query", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    first = page.locator("[data-hit]").first
    expect(first).to_contain_text("docs/adr/0001-whole-cents.md:1-6")
    assert "q=why" in page.url
    take_screenshots(page, "search")
    assert find_barriers(page) == []


def test_a_hit_opens_and_says_why_it_is_there(page: Page) -> None:
    open_lab(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    first = page.locator("[data-hit]").first
    expect(first.get_by_text("Why this")).to_be_visible()
    expect(first.get_by_role("rowheader", name="minilm")).to_be_visible()
    expect(first.locator(".hit-text mark").first).to_be_visible()
    take_screenshots(page, "search-hit")
    assert find_barriers(page) == []


def test_a_pdf_is_cited_by_its_page(page: Page) -> None:
    open_lab(page, "48 Nm")
    expect(page.locator(".hit-place").first).to_contain_text("saw-manual.pdf p.3")


def test_two_settings_stand_side_by_side(page: Page) -> None:
    open_lab(page, "the machine overheats")
    page.get_by_label("Compare two settings").check()
    second = page.get_by_role("radiogroup", name="Second settings: lists")
    second.get_by_text("Words").click()
    expect(page.get_by_role("region", name="Hits 2")).to_contain_text("words only")
    expect(page.get_by_role("region", name="Hits 1")).to_contain_text("only here")
    take_screenshots(page, "search-compare")
    assert find_barriers(page) == []


def test_the_context_is_copied_with_its_number_of_tokens(page: Page) -> None:
    open_lab(page)
    page.get_by_label("Format").select_option("markdown")
    page.get_by_role("button", name="Build").click()
    page.get_by_role("button", name="Copy context").click()
    expect(page.get_by_text("tokens, ")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("## Relevant Context (RAG)")
    assert "0001-whole-cents.md" in copied
    take_screenshots(page, "search-context")
    assert find_barriers(page) == []


def test_a_file_that_is_not_found_gets_a_reason(page: Page) -> None:
    open_lab(page, "QRY-311", "&top_k=1")
    box = page.get_by_label("Path of a file")
    box.fill("docs/adr/0001-whole-cents.md")
    box.press("Enter")
    expect(page.locator("#why")).to_contain_text("No passage of it fits the query.")
    box.fill("docs/adr/0001-whole-cent.md")
    box.press("Enter")
    expect(page.locator("#why")).to_contain_text("The index has no document with this path.")
    expect(page.locator("#why")).to_contain_text("docs/adr/0001-whole-cents.md")


def test_a_file_below_the_shown_hits_shows_its_best_passage(page: Page) -> None:
    open_lab(page, "cancel an order", "&top_k=1")
    shown = page.locator(".hit-place").first.inner_text()
    other = "app/Policies/OrderPolicy.php"
    if shown.startswith(other):
        other = "app/Http/Controllers/OrderController.php"
    box = page.get_by_label("Path of a file")
    box.fill(other)
    box.press("Enter")
    expect(page.locator("#why")).to_contain_text("left out")
    expect(page.locator("#why").get_by_text("Why this")).to_be_visible()


def test_filters_and_the_lowest_score_hide_hits(page: Page) -> None:
    open_lab(page, "order", "&path=app/**")
    places = page.locator(".hit-place").all_text_contents()
    assert places and all(place.startswith("app/") for place in places)
    open_lab(page, "order", "&min_score=1")
    expect(page.get_by_text("Nothing fits")).to_be_visible()


def test_wrong_settings_get_one_sentence(page: Page, record: PageRecord) -> None:
    open_lab(page, "order", "&top_k=many")
    expect(page.get_by_role("alert")).to_contain_text("out of range")
    open_lab(page, "order", "&mode=magic")
    expect(page.get_by_role("alert")).to_contain_text("is no choice")
    record.console_errors.clear()


def test_an_error_replaces_the_old_hits(page: Page) -> None:
    open_lab(page, "order")
    expect(page.locator("[data-hit]").first).to_be_visible()
    page.get_by_label("Reranker").first.select_option("jina")
    expect(page.get_by_role("alert")).to_contain_text("key")
    expect(page.locator("[data-hit]")).to_have_count(0)


def test_a_reranker_without_its_key_is_a_wrong_choice(served: ServedFolder) -> None:
    address = f"{served.url}/search?q=order&rerank=jina"
    assert httpx2.get(address).status_code == 400
    assert httpx2.get(address, headers={"hx-request": "true"}).status_code == 200


def test_escape_leaves_the_query_and_enter_leads_to_the_hits(page: Page) -> None:
    open_lab(page)
    box = page.get_by_label("Query", exact=True)
    box.fill("cancel an order")
    box.press("Escape")
    expect(box).to_have_value("cancel an order")
    expect(box).not_to_be_focused()
    assert "q=why" in page.url
    box.press("Enter")
    page.wait_for_url("**q=cancel**")
    expect(page.locator("[data-hit] summary").first).to_be_focused()


def test_a_reason_is_a_sentence_and_its_numbers_add_up(page: Page) -> None:
    open_lab(page)
    page.locator("[data-hit] summary").first.click()
    why = page.locator("[data-hit] .why").first
    expect(why).to_contain_text(re.compile(r"\d(st|nd|rd|th) by (words|meaning)"))
    cells = why.locator("tbody tr").first.locator("td").all_inner_texts()
    assert float(cells[2]) * float(cells[3]) == pytest.approx(float(cells[4]), abs=0.01)


def test_a_closed_hit_names_its_rank_in_each_list(page: Page) -> None:
    open_lab(page)
    first = page.locator("[data-hit]").first
    expect(first.locator("details")).not_to_have_attribute("open", "")
    expect(first.locator(".hit-ranks")).to_be_visible()
    ranks = re.compile(r"Ranks: words \d+(st|nd|rd|th) · meaning \d+(st|nd|rd|th)")
    expect(first.locator("summary")).to_contain_text(ranks)
    open_lab(page, "order", "&mode=words")
    expect(first.locator(".hit-ranks")).to_have_text(re.compile(r"^Ranks: words \d+\w+$"))


def test_the_focus_of_a_hit_is_around_its_heading_too(page: Page) -> None:
    open_lab(page)
    page.keyboard.press("j")
    first = page.locator("[data-hit]").first
    assert first.evaluate("(hit) => getComputedStyle(hit).outlineStyle") == "solid"


def test_copy_as_context_copies_at_once(page: Page) -> None:
    open_lab(page)
    page.get_by_role("button", name="Copy as context").click()
    expect(page.locator("#toasts")).to_contain_text("Copied the context.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "0001-whole-cents.md" in copied


def test_the_name_of_a_hit_opens_its_document_and_the_row_unfolds_it(page: Page) -> None:
    open_lab(page)
    first = page.locator("[data-hit]").first
    first.locator(".hit-rank").click()
    expect(first.get_by_text("Why this")).to_be_visible()
    first.locator(".hit-place").click()
    page.wait_for_url("**/documents/default/docs/adr/0001-whole-cents.md?**")


def test_a_search_from_home_leads_to_the_hits(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Search", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=**")
    expect(page.locator("[data-hit] summary").first).to_be_focused()


def test_the_page_begins_with_the_settings_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").write_text('[search]\ntop_k = 3\nfusion = "rrf"\n')
    with running_server(tmp_path) as server:
        for number in range(6):
            server.state.engines.own.add(
                f"Crane {number} lifts.", uri=f"{number}.md", embed=False
            )
        shown = server.get("/search?q=crane").text
    assert "3 hits" in shown and "top 3, reciprocal ranks" in shown


def test_a_heading_in_a_preview_is_the_one_above_its_line(tmp_path: Path) -> None:
    text = (
        "# Works\n\n## Spring\n\nPaint the sheds.\n\n## Autumn\n\nReplace the cash register.\n"
    )
    with running_server(tmp_path) as server:
        server.state.engines.own.add(
            Document("plan.md", text, "doc", language="markdown"), embed=False
        )
        shown = server.get("/search?q=cash+register").text
    preview = shown.partition("hit-preview")[2].partition("</summary>")[0]
    assert "Autumn" in preview and "Spring" not in preview


def test_a_wrong_setting_stays_in_its_field(page: Page, record: PageRecord) -> None:
    open_lab(page, "order", "&min_score=5&mode=words")
    expect(page.get_by_role("alert")).to_contain_text("out of range")
    expect(page.get_by_label("Score from").first).to_have_value("5")
    expect(page.get_by_role("radio", name="Words").first).to_be_checked()
    record.console_errors.clear()


def test_advice_without_hits_names_only_limits_that_are_set(served: ServedFolder) -> None:
    shown = httpx2.get(f"{served.url}/search?q=order&min_score=1").text
    assert "lower the score" in shown and "remove a filter" not in shown


def test_an_empty_index_leads_to_the_sync(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        shown = server.get("/search?q=anything").text
        assert "Nothing is indexed yet" in shown and "Go to Home and sync" in shown


def test_hits_of_several_collections_name_theirs(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        engine = server.state.engines.own
        engine.add("The crane lifts.", uri="a.md", collection="yard", embed=False)
        assert '<span class="badge">yard</span>' not in server.get("/search?q=crane").text
        engine.add("The office opens.", uri="b.md", collection="office", embed=False)
        assert '<span class="badge">yard</span>' in server.get("/search?q=crane").text


@pytest.mark.parametrize(
    "address",
    ["/search?q=order", "/settings", "/collections/default", "/events", "/graph", "/"],
)
def test_no_page_scrolls_sideways_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    if "search" in address:
        page.locator("[data-hit] summary").first.click()
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main, .hit-body > *, .event-detail, .setting > *, td")]
          .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
          .map((part) => part.className)"""
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
