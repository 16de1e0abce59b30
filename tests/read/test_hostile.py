"""I6: a hostile file gives a reason or a text in time, and the next file is read."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from ragstone.errors import ReadError
from ragstone.read.choose_reader import reader_for
from ragstone.read.confined_reader import DEADLINE_SECONDS, ConfinedReader
from ragstone.read.file_formats import find_format
from tests.read.hostile_pdf import bombs, damaged, laughs
from tests.read.pdf_files import lines, pdf
from tests.read.samples import HOSTILE

TORTURE = "TORTURE_INPUTS" in os.environ
SOUND = pdf([lines("Still here.")])


@pytest.fixture
def reader() -> Iterator[ConfinedReader]:
    confined = ConfinedReader()
    yield confined
    confined.close()


def became(uri: str, data: bytes, reader: ConfinedReader) -> str:
    """Return `read`, or the reason."""
    found = find_format(uri, data)
    try:
        if found is None:
            reader_for(uri, data).read(data, uri)
        else:
            reader.read(found.name, data, uri)
    except ReadError as error:
        assert error.message
        return error.reason
    return "read"


@pytest.mark.torture
def test_hostile_files_end_in_a_reason_or_a_text(reader: ConfinedReader, seed: int) -> None:
    rng = random.Random(seed)
    files = [one for each in HOSTILE for one in each(rng)]
    files += damaged(rng, 5000 if TORTURE else 150)
    assert len(files) >= 300
    counts = Counter(became(uri, data, reader) for uri, data in files)
    print(dict(counts))
    assert reader.read("pdf", SOUND, "a.pdf").text == "Still here."
    assert counts["damaged"] > 50
    assert counts["timeout"] + counts["crash"] + counts["memory"] < len(files) / 20


BOMBS = {
    name: data
    for name, data in bombs()
    if TORTURE or name in ("nested.pdf", "saves.pdf", "hexed.pdf")
}


@pytest.mark.torture
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing limits the memory")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_time_and_the_next_file_is_read(
    reader: ConfinedReader, name: str
) -> None:
    begun = time.monotonic()
    ended = became(name, BOMBS[name], reader)
    assert time.monotonic() - begun < DEADLINE_SECONDS + 5
    assert ended in ("read", "crash", "memory", "timeout", "no-text-layer", "too-big")
    assert reader.read("pdf", SOUND, "a.pdf").text == "Still here."


def test_a_bomb_that_only_takes_time_is_ended_in_time() -> None:
    one = ConfinedReader(deadline=1.0)
    try:
        with pytest.raises(ReadError) as failed:
            one.read("pdf", laughs(levels=30, times=3), "a.pdf")
        assert failed.value.reason in ("timeout", "crash")
    finally:
        one.close()
