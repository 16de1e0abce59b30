"""Small pieces of code are joined to chunks, big ones are parted."""

from __future__ import annotations

from ragstone.chunk.definitions import CodePiece, PieceCutter

WORDS = "stone " * 400


def pieces(*sizes: int) -> list[CodePiece]:
    made, at = [], 0
    for number, size in enumerate(sizes):
        made.append(CodePiece(at, at + 6 * size, (f"n{number}",), f"h{number}"))
        at += 6 * size
    return made


def cut(*sizes: int) -> list[tuple[int, int, str]]:
    slices = PieceCutter(WORDS, 100).cut(pieces(*sizes))
    return [(piece.start // 6, piece.end // 6, piece.symbol) for piece in slices]


def test_small_neighbours_share_a_chunk_until_it_is_full() -> None:
    assert cut(20, 20, 20, 60) == [(0, 60, "n0 n1 n2"), (60, 120, "n3")]


def test_a_tiny_piece_joins_any_neighbour_and_starts_a_big_one() -> None:
    assert cut(5, 80) == [(0, 85, "n0 n1")]
    assert cut(5, 150)[0][0] == 0


def test_a_big_piece_is_parted_without_a_gap() -> None:
    slices = cut(30, 160, 30)
    assert slices[0] == (0, 30, "n0")
    assert [piece[2] for piece in slices] == ["n0", "", "", "n2"]
    assert [piece[0] for piece in slices[1:]] == [piece[1] for piece in slices[:-1]]


def test_a_chunk_lists_at_most_forty_names() -> None:
    names = tuple(f"n{number}" for number in range(60))
    (piece,) = PieceCutter(WORDS, 100).cut([CodePiece(0, 60, names, "")])
    assert len(piece.symbol.split()) == 40
