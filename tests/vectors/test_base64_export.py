"""An index as text: read back as it was, and refused where it is damaged or means harm."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from ragstone.errors import InputError
from ragstone.vectors.turbo.index import TurboIndex

DIMENSION = 64


def test_text_is_read_back_as_the_same_index() -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((3100, DIMENSION)).astype(np.float32)
    ids = [3 * place + 2 for place in range(len(vectors))]
    index = TurboIndex(None, DIMENSION)
    index.upsert(ids[:3000], vectors[:3000])
    index.flush()
    index.upsert(ids[3000:3100], vectors[3000:3100])
    index.delete(ids[5:10])
    again = TurboIndex.from_base64(index.to_base64())
    assert again.to_base64() == index.to_base64()
    assert again.count() == 3095
    for query in vectors[::155]:
        assert [hit.id for hit in again.search(query, 5)] == [
            hit.id for hit in index.search(query, 5)
        ]
    assert TurboIndex.from_base64(TurboIndex(None, 8).to_base64()).count() == 0


def test_damaged_text_is_refused() -> None:
    index = TurboIndex(None, 8)
    index.upsert([1], np.ones((1, 8), np.float32))
    text = index.to_base64()
    for bad in (
        "",
        "hello",
        text[:-4],
        text.replace(":1:", ":2:", 1),
        text[:-9] + "A" + text[-8:],
        text + "é",
    ):
        with pytest.raises(InputError):
            TurboIndex.from_base64(bad)


@pytest.mark.parametrize(
    "about",
    [
        b"",
        b"[]",
        b"{}",
        b'{"codec":"int16","dimension":8,"count":9}',
        b'{"codec":"int16","dimension":-1,"count":0}',
    ],
)
def test_text_that_means_harm_is_refused(about: bytes) -> None:
    body = about + b"\n" + bytes(40)
    with pytest.raises(InputError):
        TurboIndex.from_base64(
            f"ragstone-vectors:1:{zlib.crc32(body):08x}:{base64.b64encode(body).decode()}"
        )
