"""PDFs for the sets: pages of prose and tables, drawn with the PDF writer of the tests."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.provenance import ROOT
from tests.read.pdf_files import pdf

OWN_DATA = ROOT / "evals" / "data"
NOTES = OWN_DATA / "mixed" / "notes"
PAPERS = OWN_DATA / "mixed" / "notes-papers.json"
LINE_CHARACTERS = 88
LINE_HEIGHT = 15
LEFT = 60
TOP = 780
COLUMN_WIDTH = 75
FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a heading, paragraphs, and the rows of a table below them."""

    heading: str
    paragraphs: Sequence[str]
    table: Sequence[Sequence[str]] = ()


def write_pdf(title: str, pages: Sequence[Page]) -> bytes:
    """Return a PDF with these pages; each begins with the title."""
    return pdf([draw_page(title, page) for page in pages], font=FONT)


def draw_page(title: str, page: Page) -> bytes:
    """Return the drawing commands of a page."""
    commands = [draw_text(LEFT, TOP, title, size=9)]
    height = TOP - 2 * LINE_HEIGHT
    commands.append(draw_text(LEFT, height, page.heading, size=15))
    height -= 2 * LINE_HEIGHT
    for paragraph in page.paragraphs:
        for line in textwrap.wrap(paragraph, LINE_CHARACTERS):
            commands.append(draw_text(LEFT, height, line))
            height -= LINE_HEIGHT
        height -= LINE_HEIGHT
    for row in page.table:
        for column, cell in enumerate(row):
            # The first column holds the label and is twice as wide.
            offset = 0 if column == 0 else (column + 1) * COLUMN_WIDTH
            commands.append(draw_text(LEFT + offset, height, cell))
        height -= LINE_HEIGHT
    return "\n".join(commands).encode("ascii")


def draw_text(left: int, height: int, text: str, *, size: int = 10) -> str:
    """Return the command that places a line."""
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {size} Tf 1 0 0 1 {left} {height} Tm ({escaped}) Tj ET"


def note_papers() -> dict[str, bytes]:
    """Return the PDFs of the notes by path."""
    papers = json.loads(PAPERS.read_text(encoding="utf-8"))
    written = {}
    for path, paper in papers.items():
        pages = [Page(heading, [text]) for heading, text in paper["pages"]]
        written[path] = write_pdf(paper["title"], pages)
    return written


def main(notes: Path = NOTES) -> None:
    """Write the PDFs of the notes."""
    for path, content in note_papers().items():
        target = notes / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


if __name__ == "__main__":
    main()
