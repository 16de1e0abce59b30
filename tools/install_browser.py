"""Makes a Chromium browser available to the tests of the dashboard.

An installed browser is used. Otherwise root on a Debian system gets Debian's package. Everybody else gets one sentence
that says how to install one, and the browser tests are skipped. The exit status is 0 in all of these cases.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

COMMANDS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
PLACES: Final = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
FLAGS: Final = (
    "--headless=new",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""No flag lets the browser talk to its maker."""
_PACKAGE: Final = "chromium"
_HINT: Final = "install Chromium or Chrome, or set BROWSER_PATH to its program"
_LOCK_SECONDS: Final = 300


def find_browser() -> Path | None:
    """Return the program of an installed browser; `BROWSER_PATH` names one."""
    named = os.environ.get("BROWSER_PATH")
    if named:
        return Path(named) if Path(named).is_file() else None
    for command in COMMANDS:
        program = shutil.which(command)
        if program:
            return Path(program)
    return next((Path(place) for place in PLACES if Path(place).is_file()), None)


def browser_flags() -> list[str]:
    """Return the flags that the tests start a browser with; root cannot use Chromium's sandbox."""
    return [*FLAGS, "--no-sandbox"] if _is_root() else list(FLAGS)


def install_browser() -> str:
    """Install Debian's package and return an empty text, or return why it was not installed."""
    if not _is_root():
        return "only root can install a package"
    if shutil.which("apt-get") is None:
        return "this system has no apt-get"
    install = ("install", "--yes", "--no-install-recommends", _PACKAGE)
    # The package lists of a bare machine are missing or old.
    for arguments in (("update",), install):
        problem = _apt_get(arguments)
    return problem


def _apt_get(arguments: Sequence[str]) -> str:
    """Run apt-get; return an empty text or its last line."""
    lock = f"DPkg::Lock::Timeout={_LOCK_SECONDS}"
    finished = subprocess.run(
        ["apt-get", "-q", "-o", lock, *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if finished.returncode == 0:
        return ""
    lines = finished.stdout.strip().splitlines()
    return lines[-1] if lines else f"apt-get ended with {finished.returncode}"


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def main() -> int:
    """Find or install a browser, and say which one the tests use."""
    browser = find_browser()
    if browser is None:
        problem = install_browser()
        browser = find_browser()
        if browser is None:
            reason = problem or "the package has no known program"
            print(f"The browser tests will be skipped: {reason}; {_HINT}.")
            return 0
    print(f"The browser tests use {browser}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
