"""`ragstone init`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone import config
from ragstone.config.settings import setting_keys
from ragstone.engine import Engine
from ragstone.store.home_folder import make_home
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, printable

_HEADER: Final = """\
# Settings of Ragstone for this folder. Every line is commented out and shows the default.
# An environment variable RAGSTONE_<SECTION>_<NAME> overrides this file.
"""


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone init",
        "ragstone init -C ~/notes",
    ),
)
@common_options
def init(folder: Path | None, as_json: bool) -> None:
    """Create the index folder and a settings file to edit; existing files are not changed."""
    with Engine.open(folder or Path.cwd()) as engine:
        home = make_home(engine.home, trusted=engine.settings.home_named)
        file = config.project_file(engine.folder)
        is_new = _create_settings_file(file)
    if as_json:
        print_json(
            {"success": True, "home": str(home), "config": str(file), "config_made": is_new}
        )
        return
    unchanged = "" if is_new else " (it existed and was not changed)"
    print_line(f"Index folder: {printable(str(home))}")
    print_line(f"Settings file: {printable(str(file))}{unchanged}")
    print_line('Next: `ragstone sync`, then `ragstone search "your question"`.')


def settings_template() -> str:
    """Return a settings file with every project setting explained and commented out."""
    lines = [_HEADER]
    current_section = ""
    for key in setting_keys().values():
        if key.rules.secret or key.rules.personal:
            continue
        section, _, name = key.name.rpartition(".")
        if section != current_section:
            current_section = section
            lines.append(f"\n# [{section}]")
        default = "" if key.default is None else f" {format_toml(key.default)}"
        lines += [f"# {key.rules.doc}", f"# {name} ={default}"]
    return "\n".join(lines) + "\n"


def format_toml(value: object) -> str:
    """Return a setting's value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def _create_settings_file(file: Path) -> bool:
    """Write the template unless the file exists; return whether it was written."""
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(settings_template())
    except FileExistsError:
        return False
    return True
