"""Options and checks that `eval` and `bench` share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone.errors import InputError
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.cli.options import CommandT, add_options
from ragstone.surfaces.cli.paths import project_folder

SECONDS: Final = 120.0


def measure_options(command: CommandT) -> CommandT:
    """Add the options of a measurement."""
    options = (
        click.option(
            "--seconds",
            type=click.FloatRange(5, 3600),
            default=SECONDS,
            show_default=True,
            help="The time that it may take; a large folder is measured in part.",
        ),
        click.option(
            "--seed",
            type=int,
            default=1,
            show_default=True,
            help="Another number chooses other questions.",
        ),
        click.option(
            "-y",
            "--yes",
            is_flag=True,
            help="Measure a home folder, or send every text to the service of the model.",
        ),
    )
    return add_options(command, options)


def measured_folder(folder: Path | None, *, agreed: bool) -> Path:
    """Return the folder to measure; raise `InputError` for a home folder unless the user agreed."""
    root = project_folder(folder)
    risk = is_risky(root)
    if risk and not agreed:
        raise InputError(
            f"{root} is not measured without your consent: {risk}",
            hint="--yes measures it, --folder names another folder",
        )
    return root
