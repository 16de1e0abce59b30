"""Where a figure came from: the machine, the date, the commit, the versions; and where results are kept."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def commit() -> str:
    """Return the short hash of the checkout, with `+` where it has changes, or `uncommitted`."""
    found = git("rev-parse", "--short=10", "HEAD")
    if not found:
        return "uncommitted"
    return (
        f"{found}+"
        if git("status", "--porcelain", "--untracked-files=no", "--", "src")
        else found
    )


def git(*arguments: str) -> str:
    """Return what git says about this checkout, nothing where it cannot."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def cpu_name() -> str:
    """Return the processor's name as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def memory_gb() -> float | None:
    """Return the machine's memory, where the system tells it."""
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def versions(
    names: Iterable[str] = ("ragstone", "numpy", "onnxruntime", "tantivy"),
) -> dict[str, str]:
    """Return the versions of the packages that are installed here."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def about() -> dict[str, Any]:
    """Return everything a reader needs to judge a figure."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
    }


def save_result(name: str, result: Mapping[str, Any], folder: Path) -> Path:
    """Write the figures of a set and return the file. A second run of the same release replaces the first."""
    origin = about()
    release = origin["versions"].get("ragstone", "0")
    measured = {
        "measured_at": origin["date"],
        "at_commit": origin["commit"],
        "load": origin["machine"]["load"],
        **result,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{release}.json"
    content = json.dumps({**origin, "results": {name: measured}}, indent=1)
    path.write_text(content + "\n", encoding="utf-8")
    return path
