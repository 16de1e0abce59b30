"""Scanned pages and pictures: limits for each file, pages that fail, and advice if nothing reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine, config
from ragstone.config import settings as settings_module
from ragstone.errors import MissingExtra, ReadError
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.read import choose_reader
from ragstone.read.choose_reader import is_binary, reader_for
from ragstone.read.ocr_reader import OcrReader
from ragstone.types import OcrLimits
from tests.read.pdf_files import lines, pdf
from tests.support.formats import get_format

DRAWING = b"0 0 m 100 100 l S"
ROOT = Path(__file__).parents[2]
START = (
    f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}, {str(ROOT)!r}];"
    "from tests.read.fake_ocr_main import main; main()"
)
FAKE = [sys.executable, "-c", START]


def scanned(count: int, *, first: str = "") -> bytes:
    """Return a PDF of pages without text; the first page may have one."""
    pages = [lines(first) if first else DRAWING, *[DRAWING] * (count - 1)]
    return pdf(pages)


@pytest.fixture
def ocr_reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[OcrReader]:
    reader = OcrReader(FAKE, page_seconds=3.0)
    monkeypatch.setattr(choose_reader, "OCR_READER", reader)
    yield reader
    reader.close()


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (settings_module, choose_reader):
        monkeypatch.setattr(module, "is_ocr_installed", lambda: False)


def test_pages_without_text_get_it_and_keep_their_numbers(ocr_reader: OcrReader) -> None:
    data = scanned(3, first="Words of the first page.")
    document = reader_for("a.pdf", data, OcrLimits()).read(data, "a.pdf")
    texts = ["Words of the first page.", "Recognised page 2.", "Recognised page 3."]
    assert [mark.number for mark in document.marks] == [1, 2, 3]
    for mark, text in zip(document.marks, texts, strict=True):
        assert document.text[mark.start :].startswith(text)
    assert document.remarks == ("pages 2–3 have been recognised (OCR)",)


def test_a_page_that_fails_costs_only_itself(ocr_reader: OcrReader) -> None:
    data = scanned(8)
    document = reader_for("a.pdf", data, OcrLimits()).read(data, "a.pdf")
    assert [page for page in range(1, 9) if f"Recognised page {page}." in document.text] == [
        1,
        2,
        3,
        8,
    ]
    assert document.remarks == (
        "pages 1–3, 8 have been recognised (OCR)",
        "page 4: the process that recognises its text failed",
        "page 5: recognising its text takes too long",
        "page 6: the page cannot be drawn",
    )


def test_the_pages_of_a_file_are_limited(ocr_reader: OcrReader) -> None:
    data = scanned(4)
    document = reader_for("a.pdf", data, OcrLimits(pages=2)).read(data, "a.pdf")
    assert "Recognised page 2." in document.text and "page 3" not in document.text
    assert document.remarks[-1] == "pages 3–4 have no text: the limits of OCR are reached"


def test_the_seconds_of_a_file_are_limited(ocr_reader: OcrReader) -> None:
    data = scanned(9)
    document = reader_for("a.pdf", data, OcrLimits(seconds=1)).read(data, "a.pdf")
    assert "Recognised page 3." in document.text
    assert "Recognised page 8." not in document.text
    assert "page 5: recognising its text takes too long" in document.remarks
    assert any(
        "have no text: the limits of OCR are reached" in note for note in document.remarks
    )


def test_a_picture_is_a_document(ocr_reader: OcrReader) -> None:
    assert not is_binary(b"\x89PNG\r\n\x1a\n\0", "shot.png", OcrLimits())
    document = reader_for("shot.png", b"\x89PNG", OcrLimits()).read(b"\x89PNG", "shot.png")
    assert (document.text, document.kind) == ("Recognised page 0.", "doc")


def test_a_file_without_any_recognised_text_has_a_typed_reason(ocr_reader: OcrReader) -> None:
    data = pdf([DRAWING, DRAWING], info="/Subject(Blank)")
    with pytest.raises(ReadError, match="and no text could be recognised") as caught:
        reader_for("a.pdf", data, OcrLimits()).read(data, "a.pdf")
    assert caught.value.reason == "no-text-layer"


@pytest.mark.usefixtures("not_installed")
def test_without_the_package_the_reason_names_the_line_that_installs_it(tmp_path: Path) -> None:
    advice = 'pip install "ragstone[ocr]"'
    data = scanned(2)
    with pytest.raises(ReadError, match="no page has a text layer") as caught:
        reader_for("a.pdf", data).read(data, "a.pdf")
    assert advice in caught.value.message and caught.value.reason == "no-text-layer"
    mixed = scanned(2, first="Words.")
    assert advice in reader_for("b.pdf", mixed).read(mixed, "b.pdf").remarks[0]
    with pytest.raises(ReadError, match="unsupported type .png") as caught:
        reader_for("a.png", b"\x89PNG")
    assert advice in caught.value.hint
    (tmp_path / "a.pdf").write_bytes(data)
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        (failure,) = engine.sync().failed
        assert advice in failure.reason


@pytest.mark.usefixtures("not_installed")
def test_the_setting_chooses_and_a_missing_package_is_named(tmp_path: Path) -> None:
    assert config.load(tmp_path, environ={}).ocr is None
    with pytest.raises(MissingExtra) as caught:
        _ = config.load(tmp_path, {"read.ocr": "on"}, environ={}).ocr
    assert caught.value.hint == "pip install 'ragstone[ocr]'"


def test_files_are_read_again_when_recognition_is_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_module, "is_ocr_installed", lambda: True)
    recipes = []
    for mode in ("off", "auto", "on"):
        settings = config.load(tmp_path, {"read.ocr": mode}, environ={})
        recipes.append(ChunkingConfig.from_settings(settings, {}).recipe)
    assert recipes[0] != recipes[1] == recipes[2]


def test_the_confined_reader_accepts_a_pdf_of_pictures_alone() -> None:
    document = get_format("scanned-pdf").load()(scanned(3), "a.pdf")
    assert not document.text.strip()
    assert len(document.marks) == 3
