"""`ragstone init`: the index's folder, and a settings file in which everything is explained and nothing is set."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone import config
from ragstone.config.settings import keys
from ragstone.engine import Engine
from ragstone.store.home import make_home
from ragstone.surfaces.cli.shell import emit, safe, say, shared

_HEAD: Final = """\
# Settings of Ragstone for this folder. Every line is commented out and shows the default.
# An environment variable RAGSTONE_<SECTION>_<NAME> goes before this file.
"""


@click.command()
@shared
def init(folder: Path | None, as_json: bool) -> None:
    """Make the index's folder and a settings file to edit; nothing that is there is touched."""
    with Engine.open(folder or Path.cwd()) as engine:
        home = make_home(engine.home, trusted=engine.settings.home_named)
        file = config.project_file(engine.folder)
        made = _write(file)
    if as_json:
        emit({"success": True, "home": str(home), "config": str(file), "config_made": made})
        return
    say(f"Index folder: {safe(str(home))}")
    say(f"Settings file: {safe(str(file))}" + ("" if made else " (it was there and is as it was)"))
    say('Next: `ragstone sync`, then `ragstone search "your question"`.')


def template() -> str:
    """Return a settings file with everything that a project's file may say, explained and commented out."""
    lines = [_HEAD]
    section = ""
    for key in keys().values():
        if key.rules.secret or key.rules.personal:
            continue
        table, _, name = key.name.rpartition(".")
        if table != section:
            section = table
            lines.append(f"\n# [{table}]")
        lines.append(f"# {key.rules.doc}")
        lines.append(f"# {name} = {_toml(key.default)}" if key.default is not None else f"# {name} =")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _write(file: Path) -> bool:
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(template())
    except FileExistsError:
        return False
    return True
