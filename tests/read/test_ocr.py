"""Text in pictures, recognised for real: found by a question, with its page, and nothing leaves the machine."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rapidocr", reason="needs ragstone[ocr]: `make test-ocr` installs it")

from PIL import Image, ImageDraw, ImageFont

from ragstone import Engine
from ragstone.errors import ReadError
from ragstone.read.ocr_reader import OcrReader

HANDBOOK = (
    "Quarry safety handbook",
    "",
    "The granite crusher must be switched off before",
    "anybody opens the lower hatch. The key hangs in",
    "the foreman's cabin, on hook number 17.",
)
MENU = ("Canteen menu", "", "Pea soup is served on Thursdays at noon.")


def draw(lines: tuple[str, ...]) -> Image.Image:
    """Return a page with printed text, as a scanner would see it."""
    page = Image.new("RGB", (1000, 700), "white")
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(size=28)
    for number, line in enumerate(lines):
        pen.text((80, 80 + 50 * number), line, fill="black", font=font)
    return page


def picture(lines: tuple[str, ...], kind: str) -> bytes:
    buffer = io.BytesIO()
    draw(lines).save(buffer, kind)
    return buffer.getvalue()


def open_engine(folder: Path, mode: str = "auto") -> Engine:
    config = {"rag.embedding_provider": "fake", "read.ocr": mode}
    return Engine.open(folder, config=config)


def test_scanned_pages_and_pictures_are_found_by_a_question(tmp_path: Path) -> None:
    draw(MENU).save(tmp_path / "scan.pdf", save_all=True, append_images=[draw(HANDBOOK)])
    (tmp_path / "board.png").write_bytes(picture(("Blasting on Tuesdays at 14:30",), "PNG"))
    (tmp_path / "note.jpg").write_bytes(picture(("Slate is sold by the square metre",), "JPEG"))
    with open_engine(tmp_path, "off") as engine:
        (failure,) = engine.sync().failed
        assert "no page has a text layer (scanned?); read.ocr is off" in failure.reason
    with open_engine(tmp_path) as engine:
        report = engine.sync()
        assert not report.failed and report.indexed == 3
        (hit, *_) = engine.search("Where does the key of the granite crusher hang?")
        assert hit.citation == "scan.pdf p.2"
        assert "hook number 17" in hit.text
        assert engine.search("pea soup on Thursdays")[0].citation == "scan.pdf p.1"
        assert engine.search("When is blasting?")[0].source_doc_id == "board.png"
        assert engine.search("price of slate")[0].source_doc_id == "note.jpg"
        assert engine.sync().indexed == 0, "nothing is recognised twice"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\nnot a picture", "damaged"),
        (picture(("",), "PNG"), "no-text-layer"),
        (picture(("x",), "PNG")[:300], "damaged"),
        (b"GIF89a", "damaged"),
    ],
    ids=["damaged", "blank", "cut", "another format"],
)
def test_a_picture_without_text_has_a_typed_reason(data: bytes, reason: str) -> None:
    reader = OcrReader()
    with pytest.raises(ReadError) as caught:
        reader.read_image(data, "a.png")
    assert caught.value.reason == reason
    reader.close()


def test_a_huge_picture_in_a_small_file_is_refused() -> None:
    buffer = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(buffer, "PNG")
    reader = OcrReader()
    with pytest.raises(ReadError) as caught:
        reader.read_image(buffer.getvalue(), "bomb.png")
    assert caught.value.reason in ("too-big", "damaged")
    assert reader.read_image(picture(MENU, "PNG"), "menu.png").text
    reader.close()


CONFINED = """
import socket, sys
from ragstone.read.confine import confine
from ragstone.read import ocr
data = sys.stdin.buffer.read()
confine(sys.path, memory=2 << 30)
text = ocr.recognise_image(data)
refused = 0
for attempt in (lambda: socket.socket(), lambda: open("/etc/hostname"), lambda: open("x", "w")):
    try:
        attempt()
    except OSError:
        refused += 1
print(refused, text)
"""
WATCHED = """
import sys
events = []
sys.addaudithook(lambda name, _: events.append(name) if name.startswith(("socket.", "urllib.", "http.")) else None)
from ragstone.read import ocr
text = ocr.recognise_image(sys.stdin.buffer.read())
local = ("socket.__new__", "socket.bind")  # at its import, urllib3 looks if the machine has IPv6
print([name for name in events if name not in local], text)
"""


def run(code: str, data: bytes, home: Path) -> str:
    variables = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=data,
        env=variables,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout.decode()


def test_recognition_works_without_network_and_without_other_files(tmp_path: Path) -> None:
    printed = run(CONFINED, picture(MENU, "PNG"), tmp_path)
    assert printed.startswith("3 ") and "Pea soup" in printed


def test_recognition_asks_for_no_network_and_writes_no_file(tmp_path: Path) -> None:
    printed = run(WATCHED, picture(MENU, "PNG"), tmp_path)
    assert printed.startswith("[] ") and "Pea soup" in printed
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
