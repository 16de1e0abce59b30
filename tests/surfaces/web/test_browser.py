"""The browser of the tests: what it records, and that nothing else is needed to start it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import install_browser
import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import ServedFolder, find_barriers, open_page, take_screenshots

POLICY = "default-src 'self'; script-src 'self'"
HOSTILE = """<!doctype html><html><head><title>x</title></head><body>
<script>ran('inline')</script>
<img src="http://127.0.0.2/pixel.png"><input><button></button></body></html>"""


class HostilePage(http.server.BaseHTTPRequestHandler):
    """Answers every address with a page that tries to run a script and to load a picture from elsewhere."""

    policy = POLICY

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-security-policy", self.policy)
        self.end_headers()
        self.wfile.write(HOSTILE.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def hostile_site(policy: str) -> Iterator[str]:
    handler = type("Handler", (HostilePage,), {"policy": policy})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_blocked_script_is_recorded_as_an_error(browser: Browser) -> None:
    with hostile_site(POLICY) as url, open_page(browser, url) as (page, record):
        page.goto("/")
        assert page.evaluate("window.ranPayloads") == []
        assert any("CSP: script-src" in error for error in record.console_errors)


def test_a_script_that_runs_and_a_request_that_leaves_are_recorded(browser: Browser) -> None:
    policy = "default-src * 'unsafe-inline'"
    with hostile_site(policy) as url, open_page(browser, url) as (page, record):
        page.goto("/", wait_until="commit")
        page.wait_for_function("window.ranPayloads.length === 1")
        page.wait_for_selector("img", state="attached")
        assert record.foreign_requests == ["http://127.0.0.2/pixel.png"]


def test_axe_finds_a_button_without_a_name(browser: Browser) -> None:
    with hostile_site(POLICY) as url, open_page(browser, url) as (page, _):
        page.goto("/")
        assert any("button-name" in finding for finding in find_barriers(page))


def test_screenshots_are_written_in_three_looks(
    page: Page, served: ServedFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENSHOTS", str(tmp_path / "pictures"))
    page.goto("/health")
    names = [path.name for path in take_screenshots(page, "health")]
    assert names == ["health-light.png", "health-dark.png", "health-phone.png"]
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == sorted(names)


def test_a_named_browser_that_is_missing_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    assert install_browser.find_browser() is None


def test_without_a_browser_and_without_apt_the_script_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install_browser.main() == 0
    said = capsys.readouterr().out
    assert said.startswith("The browser tests will be skipped: ")
    assert "BROWSER_PATH" in said
