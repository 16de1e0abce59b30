"""The line that says what a package is for, and its description."""

from __future__ import annotations

import json
from email.parser import Parser
from pathlib import Path

_LONGEST = 4_000
"""Characters of a description that are read."""


def read_synopsis(folder: Path) -> tuple[str, str]:
    """Return synopsis and description of an unpacked wheel or npm package; other archives have none."""
    for path in folder.glob("*.dist-info/METADATA"):
        about = Parser().parsestr(path.read_text(encoding="utf-8", errors="replace"))
        return str(about.get("Summary", "")), str(about.get_payload())[:_LONGEST]
    for path in folder.glob("*/package.json"):
        readme = path.parent / "README.md"
        if readme.is_file():
            synopsis = json.loads(path.read_text(encoding="utf-8")).get("description", "")
            return str(synopsis), readme.read_text("utf-8", errors="replace")[:_LONGEST]
    return "", ""
