"""The look at the rows: boosts, copies, floods and neighbours."""

from __future__ import annotations

import pytest

from ragstone.retrieval.ranking.boosts import RankedChunk, apply_boosts, sort_by_score
from ragstone.retrieval.ranking.order import (
    apply_file_support,
    apply_neighbour_support,
    apply_same_file_decay,
    arrange,
    choose_compared,
    collapse_copies,
    merge_neighbours,
)
from ragstone.retrieval.ranking.parameters import RankingParameters
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
    assert "definition" in dict(ranked[0].boosts)


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


@pytest.mark.parametrize("word", ["generate", "generic", "generation"])
def test_a_word_with_the_same_stem_asks_for_no_generated_files(word: str) -> None:
    rows = {1: row(1, "tests/test_lock.py"), 2: row(2, "src/lock.py")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    ranked = boosted(candidates, rows, query=f"{word} a lease")
    assert [r.row.id for r in ranked] == [2, 1]


@pytest.mark.parametrize("side", ["src/legacy/lease.py", "src/compat/lease.py", "uv.lock"])
def test_legacy_folders_and_lock_files_rank_below_living_code(side: str) -> None:
    rows = {1: row(1, side), 2: row(2, "src/other.py")}
    ranked = boosted([Scored(1, 1.0), Scored(2, 0.9)], rows, query="who holds it")
    assert [r.row.id for r in ranked] == [2, 1]


def test_a_file_named_after_the_subject_goes_before_a_slightly_better_chunk() -> None:
    rows = {1: row(1, "src/alpha.py"), 2: row(2, "src/session.py")}
    ranked = boosted(
        [Scored(1, 1.0), Scored(2, 0.8)], rows, query="where is a session implemented"
    )
    assert ranked[0].row.id == 2
    assert "file name" in dict(ranked[0].boosts)


def test_a_long_file_name_counts_by_the_share_of_its_words() -> None:
    rows = {1: row(1, "src/session.py"), 2: row(2, "src/session_cookie_legacy_reader.py")}
    whole, part = apply_boosts([Scored(1, 1.0), Scored(2, 1.0)], rows, query="a session class")
    assert whole.score > part.score > 1.0


def test_text_goes_first_unless_the_query_asks_for_code() -> None:
    rows = {1: row(1, "src/a.py"), 2: row(2, "docs/b.md", kind="doc")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    everyday = boosted(candidates, rows, query="how do I keep someone logged in")
    about_code = boosted(candidates, rows, query="which function keeps someone logged in")
    assert [r.row.id for r in everyday] == [2, 1]
    assert [r.row.id for r in about_code] == [1, 2]


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


def test_a_text_that_a_document_repeats_is_shown_at_its_first_place() -> None:
    rows = {
        1: row(1, "report.md", order=2, kind="doc", text_id=7),
        2: row(2, "report.md", order=8, kind="doc", text_id=7),
        3: row(3, "report.md", order=9, kind="doc"),
    }
    candidates = [Scored(1, 0.9), Scored(2, 0.9), Scored(3, 0.5)]
    ranked, copies = arrange(candidates, rows, query="how high was the rent")
    assert [r.row.id for r in ranked] == [1, 3]
    assert [r.row.id for r in copies] == [2]


def test_a_repeated_text_is_shown_where_its_score_is_best() -> None:
    rows = {
        1: row(1, "views.py", order=1, symbol="List.fetch", text_id=7),
        2: row(2, "views.py", order=2, symbol="Page.get", text_id=7),
    }
    ranked, _ = arrange([Scored(1, 1.0), Scored(2, 1.0)], rows, query="Page.get")
    assert [r.row.id for r in ranked] == [2]


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


def supported(
    entries: list[RankedChunk], parameters: RankingParameters | None = None
) -> list[int]:
    apply_neighbour_support(entries, parameters or RankingParameters())
    return [entry.row.id for entry in sort_by_score(entries)]


def test_a_text_beside_a_good_one_is_raised_and_one_alone_is_not() -> None:
    alone = entry(1, 0.8, "a.md", order=4, kind="doc")
    beside = entry(2, 0.75, "b.md", order=4, kind="doc")
    good = entry(3, 1.0, "b.md", order=5, kind="doc")
    assert supported([alone, beside, good]) == [3, 2, 1]
    assert alone.score == 0.8


def test_a_short_text_does_not_lose_against_a_long_one_for_having_no_neighbours() -> None:
    def texts() -> list[RankedChunk]:
        short = entry(1, 1.0, "short.md", kind="doc")
        long = [
            entry(2, 0.97, "long.md", order=4, kind="doc"),
            entry(3, 0.7, "long.md", order=5, kind="doc"),
        ]
        return [short, *long]

    assert supported(texts())[0] == 1
    assert supported(texts(), RankingParameters(edge=0.0))[0] == 2


def test_code_is_not_supported_by_its_neighbours() -> None:
    function, next_function = entry(1, 1.0, "a.py", order=3), entry(2, 0.9, "a.py", order=4)
    supported([function, next_function])
    assert (function.score, next_function.score) == (1.0, 0.9)


def test_the_file_with_several_good_chunks_goes_before_a_single_better_one() -> None:
    single = entry(1, 1.0, "a.py")
    owner = [entry(number, 0.9, "b.py", order=number * 2) for number in (2, 3, 4)]
    apply_file_support([single, *owner])
    best, *rest = sort_by_score([single, *owner])
    assert best.row.uri == "b.py"
    assert [r.score for r in rest if r.row.uri == "b.py"] == [0.9, 0.9]


def test_text_beside_code_does_not_sink_because_code_is_supported() -> None:
    code = [entry(number, 0.9, "b.py", order=number * 2) for number in (2, 3, 4)]
    text = entry(1, 1.0, "a.md", kind="doc")
    apply_file_support([text, *code])
    assert sort_by_score([text, *code])[0].row.uri == "a.md"


def test_text_alone_is_not_changed_by_the_support_of_files() -> None:
    texts = [entry(number, 0.9, "a.md", order=number, kind="doc") for number in (1, 2)]
    apply_file_support(texts)
    assert [text.score for text in texts] == [0.9, 0.9]


def test_the_numbers_given_are_those_that_count() -> None:
    rows = {1: row(1, "tests/test_lock.py"), 2: row(2, "src/lock.py")}
    candidates = [Scored(1, 1.0), Scored(2, 0.9)]
    assert [r.row.id for r in arrange(candidates, rows, query="lease")[0]] == [2, 1]
    as_they_are = RankingParameters(side_file_factor=1.0, file_name=0.0)
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
