"""Pieces of code put together to chunks."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.chunk.gather import Gather, Piece, by_last_part, listed
from ragstone.chunk.spans import Cut

WORDS = "stone " * 400


def pieces(*sizes: int) -> list[Piece]:
    made, at = [], 0
    for number, size in enumerate(sizes):
        made.append(Piece(at, at + 6 * size, (f"n{number}",), f"h{number}"))
        at += 6 * size
    return made


def halves(piece: Piece) -> Iterator[Cut]:
    middle = (piece.start + piece.end) // 2
    yield Cut(piece.start, middle, symbol=" ".join(piece.names), header=piece.header)
    yield Cut(middle, piece.end, symbol=" ".join(piece.names), header=piece.header)


def cut(*sizes: int) -> list[tuple[int, int, str]]:
    found = Gather(WORDS, 100, 2).cuts(pieces(*sizes), halves)
    return [(one.start // 6, one.end // 6, one.symbol) for one in found]


def test_small_neighbours_share_a_chunk_until_it_is_full() -> None:
    assert cut(20, 20, 20, 60) == [(0, 60, "n0 n1 n2"), (60, 120, "n3")]


def test_a_tiny_piece_goes_with_any_that_it_fits_beside_and_leads_one_that_is_parted() -> None:
    assert cut(5, 80) == [(0, 85, "n0 n1")]
    assert cut(5, 150)[0][0] == 0


def test_what_is_too_big_is_parted_and_nothing_is_left_out() -> None:
    found = cut(30, 160, 30)
    assert found[0] == (0, 30, "n0")
    assert [one[2] for one in found] == ["n0", "n1", "n1", "n2"]
    assert [one[0] for one in found[1:]] == [one[1] for one in found[:-1]]


def test_names_are_found_by_their_last_part_and_not_too_many_are_listed() -> None:
    assert by_last_part(["A.x", "B.x", "y", "A.x"]) == {"x": ["A.x", "B.x"], "y": ["y"]}
    assert by_last_part(["A.$x", "B.@y", "C.z?"]) == {"x": ["A.$x"], "y": ["B.@y"], "z": ["C.z?"]}
    assert listed([f"n{number}" for number in range(60)]).count(" ") == 39
