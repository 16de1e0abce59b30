"""The graph in a browser: nodes in columns, found by name, walked by mouse and keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server

ROUTE = "POST api/orders/{order}/cancel"


def open_graph(page: Page) -> None:
    page.goto("/graph")
    page.wait_for_selector("#graph[data-ready]")


def find_node(page: Page, name: str) -> None:
    box = page.get_by_label("Find a node")
    box.fill(name)
    box.press("Enter")


def test_the_picture_shows_routes_handlers_models_and_tables(page: Page) -> None:
    open_graph(page)
    titles = " ".join(page.locator(".graph-title").all_text_contents())
    for title in ("Entry points", "Handlers", "Models", "Data"):
        assert title in titles
    take_screenshots(page, "graph")
    assert find_barriers(page) == []


def test_a_node_is_found_and_leads_to_its_source_lines(page: Page) -> None:
    open_graph(page)
    find_node(page, ROUTE)
    side = page.locator("#graph-node")
    expect(side.get_by_role("heading", name=ROUTE)).to_be_visible()
    expect(side.get_by_role("link", name="routes/api.php:10")).to_have_attribute(
        "href", "/documents/default/routes/api.php?line=10#L10"
    )
    assert page.locator(".graph-edges path.is-on").count() > 0
    take_screenshots(page, "graph-node")
    assert find_barriers(page) == []


def test_links_are_walked_from_node_to_node(page: Page) -> None:
    open_graph(page)
    find_node(page, ROUTE)
    side = page.locator("#graph-node")
    side.get_by_role("link", name="OrderController@cancel").click()
    expect(side.get_by_role("heading", name="OrderController@cancel")).to_be_visible()
    expect(page.locator(".graph-node.is-selected")).to_contain_text("OrderController@cancel")
    assert "node=method" in page.url


def test_the_address_has_the_choices_so_back_leads_to_the_picture_that_was_left(
    page: Page,
) -> None:
    open_graph(page)
    page.get_by_text("By file", exact=True).click()
    page.locator(".graph-kinds").get_by_text("policy").click()
    find_node(page, ROUTE)
    expect(page.locator(".graph-node.is-selected")).to_have_count(1)
    assert "arrange=file" in page.url and "kinds=policy" not in page.url
    count = page.locator(".page-header-words p").inner_text()
    address = page.url
    page.locator("#graph-node").get_by_role("link", name="routes/api.php:10").click()
    page.wait_for_url("**/documents/**")
    page.goto(address)  # as Back does if the browser did not keep the page
    page.wait_for_selector("#graph[data-ready]")
    expect(page.get_by_label("By file")).to_be_checked()
    expect(page.get_by_label("policy")).not_to_be_checked()
    expect(page.locator(".page-header-words p")).to_have_text(count)
    expect(page.locator(".graph-node.is-selected")).to_have_count(1)


def test_arrow_keys_move_through_the_picture(page: Page) -> None:
    open_graph(page)
    find_node(page, ROUTE)
    page.locator("#graph").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#graph-node h2")).not_to_have_text(ROUTE)
    page.keyboard.press("Escape")
    expect(page.locator(".graph-node.is-selected")).to_have_count(0)


def test_only_connected_nodes_are_shown_if_asked(page: Page) -> None:
    open_graph(page)
    before = page.locator(".graph-node").count()
    find_node(page, ROUTE)
    page.get_by_label("Only connected").check()
    assert 1 < page.locator(".graph-node").count() < before


def test_kinds_are_switched_on_and_off(page: Page) -> None:
    open_graph(page)
    expect(page.locator(".graph-title", has_text="Models")).to_have_count(1)
    page.get_by_label("model ", exact=False).first.uncheck()
    expect(page.locator(".graph-title", has_text="Models")).to_have_count(0)
    shown = page.locator(".graph-node").count()
    expect(page.locator(".page-header-words")).to_contain_text(f"{shown} nodes, ")


def test_a_picture_without_kinds_is_empty_and_says_so(page: Page) -> None:
    page.goto("/graph?kinds=unheard-of")
    page.wait_for_selector("#graph[data-ready]")
    expect(page.get_by_text("No node is of the chosen kinds")).to_be_visible()
    expect(page.locator(".page-header-words")).to_contain_text("0 nodes, 0 links")
    assert page.locator(".graph-node").count() == 0
    page.get_by_label("model ", exact=False).first.check()
    expect(page.get_by_text("No node is of the chosen kinds")).to_be_hidden()


def test_an_address_with_a_node_opens_it(page: Page) -> None:
    page.goto("/graph?node=table:orders")
    expect(page.locator("#graph-node").get_by_role("heading", name="orders")).to_be_visible()
    page.goto("/graph?node=table:nothing")
    expect(page.get_by_text("does not exist any more")).to_be_visible()


_CROSSINGS = """() => {
  const boxes = [...document.querySelectorAll('.graph-node')].map((node) => {
    const { x, y, width, height } = node.querySelector('rect').getBBox();
    const { e, f } = node.transform.baseVal.consolidate().matrix;
    return { left: x + e + 1, right: x + e + width - 1, top: y + f + 1, bottom: y + f + height - 1 };
  });
  const isInside = ({ x, y }) =>
    boxes.some(({ left, right, top, bottom }) => x > left && x < right && y > top && y < bottom);
  const paths = [...document.querySelectorAll('.graph-edges path')];
  const crossing = paths.filter((path) => {
    for (let at = 0; at <= path.getTotalLength(); at += 3) if (isInside(path.getPointAtLength(at))) return true;
    return false;
  });
  return [paths.length, crossing.length];
}"""


def test_no_link_runs_behind_a_box(page: Page) -> None:
    open_graph(page)
    for kind in ("column", "method", "class"):
        page.locator(f"input[name=kinds][value={kind}]").check()
    expect(page.locator(".graph-node").nth(50)).to_be_attached()
    page.get_by_role("button", name="Fit").click()
    links, crossing = page.evaluate(_CROSSINGS)
    assert links > 40
    assert crossing == 0


def test_labels_stay_inside_their_boxes(page: Page) -> None:
    open_graph(page)
    for arrangement in ("By kind", "By file"):
        page.get_by_text(arrangement, exact=True).click()
        too_wide = page.evaluate(
            """() => [...document.querySelectorAll('.graph-node')].filter((node) =>
              node.querySelector('text').getBBox().width > node.querySelector('rect').getBBox().width - 10).length"""
        )
        assert too_wide == 0


def test_the_graph_fills_the_screen(page: Page) -> None:
    open_graph(page)
    page.keyboard.press("f")
    page.wait_for_function(
        "() => document.fullscreenElement?.classList.contains('graph-frame')"
    )
    expect(page.locator("#graph")).to_be_focused()


def test_nodes_are_arranged_by_file(page: Page) -> None:
    open_graph(page)
    page.get_by_text("By file", exact=True).click()
    titles = page.locator(".graph-title").all_text_contents()
    assert "routes/api.php" in titles and "Entry points" not in " ".join(titles)
    links, crossing = page.evaluate(_CROSSINGS)
    assert links > 10 and crossing == 0
    take_screenshots(page, "graph-files")


def test_a_search_says_how_many_nodes_it_found_and_enter_walks_through_them(page: Page) -> None:
    open_graph(page)
    box = page.get_by_label("Find a node")
    box.fill("OrderController@")
    expect(page.locator("#graph-found")).to_have_text("3 found")
    expect(page.locator(".graph-node.is-match")).to_have_count(3)
    heading = page.locator("#graph-node h2")
    names: list[str] = []
    for _ in range(3):
        box.press("Enter")
        expect(heading).not_to_have_text(names[-1] if names else "-")
        names.append(heading.inner_text())
    assert len(set(names)) == 3
    page.get_by_role("button", name="Close the node").click()
    expect(page.locator("#graph-node")).to_be_hidden()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Serve a folder with more than two thousand functions that call each other."""
    folder: Path = tmp_path_factory.mktemp("large")
    for number in range(90):
        calls = [
            f"def step_{number}_{row}():\n    return step_{number}_{row + 1}()\n\n"
            for row in range(24)
        ]
        last = f"def step_{number}_24():\n    return {number}\n"
        (folder / f"part_{number}.py").write_text("\n".join([*calls, last]))
    with running_server(folder) as server:
        server.state.engines.own.sync(embed=False)
        yield server


def test_two_thousand_nodes_can_be_searched_and_moved(
    browser: Browser, large: RunningServer
) -> None:
    with open_page(browser, large.url) as (page, record):
        open_graph(page)
        expect(page.get_by_text("250 nodes left out")).to_be_visible()
        assert page.locator(".graph-node").count() == 2000
        find_node(page, "step_7_3")
        expect(page.locator("#graph-node")).to_contain_text("part_7.py")
        take_screenshots(page, "graph-large")
        page.get_by_role("button", name="Fit").click()
        expect(page.locator(".graph-far-title").first).to_be_visible()
        expect(page.locator(".graph-node text").first).to_be_hidden()
        take_screenshots(page, "graph-large-all")
        page.get_by_role("button", name="Larger").click()
        page.evaluate("document.querySelector('.graph-frame').style.display = 'none'")
        page.set_viewport_size({"width": 700, "height": 800})
        page.evaluate("document.querySelector('.graph-frame').style.display = ''")
        page.get_by_role("button", name="Larger").click()
        assert record.problems() == []


def test_a_folder_without_code_says_so(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        running_server(tmp_path_factory.mktemp("empty")) as server,
        open_page(browser, server.url) as (page, _),
    ):
        page.goto("/graph")
        expect(page.get_by_text("There is no code graph")).to_be_visible()
        assert find_barriers(page) == []
