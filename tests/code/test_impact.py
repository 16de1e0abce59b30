"""What depends on what, over links made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.impact import MAX_HOPS, find_impact
from ragstone.types import Confidence, Link

LINKS = (
    Link("CREATES", "migration:2024_create_songs", "table:songs", "database/m.php", 9, "evaluated"),
    Link("MAPS_TO", "class:Song", "table:songs", "app/Song.php", 5, "convention"),
    Link("USES_MODEL", "method:SongController::show", "class:Song", "app/SongController.php", 8),
    Link(
        "HANDLED_BY",
        "route:GET songs/{song}",
        "method:SongController::show",
        "routes/web.php",
        3,
        "evaluated",
    ),
    Link("RELATES", "class:Album", "class:Song", "app/Album.php", 7),
    Link("USES_MODEL", "method:AlbumController::show", "class:Album", "app/AlbumController.php", 8),
    Link("CHANGED", "change:1:app/Song.php", "class:Song", "", 0),
)


def into(links: Sequence[Link]) -> Callable[[Sequence[str]], list[Link]]:
    return lambda keys: [link for link in links if link.target in keys]


def out_of(links: Sequence[Link]) -> Callable[[Sequence[str]], list[Link]]:
    return lambda keys: [link for link in links if link.source in keys]


def test_routes_come_first_and_each_says_the_way_and_the_weakest_word_on_it() -> None:
    found = find_impact(["table:songs"], into(LINKS))
    assert [kind for kind, _ in found.groups] == ["route", "method", "class"]
    (route,) = found.groups[0][1]
    assert (route.key, route.hops, route.confidence) == ("route:GET songs/{song}", 3, "convention")
    assert [link.kind for link in route.links] == ["HANDLED_BY", "USES_MODEL", "MAPS_TO"]
    assert not found.more
    assert found.total == 4


def test_a_migration_reaches_what_stands_on_the_table_it_makes() -> None:
    found = find_impact(["migration:2024_create_songs"], into(LINKS), links_from=out_of(LINKS))
    assert ("route", ["route:GET songs/{song}"]) in [
        (kind, [one.key for one in all_]) for kind, all_ in found.groups
    ]
    assert find_impact(["migration:2024_create_songs"], into(LINKS)).total == 0


def test_a_related_model_is_named_and_not_gone_beyond() -> None:
    keys = {
        one.key for _, group in find_impact(["class:Song"], into(LINKS)).groups for one in group
    }
    assert "class:Album" in keys
    assert "method:AlbumController::show" not in keys
    assert "change:1:app/Song.php" not in keys


def test_kinds_are_those_of_the_nodes_where_they_are_known() -> None:
    found = find_impact(
        ["class:Song"], into(LINKS), find_kinds=lambda keys: {"class:Album": "model"}
    )
    assert [kind for kind, _ in found.groups] == ["route", "model", "method"]


def test_of_two_ways_of_one_length_the_surer_one_is_told() -> None:
    links = [
        Link("CALLS", "method:a", "method:b", "a.py", 1, "heuristic"),
        Link("CALLS", "method:a", "method:b", "a.py", 2, "declared"),
        Link("CALLS", "method:a", "method:b", "a.py", 3, "runtime", conditional=True),
    ]
    ((_, (one,)),) = find_impact(["method:b"], into(links)).groups
    assert (one.confidence, one.links[0].line, one.conditional) == ("declared", 2, False)


def test_more_than_may_be_told_is_said_to_be_more() -> None:
    links = [Link("CALLS", f"method:{number}", "method:x", "a.py", number) for number in range(10)]
    found = find_impact(["method:x"], into(links), limit=4)
    assert (found.total, found.more) == (4, True)
    chain = [
        Link("CALLS", f"method:{n + 1}", f"method:{n}", "a.py", n) for n in range(MAX_HOPS + 1)
    ]
    assert find_impact(["method:0"], into(chain)).more
    assert not find_impact(["method:0"], into(chain[:-1])).more


NAMES = st.sampled_from([f"method:{sign}" for sign in "abcdefg"])
WORDS: tuple[Confidence, ...] = ("declared", "heuristic")


@given(
    st.lists(
        st.builds(
            Link, st.just("CALLS"), NAMES, NAMES, st.just("a"), st.just(1), st.sampled_from(WORDS)
        )
    )
)
def test_all_that_leads_to_the_root_is_found_once_however_links_turn_in_circles(
    links: list[Link],
) -> None:
    found = [one for _, group in find_impact(["method:a"], into(links)).groups for one in group]
    reached = {"method:a"}
    while grown := {link.source for link in links if link.target in reached} - reached:
        reached |= grown
    assert {one.key for one in found} == reached - {"method:a"}
    assert len(found) == len({one.key for one in found})
    assert all(one.links[-1].target == "method:a" and one.hops == len(one.links) for one in found)
