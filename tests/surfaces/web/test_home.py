"""The first page: the state of the index, a sync with live progress, and plots."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ragstone.surfaces.jobs.work import SYNC
from ragstone.surfaces.rest.jobs import Jobs
from ragstone.surfaces.web.plots import HOUR, plot_latency, plot_searches, plot_sizes
from ragstone.types import SizePoint
from tests.support.browser import find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server


@pytest.fixture
def fresh(folder: Path, old_files: None) -> Iterator[RunningServer]:
    """Serve a small folder that is not indexed yet, with a file that cannot be read."""
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "blob.dat").write_bytes(b"\0\1\2")
    with running_server(folder) as server:
        yield server


def test_an_empty_index_says_what_to_do_and_a_sync_fills_it(
    browser: Browser, fresh: RunningServer
) -> None:
    with open_page(browser, fresh.url) as (page, record):
        page.goto("/")
        expect(page.locator("#overview")).to_contain_text("Nothing is indexed yet")
        take_screenshots(page, "home-empty")
        page.get_by_role("button", name="Sync the folder").click()
        expect(page.locator(".toast")).to_contain_text("Synced: 2 indexed, 0 unchanged")
        expect(page.locator("#overview")).to_contain_text("Indexed")
        expect(page.locator(".folder")).to_contain_text("2 files up to date")
        expect(page.locator(".folder")).to_contain_text("1 failed")
        expect(page.locator(".reasons")).to_contain_text("broken.pdf")
        assert not record.problems()


def test_the_number_of_documents_says_how_many_are_files(page: Page) -> None:
    page.goto("/")
    folder = page.locator(".folder-counts")
    expect(folder).to_contain_text("30 files up to date")
    documents = page.locator(".stat", has_text="Documents")
    expect(documents).to_contain_text("47")
    expect(documents).to_contain_text("30 files · 17 made from code")


def test_re_index_asks_first_and_reads_every_file(
    browser: Browser, fresh: RunningServer
) -> None:
    fresh.state.engines.own.sync()
    with open_page(browser, fresh.url) as (page, record):
        page.goto("/")
        page.keyboard.press("R")
        expect(page.locator("#confirm")).to_contain_text("Read every file")
        page.get_by_role("button", name="Cancel").click()
        assert fresh.state.jobs.list("default", 10) == []
        page.get_by_role("button", name="Re-index").click()
        page.locator("#confirm").get_by_role("button", name="Re-index").click()
        expect(page.locator(".toast")).to_contain_text("Synced: 2 indexed")
        assert not record.problems()


def test_a_second_sync_shows_the_one_that_runs(fresh: RunningServer) -> None:
    release = threading.Event()
    jobs = fresh.state.jobs
    assert isinstance(jobs, Jobs)
    running = jobs.start("default", SYNC, lambda _: {"ok": release.wait(20)})
    token = fresh.state.sessions.local.csrf_token
    headers = {"hx-request": "true", "x-csrf-token": token}
    try:
        assert running.id in fresh.post("/overview/sync", headers=headers).text
        assert fresh.post("/overview/sync?full=true", headers=headers).status_code == 409
        assert len(fresh.state.jobs.list("default", 10)) == 1
    finally:
        release.set()


def test_a_sync_needs_a_folder_and_the_scope(fresh: RunningServer) -> None:
    keys = fresh.state.engines.engine("shop").admin.keys
    token = keys.create(scopes=("read", "write")).token
    answer = fresh.post("/overview/sync", key=token, headers={"hx-request": "true"})
    assert answer.status_code == 409
    assert "has no folder" in answer.headers["hx-trigger"]
    reader = keys.create(scopes=("read",)).token
    page = fresh.get("/", key=reader)
    assert "Sync now" not in page.text and "On disk" not in page.text
    assert fresh.post("/overview/sync", key=reader).status_code == 403


def test_the_page_shows_a_real_index(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#overview")).to_contain_text("Indexed")
    expect(page.locator(".folder")).to_contain_text("up to date")
    page.request.post("/api/rag/search", data={"query": "saw"})
    page.reload()
    expect(page.locator(".plot canvas")).to_have_count(3)
    assert find_barriers(page) == []
    take_screenshots(page, "home")


def test_searches_are_counted_by_hour_without_gaps() -> None:
    start = 1_800_000 * HOUR // HOUR * HOUR
    times = [start + 10, start + 20, start + 3 * HOUR]
    records = [{"time": moment, "milliseconds": 10.0 * n} for n, moment in enumerate(times, 1)]
    searches = plot_searches(records)
    assert searches["series"][0]["values"][-4:] == [2, 0, 0, 1]
    assert searches["x"][-1] - searches["x"][-4] == 3 * HOUR
    latency = plot_latency(records)
    assert latency["series"][0]["values"][-4:] == [15.0, None, None, 30.0]
    assert latency["series"][1]["values"][-4] == pytest.approx(19.5)


def test_a_plot_without_data_is_empty() -> None:
    assert plot_searches([])["x"] == plot_latency([])["x"] == []
    assert plot_sizes([SizePoint(time.time(), 0, 0, 0)])["x"] == []


def test_the_size_of_the_index_is_recorded_over_time(fresh: RunningServer) -> None:
    engine = fresh.state.engines.own
    engine.sync()
    first, *_, last = engine.admin.sizes.points()
    assert 0 < first.chunks <= last.chunks == engine.status().chunks
    data = fresh.get("/overview/plots/sizes").json()
    assert data["series"][0]["values"][-1] == last.chunks


def test_all_projects_are_listed_and_opened(
    browser: Browser, folder: Path, old_files: None
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with running_server(folder) as server:
        server.state.engines.own.sync()
        other = server.state.engines.engine("kitchen")
        other.add("Bread is baked at 230 degrees.", uri="bread.md", embed=False)
        with open_page(browser, server.url) as (page, record):
            page.goto("/")
            expect(page.locator("#waiting")).to_have_text("0")
            own = page.get_by_role("row", name="default").first
            expect(own).to_contain_text("100 %")
            expect(own.get_by_role("cell").nth(6)).to_have_text("1")
            assert find_barriers(page) == []
            take_screenshots(page, "home-projects")
            page.get_by_role("button", name="Open the project kitchen").click()
            expect(page.locator(".brand-project")).to_have_text("kitchen")
            page.goto("/collections/default")
            expect(page.locator("#documents")).to_contain_text("bread.md")
            page.goto("/")
            page.get_by_role("button", name="Open the project default").click()
            expect(page.locator(".brand-project")).to_have_text("default")
            assert not record.problems()


def test_a_key_sees_its_own_project_only(folder: Path) -> None:
    with running_server(folder) as server:
        server.state.engines.own.add("Text.", uri="a.md", embed=False)
        kitchen = server.state.engines.engine("kitchen")
        kitchen.add("Bread.", uri="bread.md", embed=False)
        token = kitchen.admin.keys.create(scopes=("read",)).token
        cookie = {"cookie": f"ragstone_project={b'default'.hex()}"}
        page = server.get("/", key=token, headers=cookie)
        refused = server.post("/overview/project?name=default", key=token)
    assert page.status_code == 200
    assert "kitchen" in page.text and "Open the project" not in page.text
    assert refused.status_code == 404


def test_the_first_page_searches(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Search", exact=True).fill("whole cents")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=whole+cents")
    expect(page.locator("[data-hit]").first).to_be_visible()
