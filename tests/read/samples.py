"""Small sound files of every format, to be read as they are and to be damaged."""

from __future__ import annotations

import importlib
import importlib.util
import io
import random
import zipfile
from collections.abc import Callable, Iterator

from tests.read import hostile_pdf
from tests.read.hostile_pdf import mutated
from tests.read.pdf_files import Pdf, content, lines, pdf

Make = Callable[[random.Random], bytes]

FRAGMENTS = (
    [
        "word",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "\x0c",
        "Sentence one. ",
        "e.g. ",
        "字。",
        "é",
        "👍🏽",
        "ffi",
        "- item\n",
    ]
    + [
        "# Title\n",
        "| a | b |\n",
        "```\n",
        "def f(x):\n    return x\n",
        "a" * 60,
        "key: value\n",
        '{"a": [1, null]}\n',
    ]
    + [
        "a,b\n1,2\n",
        "<p>text</p>\n",
        "[section]\n",
        "hyphen-\nated ",
        "\u2028",
        "\xa0",
        "\u202e",
        "e\u0301",
        "x" * 3000,
    ]
)
ENCODINGS = (
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-be",
    "utf-32",
    "cp1252",
    "shift_jis",
    "koi8-r",
    "gb18030",
)


def some_text(rng: random.Random, most: int = 40) -> str:
    """Return a text of odd pieces."""
    return "".join(rng.choice(FRAGMENTS) for _ in range(rng.randrange(most)))


def _pdf(rng: random.Random) -> bytes:
    pages = [lines(*some_text(rng).splitlines()[:50]) for _ in range(rng.randint(1, 3))]
    drawings = [content(page, size=rng.choice((6, 10, 30))) for page in pages]
    labels = rng.choice(("", "0<</S/r>>", "0<</P(A-)/S/D/St 7>>"))
    made = pdf(
        drawings, labels=labels, info=rng.choice(("", "/Title(A title)/Author(Somebody)"))
    )
    return made if rng.random() < 0.5 else _open(drawings)


def _open(drawings: list[bytes]) -> bytes:
    """Return a PDF whose drawings are not compressed, so that damage reaches them."""
    made = Pdf()
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(drawings)))
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add(f"<</Type/Pages/Count {len(drawings)}/Kids[{kids}]>>")
    for drawing in drawings:
        at = made.stream(drawing, pack=False)
        font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
        about = f"/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {at} 0 R/Resources<</Font<</F1 {font}>>>>"
        made.add(f"<</Type/Page{about}>>")
    return made.bytes(1)


SAMPLES: dict[str, Make] = {"pdf": _pdf}
HOSTILE: list[Callable[[random.Random], Iterator[tuple[str, bytes]]]] = [hostile_pdf.hostile]
if importlib.util.find_spec("tests.read.office_files"):
    _office = importlib.import_module("tests.read.office_files")
    SAMPLES |= _office.SAMPLES
    HOSTILE.append(_office.hostile)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file with damage; that in an archive is often done to what it holds."""
    if not data.startswith(b"PK\x03\x04") or rng.random() < 0.4:
        return mutated(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    members[name] = mutated(members[name], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return stream.getvalue()
