"""Reading: pages and megabytes a second of every format, with the way to the process that reads and back."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from bench import measure
from bench.measure import child, tell
from tests.read.office_files import (
    docx,
    epub,
    notebook,
    opendocument,
    paragraph,
    pptx,
    row,
    shape,
    slide,
    xlsx,
)
from tests.read.pdf_files import lines, pdf

PAGES = 300
LINES = 46
WORDS = 13
REPEATS = 5
SEED = 4


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures: the file goes to a confined process and its text comes back, so two cores are at work."""
    return {"ours": child("bench.read", {}, cores=2), "ratios": {}}


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return, for a long document of each format, the seconds from its bytes to its text."""
    from ragstone.read.confined_reader import ConfinedReader
    from ragstone.read.file_formats import FORMATS

    pages = list(written(random.Random(SEED)))  # noqa: S311 - the same pages each time, and no secret
    one = pdf([lines("One line.")])
    with closing(ConfinedReader()) as warm:
        result = {
            "one line, process started": timed(warm, "pdf", one, times=1),
            "one line": timed(warm, "pdf", one, times=50),
        }
        for each in FORMATS:
            tell(f"read: {each.name}")
            data = MAKERS[each.name](pages)
            figures = timed(warm, each.name, data, times=REPEATS)
            result[each.name] = {**figures, "pages_per_s": round(PAGES / figures["seconds"])}
    return result


def timed(warm: Any, name: str, data: bytes, *, times: int) -> dict[str, float]:  # noqa: ANN401 - a ConfinedReader
    """Return the best time of some, and how large the file is."""
    taken = measure.milliseconds([lambda: warm.read(name, data, f"a.{name}")] * times)
    return {"seconds": round(min(taken) / 1000, 4), "file_mb": round(len(data) / 1e6, 3)}


def written(rng: random.Random) -> Iterator[list[str]]:
    """Yield pages of lines of made-up words."""
    words = [
        "".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 9))) for _ in range(5_000)
    ]
    for _ in range(PAGES):
        yield [" ".join(rng.choices(words, k=WORDS)) for _ in range(LINES)]


# ── the same pages in every format ────────────────────────────────────────────────────────────────

Pages = Sequence[Sequence[str]]


def _parts(pages: Pages, start: str, end: str) -> str:
    return "".join(f"{start}{' '.join(page)}{end}" for page in pages)


def _slides(pages: Pages) -> bytes:
    made = {str(number): slide(shape(page)) for number, page in enumerate(pages)}
    return pptx(made, list(made))


def _book(pages: Pages) -> bytes:
    made = {
        f"c{number}": f"<html><body><p>{' '.join(page)}</p></body></html>"
        for number, page in enumerate(pages)
    }
    return epub(made, list(made))


def _rows(pages: Pages) -> bytes:
    told = (line.split() for page in pages for line in page)
    return xlsx({"All": "".join(row(number, *cells) for number, cells in enumerate(told, 1))})


def _table(pages: Pages) -> bytes:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    told = (
        f"<table:table-row>{''.join(map(cell.format, line.split()))}</table:table-row>"
        for page in pages
        for line in page
    )
    return opendocument(
        "spreadsheet", f'<table:table table:name="All">{"".join(told)}</table:table>'
    )


def _drawn(pages: Pages) -> bytes:
    start = '<draw:page draw:name="p"><draw:frame><draw:text-box><text:p>'
    return opendocument(
        "presentation",
        _parts(pages, start, "</text:p></draw:text-box></draw:frame></draw:page>"),
    )


MAKERS: dict[str, Callable[[Pages], bytes]] = {
    "pdf": lambda pages: pdf([lines(*page) for page in pages]),
    "html": lambda pages: (
        f"<title>T</title><nav>n</nav><main>{_parts(pages, '<p>', '</p>')}</main>".encode()
    ),
    "docx": lambda pages: docx("".join(paragraph(" ".join(page)) for page in pages)),
    "pptx": _slides,
    "xlsx": _rows,
    "odt": lambda pages: opendocument("text", _parts(pages, "<text:p>", "</text:p>")),
    "ods": _table,
    "odp": _drawn,
    "epub": _book,
    "notebook": lambda pages: notebook(
        [{"cell_type": "markdown", "source": "\n".join(page)} for page in pages]
    ),
}


if __name__ == "__main__":
    measure.answer(work)
