"""The lines of a hit: each stands below its own heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.surfaces.cli.hits import print_hits
from ragstone.surfaces.present.excerpt_lines import choose_lines

FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}
PLAN = """# Works

## Spring

Paint the sheds with the register of colours.

## Autumn

Replace the cash register.
Order salt.
"""


def test_a_line_of_markdown_is_printed_below_its_heading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.md").write_text(PLAN, encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        print_hits(engine.search("works cash register", top_k=1), "works cash register")
    lines = [line.split(maxsplit=1)[-1] for line in capsys.readouterr().out.splitlines()]
    assert lines.index("## Autumn") == lines.index("Replace the cash register.") - 1
    assert lines.index("## Spring") < lines.index("## Autumn")


def test_a_line_without_room_for_its_heading_is_left_out() -> None:
    lines = dict(enumerate(PLAN.splitlines(), start=1))
    assert choose_lines(lines, [9, 5, 1], 2, has_headings=True) == [7, 9]
    assert choose_lines(lines, [9, 5, 1], 2, has_headings=False) == [5, 9]


def test_a_comment_of_code_is_no_heading() -> None:
    lines = {1: "# Works", 2: "```sh", 3: "# install", 4: "make", 5: "```", 6: "Then rest."}
    assert choose_lines(lines, [6], 2, has_headings=True) == [6]
