"""Finds secrets in texts and replaces each with `[SECRET:kind]`. The number of lines does not change."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.sources.secrets.finders import SecretSpan, find_secrets
from ragstone.sources.secrets.placeholders import PLACEHOLDER_START
from ragstone.sources.secrets.rules import load_rules
from ragstone.types import Document, Mark, Metadata, Scalar, Value

_MAX_LISTED: Final = 12
_ENV_FILE: Final = re.compile(r"(?:^|/)(?:\.envrc|[^/]*\.env(?:\.[^/]*)?)$", re.IGNORECASE)
_KEY_CHARACTERS: Final = re.compile(r"[A-Za-z0-9+/=\\,:;.\-_*$%()]+")
"""Removed from the further lines of a key block; line ends, white space and quotes stay."""


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret: its kind, its place in characters, and its line, from 1."""

    kind: str
    start: int
    end: int
    line: int


def scan(text: str, *, uri: str = "") -> list[FoundSecret]:
    """Return the secrets in a text, in order; the uri shows whether it is an `.env` file."""
    data = text.encode("utf-8", "surrogatepass")
    is_env_file = _ENV_FILE.search(uri) is not None
    spans = find_secrets(data, load_rules(), is_env_file=is_env_file)
    return _to_characters(data, spans)


def redact(text: str, *, uri: str = "") -> tuple[str, list[FoundSecret]]:
    """Return a text with `[SECRET:kind]` in place of each secret, and the secrets."""
    secrets = scan(text, uri=uri)
    pieces: list[str] = []
    position = 0
    for secret in secrets:
        pieces.append(text[position : secret.start])
        pieces.append(_placeholder(text, secret))
        position = secret.end
    pieces.append(text[position:])
    return "".join(pieces), secrets


def redact_document(document: Document) -> Document:
    """Return a document without secrets in its text, title and metadata, with a remark that lists them."""
    text, in_text = redact(document.text, uri=document.uri)
    beside, in_beside = redact(document.beside)
    header, in_header = redact(document.header)
    title, in_title = redact(document.title)
    metadata, kinds_in_metadata = _redact_metadata(document.metadata)
    descriptions = [f"{secret.kind} (line {secret.line})" for secret in in_text]
    descriptions += [f"{secret.kind} (title)" for secret in in_title]
    descriptions += [f"{secret.kind} (beside)" for secret in in_beside]
    descriptions += [f"{secret.kind} (header)" for secret in in_header]
    descriptions += [f"{kind} (metadata)" for kind in kinds_in_metadata]
    if not descriptions:
        return document
    return replace(
        document,
        text=text,
        title=title,
        metadata=metadata,
        beside=beside,
        header=header,
        marks=_move_marks(document.marks, document.text, in_text),
        remarks=(*document.remarks, _remark(descriptions)),
    )


def _remark(descriptions: Sequence[str]) -> str:
    count = len(descriptions)
    noun = "secret" if count == 1 else "secrets"
    listed = ", ".join(descriptions[:_MAX_LISTED])
    if count > _MAX_LISTED:
        listed += f" and {count - _MAX_LISTED} more"
    return f"{count} {noun} taken out: {listed}"


def _to_characters(data: bytes, spans: Sequence[SecretSpan]) -> list[FoundSecret]:
    """Return spans of bytes as places in the text."""
    secrets: list[FoundSecret] = []
    characters = byte = 0
    line = 1
    for span in spans:
        line += data.count(b"\n", byte, span.start)
        characters += _count_characters(data[byte : span.start])
        end = span.end
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1  # a value that was cut at its greatest length may end inside a character
        size = _count_characters(data[span.start : end])
        secrets.append(FoundSecret(span.kind, characters, characters + size, line))
        byte = span.start
    return secrets


def _count_characters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _placeholder(text: str, secret: FoundSecret) -> str:
    """Return the text that replaces a secret; of a secret with several lines, line ends and quotes stay."""
    placeholder = f"{PLACEHOLDER_START}{secret.kind}]"
    original = text[secret.start : secret.end]
    if "\n" in original:
        placeholder += _KEY_CHARACTERS.sub("", original)
    return placeholder


def _move_marks(
    marks: tuple[Mark, ...], text: str, secrets: Sequence[FoundSecret]
) -> tuple[Mark, ...]:
    """Return the marks at their new places; a mark inside a secret moves to the end of its placeholder."""
    if not marks or not secrets:
        return marks
    starts = [secret.start for secret in secrets]
    shifts = []
    shift = 0
    for secret in secrets:
        length = secret.end - secret.start
        shift += len(_placeholder(text, secret)) - length
        shifts.append(shift)
    moved: list[Mark] = []
    for mark in marks:
        start = mark.start
        number = bisect_left(starts, start) - 1  # the last secret that begins before the mark
        if number >= 0:
            start = max(start, secrets[number].end) + shifts[number]
        moved.append(replace(mark, start=start))
    return tuple(moved)


def _redact_metadata(metadata: Metadata) -> tuple[Metadata, list[str]]:
    """Return metadata without secrets, and the kinds of the secrets."""
    kinds: list[str] = []

    def redact_text(text: str) -> str:
        clean, secrets = redact(text)
        kinds.extend(secret.kind for secret in secrets)
        return clean

    def redact_named(name: str, text: str) -> str:
        """Redact a text together with its name, because the name may show that it is a secret."""
        head = f'{name} = "'
        clean, secrets = redact(f'{head}{text}"')
        if secrets and secrets[0].start < len(head):
            return redact_text(text)
        kinds.extend(secret.kind for secret in secrets)
        return clean[len(head) : -1]

    def redact_scalar(name: str, value: Scalar) -> Scalar:
        if isinstance(value, str):
            return redact_named(name, value)
        return value

    clean: dict[str, Value] = {}
    for name, value in metadata.items():
        clean_name = redact_text(name)
        if isinstance(value, list | tuple):
            clean[clean_name] = [redact_scalar(name, item) for item in value]
        else:
            clean[clean_name] = redact_scalar(name, value)
    if not kinds:
        return metadata, kinds
    return clean, kinds
