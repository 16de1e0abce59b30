from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.errors import ReadError
from ragstone.read import BINARY
from ragstone.read.encoding import decode_text, is_binary

WHOLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
BROKEN = st.text(st.characters(exclude_characters="\0") | st.sampled_from("\ud83d\ude00\udc80"))
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
SAMPLES = {
    "cp932": "日本語の文章です。設定ファイルを読み込む。\r\nプログラムの説明。",
    "euc_jp": "日本語の文章です。設定ファイルを読み込む。\nプログラムの説明。",
    "gb18030": "这是一个中文文本,用于测试编码检测。程序读取配置文件。",
    "cp949": "이것은 한국어 텍스트입니다. 설정 파일을 읽습니다.",
    "cp1251": "Это русский текст для проверки кодировки.",
    "koi8_r": "Это русский текст для проверки кодировки.",
    "cp1250": "Zażółć gęślą jaźń, proszę bardzo",
    "latin-1": "Räksmörgås på en ö; le café à côté; Grüße aus Köln; El niño comió",
    "cp1252": "It’s a “quote” — and a café for 5 €",
}


@given(WHOLE)
def test_utf8_is_kept_character_by_character(text: str) -> None:
    data = text.encode()
    if is_binary(data) or text.startswith("\ufeff"):
        return
    assert decode_text(data) == (text, "utf-8")


@pytest.mark.parametrize("encoding", MARKS)
@given(text=WHOLE)
@settings(max_examples=60)
def test_a_mark_decides_and_is_not_part_of_the_text(encoding: str, text: str) -> None:
    data = MARKS[encoding] + text.encode(encoding)
    assert not is_binary(data)
    assert decode_text(data) == (text, encoding)


def whole(text: str) -> str:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", joined)


@pytest.mark.parametrize("encoding", MARKS)
@given(text=BROKEN)
@example(text="\x1f\ud80000\U00010000")
@settings(max_examples=60)
def test_a_lone_surrogate_is_escaped_and_the_text_around_it_stays(
    encoding: str, text: str
) -> None:
    found = decode_text(MARKS[encoding] + text.encode(encoding, "surrogatepass")).text
    assert found == whole(text)
    assert found.encode("utf-8").decode("utf-8") == found


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    [
        "a",
        "hello\r\n",
        "Grüße\n",
        "日本語の\n文章",
        "x = '一'\n" * 900,
        "emoji 😀 " * 2000,
        "привет, мир\n",
    ],
)
def test_wide_text_without_a_mark_is_recognised(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    assert not is_binary(data)
    assert decode_text(data) == (text, encoding)


@pytest.mark.parametrize("encoding", SAMPLES)
@pytest.mark.parametrize("times", [1, 300])
def test_other_encodings_are_found_by_their_letters(encoding: str, times: int) -> None:
    text = "plain = 1\n" * 50 + f"{SAMPLES[encoding]}\n" * times
    assert decode_text(text.encode(encoding)).text == text


@given(st.binary(max_size=300).map(lambda data: data.replace(b"\0", b"\xe9")))
@settings(max_examples=200)
def test_bytes_are_either_complete_text_or_binary(data: bytes) -> None:
    if is_binary(data):
        with pytest.raises(ReadError, match=BINARY):
            decode_text(data)
        return
    try:
        text, encoding = decode_text(data)
    except ReadError as error:
        assert error.message.startswith("broken UTF-")
        return
    assert text.encode("utf-8").decode("utf-8") == text
    if encoding == "latin-1":
        assert text.encode("latin-1") == data
    elif encoding not in MARKS:
        assert len(text) >= len(data) / 4


def test_a_few_invalid_bytes_do_not_change_the_encoding() -> None:
    data = "naïve café déjà vu\n".encode() * 20 + b"caf\xe9\n"
    assert decode_text(data) == ("naïve café déjà vu\n" * 20 + "café\n", "utf-8")


def test_newlines_of_all_systems_stay_as_they_are() -> None:
    text = "a\r\nb\rc\nd\u2028e\x0bf\x85g"
    assert decode_text(text.encode()).text == text


def test_text_is_not_normalised_or_reordered() -> None:
    text = "é e\u0301 \u202eabc\u202c \u200b\ufeff"
    assert decode_text(text.encode()).text == text


def test_a_line_of_ten_megabytes_is_one_line() -> None:
    data = b"x" * 10_000_000
    assert len(decode_text(data).text) == 10_000_000
    assert decode_text("é".encode("latin-1") * 10_000_000).text == "é" * 10_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"text\0text",
        b"\0",
        b"\x89PNG\r\n\x1a\n",
        b"%PDF-1.7\n",
        b"PK\x03\x04rest",
        b"\x7fELF\x01",
        b"\x1f\x8b\x08",
        codecs.BOM_UTF8 + b"a\0",
        codecs.BOM_UTF16_LE + b"a\0\0\0b\0",
        bytes(range(1, 256)) * 4,
        b"a" * 20_000 + b"\0",
    ],
)
def test_bytes_that_are_not_text_are_binary(data: bytes) -> None:
    assert is_binary(data)
    with pytest.raises(ReadError, match=BINARY):
        decode_text(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"ID3 tags explained", b"GIF89a is a format", b"PK is short for", b"\xe9"],
)
def test_text_that_starts_like_something_else_is_text(data: bytes) -> None:
    assert not is_binary(data)
    assert len(decode_text(data).text) == len(data)


def test_broken_wide_text_is_refused_whole() -> None:
    with pytest.raises(ReadError, match="broken UTF-16"):
        decode_text(codecs.BOM_UTF16_LE + b"a\0b")
