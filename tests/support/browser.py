"""A real browser on a real server: pages that record what must not happen, screenshots, and axe-core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import bookshop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "src/ragstone/surfaces/cli/sample"
AXE = ROOT / "tests/vendor/axe-core/axe.min.js"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SERIOUS = ("serious", "critical")

_WATCH = """
window.ranPayloads = [];
window.ran = (name) => { window.ranPayloads.push(String(name)); };
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`CSP: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
"""Runs before the scripts of each page: payloads call `ran`, and blocked content becomes an error of the console."""


@dataclass
class PageRecord:
    """Things that a page of the dashboard must never do; the fixture `page` fails if a list is not empty."""

    origin: str
    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        """Record the pages of a context from now on."""
        context.add_init_script(_WATCH)
        context.on("request", self._take_request)
        context.on("console", self._take_message)
        context.on("weberror", lambda error: self.console_errors.append(str(error.error)))
        context.on("dialog", lambda dialog: self._take_dialog(dialog.message, dialog.dismiss))

    def problems(self) -> list[str]:
        """Return everything that was recorded."""
        return [*self.console_errors, *self.foreign_requests, *self.dialogs]

    def _take_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:", "about:")):
            self.foreign_requests.append(request.url)

    def _take_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)

    def _take_dialog(self, message: str, dismiss: object) -> None:
        self.dialogs.append(message)
        if callable(dismiss):
            dismiss()


@dataclass(frozen=True)
class ServedFolder:
    """A running `ragstone serve`, its address and its folder."""

    url: str
    folder: Path
    process: subprocess.Popen[str]


def write_sample(folder: Path) -> Path:
    """Write the folder that pages are shown for: texts, a PDF, and a small shop in Laravel with a code graph."""
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    for name, text in bookshop.FILES.items():
        path = folder / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def ragstone(folder: Path, *arguments: str) -> list[str]:
    """Return a command line of `ragstone` for a folder."""
    return [sys.executable, "-m", "ragstone", *arguments, "-C", str(folder)]


def command_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of commands: the sources of this project, and no settings of the user."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(home),
        "USERPROFILE": str(home),
        "NO_COLOR": "1",
        **(extra or {}),
    }


@contextmanager
def serve_folder(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[ServedFolder]:
    """Run `ragstone serve` for a folder on a free port while the block runs."""
    process = subprocess.Popen(
        ragstone(folder, "serve", "--json", "--port", "0", *arguments),
        env=command_environment(folder.parent, environment),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first_line = process.stdout.readline()
        assert first_line, "`ragstone serve` ended before it listened"
        yield ServedFolder(json.loads(first_line)["url"], folder, process)
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def open_page(browser: Browser, url: str) -> Iterator[tuple[Page, PageRecord]]:
    """Give a page in a context of its own, and its record; relative addresses are below `url`."""
    record = PageRecord(url)
    context = browser.new_context(
        base_url=url,
        viewport={"width": DESKTOP["width"], "height": DESKTOP["height"]},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    context.set_default_timeout(15_000)
    record.watch(context)
    try:
        yield context.new_page(), record
    finally:
        context.close()


def take_screenshots(page: Page, name: str) -> list[Path]:
    """Write the page in light, dark and phone width into the folder `SCREENSHOTS`; nothing if it is not set."""
    target = os.environ.get("SCREENSHOTS")
    if not target:
        return []
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for look, scheme, size in (
        ("light", "light", DESKTOP),
        ("dark", "dark", DESKTOP),
        ("phone", "light", PHONE),
    ):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        path = folder / f"{name}-{look}.png"
        page.screenshot(path=path, full_page=look == "phone")
        written.append(path)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
    return written


def find_barriers(page: Page) -> list[str]:
    """Return the serious findings of axe-core on the page, one line each."""
    # The source is sent through the debugging protocol, which the page's policy does not restrict.
    page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')}\n }}")
    report = page.evaluate(
        "() => axe.run(document, {resultTypes: ['violations'], reporter: 'v1'})"
    )
    findings = []
    for violation in report["violations"]:
        if violation["impact"] in SERIOUS:
            places = ", ".join(" ".join(node["target"]) for node in violation["nodes"][:5])
            findings.append(f"{violation['id']}: {violation['help']} ({places})")
    return findings
