"""Write the output of `ragstone demo` and the newest figures into the README, and draw docs/terminal.svg."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from readme_figures import quality_table
from terminal_svg import make_svg

ROOT: Final = Path(__file__).resolve().parent.parent
README: Final = ROOT / "README.md"
PICTURE: Final = ROOT / "docs" / "terminal.svg"
BLOCK: Final = re.compile(
    r"(?<=<!-- demo -->\n```console\n).*?(?=```\n<!-- /demo -->)", re.DOTALL
)
FIGURES: Final = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)
_LONG_STEP: Final = re.compile(r"\n[^\n]*# A context for a prompt.*?\n(?=[^\n]*# )", re.DOTALL)
"""Left out of the picture."""
_PROGRESS: Final = re.compile(
    r"^(?:\x1b\[[\d;]*m)*\w+: [\d,]+(?: of [\d,]+)? (?:files|texts)(?:\x1b\[[\d;]*m)*\n", re.M
)
"""Lines that a slow run prints while it works."""


def record(*, colour: bool = False) -> str:
    """Run the demo and return the output as a user sees it."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR") and not name.startswith("RAGSTONE_")
    }
    environment |= {"FORCE_COLOR": "1"} if colour else {"NO_COLOR": "1"}
    command = [sys.executable, "-m", "ragstone", "demo"]
    output = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        encoding="utf-8",
    ).stdout
    return _PROGRESS.sub("", output).lstrip("\n")


def readme_output() -> str:
    """Return the output that the README shows."""
    match = BLOCK.search(README.read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("the README has no place for the demo")
    return match.group()


def normalise(output: str) -> str:
    """Return output without times, scores and fence marks, which differ between runs and versions."""
    output = re.sub(r"\b\d+\.\d s\b", "0.0 s", output)
    output = re.sub(
        r"\b\d+ of (\d+) tokens\b", r"0 of \1 tokens", output
    )  # as the mark has them
    output = re.sub(r"<<<(\w+) [0-9a-f]+>>>", r"<<<\1>>>", output)
    output = re.sub(r"(?m)^(File: .*\]) #[0-9a-f]{4}$", r"\1", output)
    return re.sub(r"  [01]\.\d\d  ", "  0.00  ", output)


def main() -> int:
    """Write both files."""
    output = record()
    text = BLOCK.sub(lambda _: output, README.read_text(encoding="utf-8"))
    text = FIGURES.sub(lambda _: quality_table(), text)
    README.write_text(text, encoding="utf-8")
    picture = _LONG_STEP.sub("\n", record(colour=True))
    PICTURE.write_text(make_svg(picture, "A session with Ragstone"), encoding="utf-8")
    print(f"wrote {README.name} and {PICTURE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
