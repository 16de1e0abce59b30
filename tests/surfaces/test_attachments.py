"""Files as attachments of a message."""

from __future__ import annotations

import os
import re
import sys
from base64 import b64decode
from pathlib import Path

import pytest

from ragstone.errors import InputError, ReadError
from ragstone.surfaces.attachments import attachment, extract_text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PICTURES = {
    "a.png": (PNG, "image/png"),
    "b.jpg": (b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
    "c.gif": (b"GIF89a" + bytes(20), "image/gif"),
    "d.webp": (b"RIFF\x10\0\0\0WEBP" + bytes(20), "image/webp"),
    "wrongly-named.txt": (PNG, "image/png"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_attached_as_base64_with_its_real_type(tmp_path: Path, name: str) -> None:
    data, media_type = PICTURES[name]
    (tmp_path / name).write_bytes(data)
    attached = attachment(tmp_path / name)
    assert (
        attached.name,
        attached.media_type,
        attached.kind,
        attached.text,
        attached.size,
    ) == (
        name,
        media_type,
        "image",
        "",
        len(data),
    )
    assert b64decode(attached.base64) == data
    assert attached.data_url == f"data:{media_type};base64,{attached.base64}"


@pytest.mark.parametrize(
    ("name", "data", "media_type", "text"),
    [
        ("notes.md", b"# Notes\n\ncaf\xc3\xa9\n", "text/markdown", "# Notes\n\ncafé\n"),
        ("run.py", b"x = 1\n", "text/plain", "x = 1\n"),
        ("rows.csv", b"a,b\n1,2\n", "text/csv", "a,b\n1,2\n"),
        ("data.json", b"{}", "application/json", "{}"),
        ("LICENSE", b"Free.\n", "text/plain", "Free.\n"),
        ("empty.txt", b"", "text/plain", ""),
        ("old.txt", "naïve".encode("utf-16"), "text/plain", "naïve"),
    ],
)
def test_a_text_file_is_attached_as_text(
    tmp_path: Path, name: str, data: bytes, media_type: str, text: str
) -> None:
    (tmp_path / name).write_bytes(data)
    attached = attachment(str(tmp_path / name))
    assert (attached.name, attached.media_type, attached.kind, attached.text) == (
        name,
        media_type,
        "text",
        text,
    )
    assert (attached.base64, attached.data_url) == ("", "")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.png", b"not a picture", "a.png is not a picture"),
        ("a.zip", b"PK\x03\x04" + bytes(40), r"a.zip: unsupported type .zip \(archive\)"),
        ("a.mp3", b"ID3" + bytes(40), r"unsupported type .mp3 \(audio\)"),
        ("a.svg", b"<svg/>", r"unsupported type .svg"),
        ("a.dat", bytes(range(256)) * 4, "a.dat: "),
    ],
)
def test_an_unsupported_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ReadError, match=message):
        attachment(tmp_path / name)


def test_a_file_above_the_size_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 101)
    with pytest.raises(
        ReadError,
        match=r"a.txt: too large: 101 bytes \(limit 100\) \(max_bytes= sets the limit\)",
    ):
        attachment(tmp_path / "a.txt", max_bytes=100)
    assert attachment(tmp_path / "a.txt", max_bytes=101).size == 101


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are of another kind there")
def test_no_link_pipe_or_folder_is_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "link.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    for name in ("link.txt", "pipe.txt", ".", "missing.txt"):
        with pytest.raises(ReadError):
            attachment(tmp_path / name)


def test_a_missing_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=re.escape(f"there is no file {tmp_path}/gone.pdf")):
        extract_text(f"{tmp_path}/gone.pdf")


@pytest.mark.parametrize("path", ["", None, 5])
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="is not a path"):
        attachment(path)
