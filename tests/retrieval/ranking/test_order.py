"""The look at the rows: boosts, copies, floods and neighbours."""

from __future__ import annotations

import pytest

from ragstone.retrieval.ranking.order import (
    RankedChunk,
    apply_boosts,
    apply_neighbour_support,
    apply_same_file_decay,
    arrange,
    choose_compared,
    collapse_copies,
    merge_neighbours,
    sort_by_score,
)
from ragstone.retrieval.ranking.parameters import RANKING_PARAMETERS, RankingParameters
from ragstone.types import ChunkOutline, Scored


def row(
    number: int,
    uri: str,
    *,
    order: int = 0,
    symbol: str = "",
    kind: str = "code",
    text_id: int | None = None,
) -> ChunkOutline:
    return ChunkOutline(
        number,
        text_id or number,
        "default",
        uri,
        kind,
        order,
        symbol,
        order * 100,
        order * 100 + 99,
    )


def entry(
    number: int,
    score: float,
    uri: str,
    *,
    order: int = 0,
    text_id: int | None = None,
    kind: str = "code",
) -> RankedChunk:
    return RankedChunk(row(number, uri, order=order, text_id=text_id, kind=kind), score)


def boosted(
    candidates: list[Scored], rows: dict[int, ChunkOutline], *, query: str
) -> list[RankedChunk]:
    return sort_by_score(apply_boosts(candidates, rows, query=query))


def test_the_chunk_that_defines_a_name_goes_before_one_that_uses_it() -> None:
    rows = {1: row(1, "a.py"), 2: row(2, "b.py", symbol="Engine.search")}
    ranked = boosted([Scored(1, 1.0), Scored(2, 0.95)], rows, query="Engine.search")
    assert [r.row.id for r in ranked] == [2, 1]
    assert ("definition", RANKING_PARAMETERS.definition_boost) in ranked[0].boosts


def test_a_word_of_a_sentence_that_happens_to_be_a_name_defines_nothing() -> None:
    rows = {1: row(1, "a.py"), 2: row(2, "b.py", symbol="Engine.search")}
    ranked = boosted([Scored(1, 1.0), Scored(2, 0.95)], rows, query="how does a search work")
    assert [r.row.id for r in ranked] == [1, 2]


def test_a_key_is_asked_for_only_where_it_is_spelt_as_one() -> None:
    rows = {
        1: row(1, "a.py"),
        2: row(2, "b.toml", symbol="server.max_size name", kind="config"),
    }
    candidates = [Scored(1, 1.0), Scored(2, 0.95)]
    assert [r.row.id for r in boosted(candidates, rows, query="what is the name of this")] == [
        1,
        2,
    ]
    assert [r.row.id for r in boosted(candidates, rows, query="what is max_size set to")] == [
        2,
        1,
    ]


def test_tests_rank_lower_unless_the_query_asks_for_them() -> None:
    rows = {1: row(1, "tests/test_lock.py"), 2: row(2, "src/lock.py")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    assert [r.row.id for r in boosted(candidates, rows, query="write lease")] == [2, 1]
    assert [r.row.id for r in boosted(candidates, rows, query="write lease tests")] == [1, 2]


@pytest.mark.parametrize(
    ("side", "plain"),
    [
        ("app/SongTest.php", "app/latest.php"),
        ("Sources/PlayerTests.swift", "Sources/Contests.swift"),
        ("lib/song_spec.rb", "lib/song_specs.rb"),
        ("api/song.pb.go", "api/song.go"),
        ("Views/Main.Designer.cs", "Views/Designer.cs"),
        ("src/FooTest.java", "src/Attest.java"),
    ],
)
def test_tests_and_generated_files_are_known_by_the_names_their_languages_give_them(
    side: str, plain: str
) -> None:
    rows = {1: row(1, side), 2: row(2, plain)}
    ranked = boosted([Scored(1, 1.0), Scored(2, 0.9)], rows, query="write lease")
    assert [r.row.uri for r in ranked] == [plain, side]


def test_words_of_the_query_in_the_path_raise_a_chunk() -> None:
    rows = {1: row(1, "src/alpha.py"), 2: row(2, "src/session.py")}
    ranked = boosted([Scored(1, 1.0), Scored(2, 0.97)], rows, query="session")
    assert ranked[0].row.id == 2


def test_stop_words_of_a_query_count_neither_for_a_path_nor_against_it() -> None:
    rows = {1: row(1, "src/lock.py"), 2: row(2, "src/why.py")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    for query in ("lock", "what is a lock and why is it"):
        lock, why = boosted(candidates, rows, query=query)
        assert (lock.boosts, why.boosts) == (
            (("path", 1.0 + RANKING_PARAMETERS.path_boost),),
            (),
        )


def test_a_candidate_without_a_row_is_left_out() -> None:
    assert apply_boosts([Scored(1, 1.0)], {}, query="x") == []


def test_the_same_text_is_shown_once_and_its_copies_are_returned() -> None:
    first, copies = collapse_copies(
        [
            entry(1, 0.9, "a.py", text_id=7),
            entry(2, 0.8, "b.py", text_id=7),
            entry(3, 0.7, "c.py"),
        ],
        {},
    )
    assert [r.row.id for r in first] == [1, 3]
    assert [r.row.id for r in copies] == [2]


def test_a_copy_in_another_layout_or_case_is_a_copy() -> None:
    texts = {1: "One  text\n  of two lines", 2: "one text of two LINES", 3: "one text"}
    first, copies = collapse_copies(
        [entry(number, 1.0 / number, f"{number}.md") for number in texts], texts
    )
    assert [r.row.id for r in first] == [1, 3]
    assert [r.row.id for r in copies] == [2]


def test_texts_are_compared_as_far_down_as_they_may_be_shown() -> None:
    many = [entry(number, 1.0 / number, f"{number}.md") for number in range(1, 60)]
    assert choose_compared(many, 1) == list(range(1, 9))
    assert choose_compared(many, 20) == list(range(1, 41))


def test_a_chunk_beside_a_good_one_is_raised_and_one_alone_is_not() -> None:
    alone = entry(1, 0.8, "a.py", order=4)
    beside, good = entry(2, 0.75, "b.py", order=4), entry(3, 1.0, "b.py", order=5)
    assert [r.row.id for r in apply_neighbour_support([alone, beside, good])] == [3, 2, 1]
    assert apply_neighbour_support([alone]) == [alone]


def test_a_short_text_does_not_lose_against_a_long_one_for_having_no_neighbours() -> None:
    short = entry(1, 1.0, "short.md", kind="doc")
    long = [
        entry(2, 0.97, "long.md", order=4, kind="doc"),
        entry(3, 0.7, "long.md", order=5, kind="doc"),
    ]
    assert apply_neighbour_support([short, *long])[0].row.id == 1
    assert apply_neighbour_support([short, *long], RankingParameters(edge=0.0))[0].row.id == 2


def test_the_first_chunk_of_a_code_file_has_no_such_share() -> None:
    imports = entry(1, 1.0, "a.py")
    assert apply_neighbour_support([imports]) == [imports]


def test_the_numbers_given_are_those_that_count() -> None:
    rows = {1: row(1, "tests/test_lock.py"), 2: row(2, "src/lock.py")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    assert [r.row.id for r in arrange(candidates, rows, query="lease")[0]] == [2, 1]
    as_they_are = RankingParameters(side_file_factor=1.0, path_boost=0.0)
    assert [
        r.row.id for r in arrange(candidates, rows, query="lease", parameters=as_they_are)[0]
    ] == [
        1,
        2,
    ]


def test_one_code_file_does_not_flood_the_top() -> None:
    flood = [entry(i, 1.0 - i * 0.01, "big.py", order=i * 2) for i in range(1, 6)]
    other = entry(9, 0.93, "other.py")
    assert other in apply_same_file_decay([*flood, other])[:3]


def test_a_long_text_may_fill_the_top_with_its_own_chunks() -> None:
    book = [entry(i, 1.0 - i * 0.01, "book.md", order=i * 2, kind="doc") for i in range(1, 6)]
    assert apply_same_file_decay(book) == book


def test_neighbours_become_one_hit_and_make_room_for_another() -> None:
    merged = merge_neighbours(
        [
            entry(1, 0.9, "a.md", order=3),
            entry(2, 0.8, "b.md"),
            entry(3, 0.7, "a.md", order=4),
            entry(4, 0.6, "c.md"),
        ],
        3,
    )
    assert [[m.id for m in r.members] for r in merged] == [[1, 3], [2], [4]]


def test_code_is_merged_up_to_a_larger_size_than_prose() -> None:
    def apart(kind: str) -> list[RankedChunk]:
        return [entry(1, 0.9, "a", order=5, kind=kind), entry(2, 0.8, "a", order=6, kind=kind)]

    narrow = RankingParameters(merge_limit=100, merge_limit_code=500)
    assert len(merge_neighbours(apart("code"), 5, parameters=narrow)) == 1
    assert len(merge_neighbours(apart("doc"), 5, parameters=narrow)) == 2


def test_neighbours_of_another_document_stay_apart() -> None:
    merged = merge_neighbours(
        [entry(1, 0.9, "a.md", order=3), entry(2, 0.8, "b.md", order=4)], 5
    )
    assert len(merged) == 2
