"""Fixtures: a browser for each module, a served folder with a real index, and a page that records what it does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import install_browser
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from ragstone.sources import files
from tests.support.browser import (
    PageRecord,
    ServedFolder,
    command_environment,
    open_page,
    ragstone,
    serve_folder,
    write_sample,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the browser that `tools/install_browser.py` finds; skip if there is none.

    Playwright runs an event loop in this thread while it is open. It is closed after each module, because
    tests of other modules may call `asyncio.run`.
    """
    program = install_browser.find_browser()
    if program is None:
        pytest.skip("needs Chromium: python tools/install_browser.py")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(program), args=install_browser.browser_flags()
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    """Serve the sample folder, which is indexed before; tests share it and only read."""
    folder = write_sample(tmp_path_factory.mktemp("site") / "quarry")
    subprocess.run(
        ragstone(folder, "sync", "--json"),
        env=command_environment(folder.parent),
        check=True,
        capture_output=True,
    )
    with serve_folder(folder) as running:
        yield running


@pytest.fixture
def opened(browser: Browser, served: ServedFolder) -> Iterator[tuple[Page, PageRecord]]:
    """Open a page on the shared server, with its record."""
    with open_page(browser, served.url) as (page, record):
        yield page, record


@pytest.fixture
def page(opened: tuple[Page, PageRecord]) -> Iterator[Page]:
    """Give a page on the shared server; the test fails if a script fails or a request leaves the server."""
    page, record = opened
    yield page
    assert not record.problems()


@pytest.fixture
def record(opened: tuple[Page, PageRecord]) -> PageRecord:
    """Return the record of the page; a test that causes errors on purpose empties its lists."""
    return opened[1]


@pytest.fixture
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the stamps of files that were just written, as of files that are older than two seconds."""
    monkeypatch.setattr(files, "RACY_NS", 0)
