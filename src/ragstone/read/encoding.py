"""Decoding bytes to text without losing a character.

The order is: byte order mark, UTF-8, then the likeliest other encoding. Newlines stay unchanged and
a byte order mark is not part of the text. A lone surrogate becomes its escape (`\\ud83d`), because
no store can hold it.
"""

from __future__ import annotations

import codecs
import importlib
import re
import unicodedata
from typing import Final, NamedTuple

from ragstone.errors import ReadError
from ragstone.read import BINARY

_WIDE_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_ENCODINGS: Final = tuple(encoding for _, encoding in _WIDE_MARKS)
# Only signatures that no text starts with. Most other binary formats have zero bytes.
_SIGNATURES: Final = (
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
_TEXT_CONTROLS: Final = "\t\n\r\f\v\b\x1b"
_CONTROLS: Final = bytes(code for code in range(32) if chr(code) not in _TEXT_CONTROLS)
_MAX_CONTROL_SHARE: Final = 0.05
# Common enough to be right, and few enough for a guess.
_OTHER_ALPHABETS: Final = ("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256")
_LIKELY: Final = (
    *(
        "cp1252",
        "cp932",
        "euc_jp",
        "gb18030",
        "big5",
        "cp949",
        "cp1251",
        "koi8_r",
        "cp1250",
        "cp1253",
        "cp1255",
    ),
    *("cp1256", "cp1254"),
)
_HIGH_BYTES: Final = bytes(range(128, 256))
_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]{3,}")
_SAMPLE_BYTES: Final = 64 * 1024
_HEAD_BYTES: Final = 8 * 1024
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_BYTE: Final = re.compile("[\udc80-\udcff]")


class DecodedText(NamedTuple):
    """Text and the encoding it was in."""

    text: str
    encoding: str


def is_binary(data: bytes) -> bool:
    """Return whether bytes are not text: a known signature, unexplained zero bytes, or noise."""
    if data.startswith(_SIGNATURES):
        return True
    marked = _find_mark(data)
    if marked is not None:
        mark, encoding = marked
        return "\0" in data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data:
        return _guess_wide_encoding(data) is None
    return _is_noise(data[:_HEAD_BYTES])


def decode_text(data: bytes) -> DecodedText:
    """Return the text, or raise `ReadError`."""
    if is_binary(data):
        raise ReadError(BINARY)
    marked = _find_mark(data)
    if marked is not None:
        mark, encoding = marked
        return _decode_wide(data[len(mark) :], encoding)
    if b"\0" in data:
        return _decode_wide(data, _guess_wide_encoding(data) or "utf-16-le")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _decode_damaged_utf8(data) or _decode_by_guess(data)


def _is_noise(head: bytes) -> bool:
    """Return whether bytes that are not UTF-8 have more control characters than text has."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls <= len(head) * _MAX_CONTROL_SHARE:
        return False
    try:
        head[:-4].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        return error.start < len(head) - 8  # the end of the head may cut a character
    return False


# ── encodings of two and four bytes ───────────────────────────────────────────────────────────────


def _find_mark(data: bytes) -> tuple[bytes, str] | None:
    """Return the byte order mark of wide text and its encoding."""
    for mark, encoding in _WIDE_MARKS:
        is_cut = encoding.startswith("utf-32") and len(data) % 4
        if data.startswith(mark) and not is_cut:
            return mark, encoding
    return None


def _decode_wide(data: bytes, encoding: str) -> DecodedText:
    try:
        text = data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError as error:
        raise ReadError(f"broken {encoding.upper()} text at byte {error.start:,}") from error
    return DecodedText(_escape_surrogates(text), encoding)


def _escape_surrogates(text: str) -> str:
    """Return text with surrogate pairs joined and lone surrogates escaped."""
    if _SURROGATE.search(text) is None:
        return text
    pairs = text.encode("utf-16-le", "surrogatepass")
    joined = pairs.decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", joined)


def _guess_wide_encoding(data: bytes) -> str | None:
    """Return the wide encoding that explains the zero bytes best, or None."""
    scores = {encoding: _count_ascii(data, encoding) for encoding in _WIDE_ENCODINGS}
    best = max(_WIDE_ENCODINGS, key=scores.__getitem__)
    return best if scores[best] >= 0 else None


def _count_ascii(data: bytes, encoding: str) -> int:
    """Return how many ASCII characters an encoding gives in the first bytes; -1 if it does not fit."""
    width = 4 if "32" in encoding else 2
    if len(data) % width:
        return -1
    try:
        text = data[:_HEAD_BYTES].decode(encoding, "surrogatepass")
        if any(map(_is_odd, text)):
            return -1
        data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return -1
    return sum(character < "\x7f" for character in text)


def _is_odd(character: str) -> bool:
    """Return whether a character is a control or unassigned."""
    if character in _TEXT_CONTROLS:
        return False
    return unicodedata.category(character) in ("Cc", "Cn")


# ── other encodings ───────────────────────────────────────────────────────────────────────────────


def _decode_damaged_utf8(data: bytes) -> DecodedText | None:
    """Return UTF-8 text with a few foreign bytes, each read as Latin-1; None if most of it is not UTF-8."""
    try:
        return DecodedText(
            _escape_surrogates(data.decode("utf-8", "surrogatepass")),
            "utf-8",
        )
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    foreign = len(data) - len(text.encode("utf-8", "ignore"))
    ascii_count = len(data.translate(None, _HIGH_BYTES))
    valid = len(text) - foreign - ascii_count
    if valid < 4 * foreign:
        return None
    latin = _ESCAPED_BYTE.sub(lambda match: chr(ord(match[0]) - 0xDC00), text)
    return DecodedText(latin, "utf-8")


def _decode_by_guess(data: bytes) -> DecodedText:
    """Return the text in the likeliest encoding; Latin-1 takes every byte and comes last."""
    for encoding in (*_rank_encodings(data), "cp1252"):
        try:
            return DecodedText(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return DecodedText(data.decode("latin-1"), "latin-1")


def _rank_encodings(data: bytes) -> list[str]:
    """Return the likeliest encodings, best first."""
    sample = _take_sample(data)
    # Words of another alphabet are runs of high bytes; single high bytes are accents and quotes.
    run_bytes = sum(map(len, _HIGH_RUN.findall(sample)))
    high_bytes = len(sample) - len(sample.translate(None, _HIGH_BYTES))
    has_runs = 2 * run_bytes > high_bytes
    likely = [name for name in _LIKELY if has_runs or name not in _OTHER_ALPHABETS]
    ranks = []
    charset_normalizer = importlib.import_module(
        "charset_normalizer"
    )  # heavy, and rarely needed
    for match in charset_normalizer.from_bytes(sample, cp_isolation=likely):
        # A match also names the encodings that give the same text; the commonest one counts.
        same_text = set(likely).intersection(match.could_be_from_charset)
        position = min(map(likely.index, same_text))
        ranks.append((match.chaos, -match.coherence, position))
    return [likely[position] for _, _, position in sorted(ranks)]


def _take_sample(data: bytes) -> bytes:
    """Return whole lines around the first byte that is not ASCII."""
    first = next(re.finditer(rb"[\x80-\xff]", data)).start()
    earliest = max(0, first - _HEAD_BYTES)
    line_end = data.rfind(b"\n", earliest, first)
    start = line_end + 1
    if line_end < 0:
        start = max(0, first - 1)
    end = data.rfind(b"\n", start, start + _SAMPLE_BYTES)
    if end <= first:
        end = start + _SAMPLE_BYTES
    return data[start:end]
