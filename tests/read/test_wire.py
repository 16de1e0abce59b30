"""A message arrives whole or not at all."""

from __future__ import annotations

from io import BytesIO

import pytest

from ragstone.read.wire import receive, send


def test_the_end_of_all_is_no_message() -> None:
    assert receive(BytesIO()) is None


@pytest.mark.parametrize("left", [1, 15, 16, 20, -1])
def test_a_message_that_is_broken_off_is_an_error(left: int) -> None:
    stream = BytesIO()
    send(stream, ["something"], b"bytes")
    with pytest.raises(ValueError, match="broken off"):
        receive(BytesIO(stream.getvalue()[:left]))


def test_a_message_that_claims_to_be_endless_is_an_error() -> None:
    with pytest.raises(ValueError, match="that long"):
        receive(BytesIO(b"\xff" * 16))


def test_a_message_above_what_the_listener_allows_is_an_error() -> None:
    stream = BytesIO()
    send(stream, "short", b"x" * 100)
    assert receive(BytesIO(stream.getvalue()), most=100) == ("short", b"x" * 100)
    with pytest.raises(ValueError, match="that long"):
        receive(BytesIO(stream.getvalue()), most=99)
    with pytest.raises(ValueError, match="that long"):
        receive(BytesIO(stream.getvalue()), most_told=5)
