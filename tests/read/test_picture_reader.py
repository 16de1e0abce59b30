"""Pictures of pages: drawn in a confined process, limited in time and size, with words marked."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.errors import ReadError
from ragstone.read.page_picture import draw_page
from ragstone.read.picture_reader import PictureReader
from tests.read.pdf_files import lines, pdf

ROOT = Path(__file__).parents[2]
START = (
    f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}, {str(ROOT)!r}];"
    "from tests.read.fake_picture_main import main; main()"
)
WHITE, YELLOW = (255, 255, 255), (255, 255, 114)
PAGES = [lines("The valve of the pump."), lines("Nothing here.")]


@pytest.fixture
def fake() -> Iterator[PictureReader]:
    reader = PictureReader([sys.executable, "-c", START], seconds=3.0)
    yield reader
    reader.close()


def decode(picture: bytes) -> tuple[int, int, set[tuple[int, int, int]]]:
    """Return the width, the height and the colours of a PNG without filters."""
    width, height = struct.unpack(">II", picture[16:24])
    size = struct.unpack(">I", picture[33:37])[0]
    rows = zlib.decompress(picture[41 : 41 + size])
    length = width * 3 + 1
    colours: set[tuple[int, int, int]] = set()
    for start in range(0, len(rows), length):
        row = rows[start + 1 : start + length]
        colours.update(zip(row[::3], row[1::3], row[2::3], strict=True))
    return width, height, colours


def test_a_page_is_drawn_in_the_confined_process() -> None:
    reader = PictureReader()
    try:
        picture = reader.draw(pdf(PAGES), 1)
        assert reader.pid is not None
    finally:
        reader.close()
    width, height, colours = decode(picture)
    assert (width, height) == (1000, 1295)
    assert WHITE in colours and min(colours) < (99, 99, 99) and YELLOW not in colours


def test_words_of_the_query_are_marked() -> None:
    assert YELLOW in decode(draw_page(pdf(PAGES), 1, frozenset({"valv"})))[2]
    assert YELLOW not in decode(draw_page(pdf(PAGES), 2, frozenset({"valv"})))[2]


def test_a_turned_page_is_marked_at_its_words() -> None:
    turned = pdf(PAGES, page="/Rotate 90")
    width, height, colours = decode(draw_page(turned, 1, frozenset({"pump"})))
    assert width > height and YELLOW in colours


def test_a_huge_page_gives_a_small_picture() -> None:
    huge = pdf(PAGES, page="/UserUnit 1").replace(b"[0 0 612 792]", b"[0 0 20 9e9]")
    width, height, _ = decode(draw_page(huge, 1, frozenset()))
    assert width <= 1000 and height <= 1600


@pytest.mark.parametrize("data", [b"no PDF", b"%PDF-1.7 broken"])
def test_a_damaged_file_gives_an_error(data: bytes) -> None:
    with pytest.raises(ReadError, match="cannot be drawn"):
        draw_page(data, 1, frozenset())


def test_a_page_that_does_not_exist_gives_an_error() -> None:
    with pytest.raises(ReadError, match="cannot be drawn"):
        draw_page(pdf(PAGES), 3, frozenset())


def test_a_picture_is_drawn_once(fake: PictureReader) -> None:
    first = fake.draw(b"a", 1)
    fake.close()
    assert fake.draw(b"a", 1) == first and fake.pid is None
    assert fake.draw(b"b", 1) != first


@pytest.mark.parametrize(
    ("page", "reason"), [(2, "crash"), (3, "timeout"), (4, "crash")], ids=str
)
def test_a_process_that_fails_costs_one_page(
    fake: PictureReader, page: int, reason: str
) -> None:
    with pytest.raises(ReadError) as caught:
        fake.draw(b"a", page)
    assert caught.value.reason == reason
    assert fake.draw(b"a", 1).startswith(b"\x89PNG")
