"""Untrusted archives and XML are read within limits or refused with a reason."""

from __future__ import annotations

import random

import pytest

from ragstone.errors import ReadError
from ragstone.read.file_formats import FORMATS, find_format
from ragstone.read.office_package import OfficePackage
from ragstone.read.xml_tree import parse_xml
from tests.read.office_files import (
    ENTITIES,
    SAMPLES,
    docx,
    hostile,
    paragraph,
    zip_bomb,
    zipped,
)
from tests.support.formats import get_format

REASONS = {
    "locked.docx": "password", "locked-zip.docx": "password", "old.docx": "unsupported",
    "bomb.docx": "too-big", "bomb.odt": "too-big", "entities.docx": "damaged",
}  # fmt: skip


def read(uri: str, data: bytes) -> str:
    found = find_format(uri)
    assert found is not None
    return found.load()(data, uri).text


HOSTILE = list(hostile(random.Random(7)))


@pytest.mark.parametrize(("uri", "data"), HOSTILE, ids=[uri for uri, _ in HOSTILE])
def test_a_hostile_file_ends_in_a_reason(uri: str, data: bytes) -> None:
    with pytest.raises(ReadError) as refused:
        read(uri, data)
    assert refused.value.message
    assert refused.value.reason == REASONS.get(uri, refused.value.reason)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sound_file_cut_or_changed_anywhere_is_read_or_refused(name: str, seed: int) -> None:
    rng = random.Random(seed)
    load = get_format(name).load()
    suffix = get_format(name).suffixes[0]
    for _ in range(150):
        data = bytearray(SAMPLES[name](rng))
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        try:
            document = load(bytes(data), f"any.{suffix}")
        except ReadError:
            continue
        document.text.encode("utf-8")
        assert all(0 <= mark.start <= len(document.text) for mark in document.marks)


def test_every_format_of_this_table_has_a_sample() -> None:
    assert {one.name for one in FORMATS} - set(SAMPLES) <= {"pdf", "scanned-pdf"}


def test_a_member_that_unpacks_to_far_more_than_its_bytes_is_stopped() -> None:
    with pytest.raises(ReadError) as refused:
        OfficePackage(zip_bomb("a.xml")).read("a.xml")
    assert refused.value.reason == "too-big"


def test_names_that_lead_out_of_the_archive_are_only_names() -> None:
    package = OfficePackage(zipped({"../../outside.xml": "<x/>", "/rooted.xml": "<y/>"}))
    assert package.names() == ["../../outside.xml", "rooted.xml"]
    assert package.xml("rooted.xml").tag == "y"


def test_too_many_members_are_refused() -> None:
    with pytest.raises(ReadError) as refused:
        OfficePackage(zipped({f"{number}": "" for number in range(20_001)}))
    assert refused.value.reason == "too-big"


def test_xml_in_any_wide_encoding_is_read_and_its_entities_are_not() -> None:
    assert (
        parse_xml('<?xml version="1.0" encoding="UTF-16"?><a>ä</a>'.encode("utf-16"), "a").text
        == "ä"
    )
    assert parse_xml(b"<!DOCTYPE ncx PUBLIC 'a' 'b'><a>ok</a>", "a").text == "ok"
    for source in (f"{ENTITIES}<a>&c;</a>", "<a/><!-- --><!ENTITY x 'y'>"):
        with pytest.raises(ReadError):
            parse_xml(source.encode(), "a")


def test_the_case_of_letters_in_a_name_does_not_matter() -> None:
    assert "WORD/Document.xml" in OfficePackage(docx(paragraph("hello")))
