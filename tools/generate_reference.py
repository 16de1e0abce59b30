"""Write the reference pages that the code itself knows best. `--check` only says whether they are up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from ragstone import config, registry

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE = "<!-- Written by tools/generate_reference.py: change the code, then run `make reference`. -->\n"
MEANINGS = {
    "rag": "the engine as a whole, and how documents are cut",
    "rag.vector_store": "where everything stays",
    "sources": "which files are looked at",
    "embed": "how text becomes vectors",
    "search": "how answers are found and ordered",
    "store": "the file on disk",
}


def settings_page() -> str:
    """Return the page of all settings."""
    lines = [
        NOTICE,
        "# Settings\n",
        "A value is taken from the first of these that has it: an argument, a `RAGSTONE_*` variable, the project's",
        "`ragstone.toml`, your own file, the default. How they go together: [the guide](../guides/configuration.md).\n",
    ]
    for section, rows in groupby(config.describe(), key=lambda row: row.key.rpartition(".")[0]):
        lines += [f"## `[{section}]`: {MEANINGS[section]}\n", "| setting | default | what it does | environment |"]
        lines += ["|---|---|---|---|"]
        lines += [
            f"| `{row.key.rpartition('.')[2]}` | {shown(row.default)} | {row.doc} | "
            + ", ".join(f"`{variable}`" for variable in row.variables)
            + " |"
            for row in rows
        ]
        lines.append("")
    return "\n".join(lines)


def parts_page() -> str:
    """Return the page of all parts that can be chosen by name."""
    lines = [
        NOTICE,
        "# Parts by name\n",
        "What the settings can name. A package adds its own with an entry point in the",
    ]
    lines += [
        "group `ragstone.<kind>`; a plug-in cannot take a built-in name.\n",
        "| kind | name | also | what it is |",
    ]
    lines += ["|---|---|---|---|"]
    lines += [
        f"| {part.group} | `{part.name}` | {', '.join(f'`{alias}`' for alias in part.aliases)} | {part.doc} |"
        for part in registry.BUILT_IN
    ]
    return "\n".join([*lines, ""])


def shown(value: object) -> str:
    """Return a value as it would be written in TOML."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def stale(pages: Mapping[Path, str]) -> list[Path]:
    """Return the pages on disk that are not what the code says."""
    return [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write the pages, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    asked = parser.parse_args()
    pages = {FOLDER / "config.md": settings_page(), FOLDER / "parts.md": parts_page()}
    old = stale(pages)
    for path in old:
        if asked.check:
            print(f"{path.name} is out of date: run `make reference`", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], encoding="utf-8", newline="\n")
            print(f"wrote {path.name}")
    return 1 if asked.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
