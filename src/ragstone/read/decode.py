"""Bytes to text with no character lost: byte order marks first, then UTF-8, then the likeliest other encoding.

Newlines stay as they are, a byte order mark is not part of the text. Half of a surrogate pair, which no store can
hold, is written out as its escape (`\\ud83d`).
"""

from __future__ import annotations

import codecs
import importlib
import re
import unicodedata
from typing import NamedTuple

from ragstone.errors import ReadError
from ragstone.read import BINARY as BINARY

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = tuple(encoding for _, encoding in _MARKS)
# Only signatures that no text starts with: names are looked at first, and most other formats hold zero bytes.
_MAGIC = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"%PDF-",
    b"{\\rtf",
    b"\x7fELF",
    b"\x1f\x8b",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"\x28\xb5\x2f\xfd",
    b"\xd0\xcf\x11\xe0",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\v\b\x1b")
_MOST_CONTROLS = 0.05
# What charset-normalizer may choose from: common enough to be right, few enough not to be guessed at random.
_LIKELY = (
    *("cp1252", "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1255"),
    *("cp1256", "cp1254"),
)
_OTHER_ALPHABETS = frozenset({"cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"})
_HIGH = bytes(range(128, 256))
_RUN = re.compile(rb"[\x80-\xff]{3,}")
_SAMPLE = 64 * 1024
_SHORT = 8 * 1024
_LONE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile("[\udc80-\udcff]")
_ODD = frozenset({"Cc", "Cn"})


class Decoded(NamedTuple):
    """Text and the encoding it was in."""

    text: str
    encoding: str


def is_binary(data: bytes, uri: str = "") -> bool:
    """Return whether bytes are not text: a known signature, zero bytes that no wide encoding explains, or noise."""
    if data.startswith(_MAGIC):
        return True
    marked = _marked(data)
    if marked is not None:
        return "\0" in data[len(marked[0]) :].decode(marked[1], "replace")
    if b"\0" in data:
        return _wide(data) is None
    return _is_noise(data[:_SHORT])


def decode(data: bytes) -> Decoded:
    """Return the whole text, or raise `ReadError`."""
    if is_binary(data):
        raise ReadError(BINARY)
    marked = _marked(data)
    if marked is not None:
        return _strictly(data[len(marked[0]) :], marked[1])
    if b"\0" in data:
        return _strictly(data, _wide(data) or "utf-16-le")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _nearly_utf8(data) or _guess(data)


def _is_noise(head: bytes) -> bool:
    """Return whether there are more control characters than text has, in bytes that are not UTF-8."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls <= len(head) * _MOST_CONTROLS:
        return False
    try:
        head[:-4].decode("utf-8", "surrogatepass")  # half a pair is odd, and still text
    except UnicodeDecodeError as error:
        return error.start < len(head) - 8  # a character cut by the end of the head proves nothing
    return False


def _marked(data: bytes) -> tuple[bytes, str] | None:
    """Return the mark that wide text starts with, and the encoding it means."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and not (encoding.startswith("utf-32") and len(data) % 4):
            return mark, encoding
    return None


def _strictly(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(_whole(data.decode(encoding, "surrogatepass")), encoding)
    except UnicodeDecodeError as error:
        raise ReadError(f"broken {encoding.upper()} text at byte {error.start:,}") from error


def _whole(text: str) -> str:
    """Return text with surrogate pairs joined and lone halves written out."""
    if _LONE.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", joined)


def _wide(data: bytes) -> str | None:
    """Return the encoding of two or four bytes a character that makes most sense of zero bytes, or None."""
    best = max(_WIDE, key=lambda encoding: _sense(data, encoding))
    return best if _sense(data, best) >= 0 else None


def _sense(data: bytes, encoding: str) -> int:
    """Return how many everyday characters an encoding finds in the first bytes; -1 if it finds odd ones."""
    width = 4 if "32" in encoding else 2
    if len(data) % width:
        return -1
    try:
        text = data[:_SHORT].decode(encoding, "surrogatepass")
        if any(unicodedata.category(sign) in _ODD and sign not in "\t\n\r\f\v\b\x1b" for sign in text):
            return -1
        data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return -1
    return sum(sign < "\x7f" for sign in text)


def _nearly_utf8(data: bytes) -> Decoded | None:
    """Return UTF-8 text with a few foreign bytes, each read as Latin-1; None when it is not UTF-8 at heart."""
    try:
        return Decoded(_whole(data.decode("utf-8", "surrogatepass")), "utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    bad = len(data) - len(text.encode("utf-8", "ignore"))
    good = len(text) - bad - len(data.translate(None, _HIGH))
    if good < 4 * bad:
        return None
    return Decoded(_ESCAPED.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), text), "utf-8")


def _guess(data: bytes) -> Decoded:
    """Return the text in the encoding that its letters speak for; Latin-1, which takes every byte, at the last."""
    for encoding in (*_candidates(data), "cp1252"):
        try:
            return Decoded(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return Decoded(data.decode("latin-1"), "latin-1")


def _candidates(data: bytes) -> list[str]:
    """Return the likeliest encodings, best first, from a sample around the first byte that is not ASCII."""
    normalizer = importlib.import_module("charset_normalizer")  # heavy, and seldom needed
    first = next(re.finditer(rb"[\x80-\xff]", data)).start()
    start = data.rfind(b"\n", max(0, first - _SHORT), first) + 1 or max(0, first - 1)
    end = data.rfind(b"\n", start, start + _SAMPLE)
    sample = data[start : end if end > first else start + _SAMPLE]
    # Words of another alphabet are runs of high bytes; single ones among ASCII letters are accents and quotes.
    runs = 2 * sum(map(len, _RUN.findall(sample))) > len(sample) - len(sample.translate(None, _HIGH))
    likely = [name for name in _LIKELY if runs or name not in _OTHER_ALPHABETS]
    ranked = [
        # A match also names the encodings that give the very same text.
        (match.chaos, -match.coherence, min(map(likely.index, set(likely).intersection(match.could_be_from_charset))))
        for match in normalizer.from_bytes(sample, cp_isolation=likely)
    ]
    # Of those that read equally well, the commonest.
    return [likely[place] for _, _, place in sorted(ranked)]
