"""Dependents of nodes, over hand-written links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.impact import MAX_HOPS, find_impact
from ragstone.types import Affected, Confidence, Impact, Link

LINKS = (
    Link(
        "CREATES",
        "migration:2024_create_songs",
        "table:songs",
        "database/m.php",
        9,
        "evaluated",
    ),
    Link("MAPS_TO", "class:Song", "table:songs", "app/Song.php", 5, "convention"),
    Link(
        "USES_MODEL", "method:SongController::show", "class:Song", "app/SongController.php", 8
    ),
    Link(
        "HANDLED_BY",
        "route:GET songs/{song}",
        "method:SongController::show",
        "routes/web.php",
        3,
        "evaluated",
    ),
    Link("RELATES", "class:Album", "class:Song", "app/Album.php", 7),
    Link(
        "USES_MODEL",
        "method:AlbumController::show",
        "class:Album",
        "app/AlbumController.php",
        8,
    ),
    Link("CHANGED", "change:1:app/Song.php", "class:Song", "", 0),
)


def links_to(links: Sequence[Link]) -> Callable[[Sequence[str]], list[Link]]:
    return lambda keys: [link for link in links if link.target in keys]


def links_from(links: Sequence[Link]) -> Callable[[Sequence[str]], list[Link]]:
    return lambda keys: [link for link in links if link.source in keys]


def affected_nodes(impact: Impact) -> list[Affected]:
    nodes: list[Affected] = []
    for _, group in impact.groups:
        nodes.extend(group)
    return nodes


def test_routes_come_first_with_their_path_and_its_weakest_confidence() -> None:
    impact = find_impact(["table:songs"], links_to(LINKS))
    assert [kind for kind, _ in impact.groups] == ["route", "method", "class"]
    (route,) = impact.groups[0][1]
    assert (route.key, route.hops, route.confidence) == (
        "route:GET songs/{song}",
        3,
        "convention",
    )
    assert [link.kind for link in route.links] == ["HANDLED_BY", "USES_MODEL", "MAPS_TO"]
    assert not impact.more
    assert impact.total == 4


def test_a_migration_reaches_the_dependents_of_its_table() -> None:
    impact = find_impact(
        ["migration:2024_create_songs"], links_to(LINKS), links_from=links_from(LINKS)
    )
    assert "route:GET songs/{song}" in {node.key for node in affected_nodes(impact)}
    assert find_impact(["migration:2024_create_songs"], links_to(LINKS)).total == 0


def test_a_related_model_is_listed_but_not_followed() -> None:
    keys = {node.key for node in affected_nodes(find_impact(["class:Song"], links_to(LINKS)))}
    assert "class:Album" in keys
    assert "method:AlbumController::show" not in keys
    assert "change:1:app/Song.php" not in keys


def test_known_kinds_of_nodes_are_used() -> None:
    impact = find_impact(
        ["class:Song"], links_to(LINKS), find_kinds=lambda keys: {"class:Album": "model"}
    )
    assert [kind for kind, _ in impact.groups] == ["route", "model", "method"]


def test_the_most_certain_of_equally_long_paths_is_returned() -> None:
    links = [
        Link("CALLS", "method:a", "method:b", "a.py", 1, "heuristic"),
        Link("CALLS", "method:a", "method:b", "a.py", 2, "declared"),
        Link("CALLS", "method:a", "method:b", "a.py", 3, "runtime", conditional=True),
    ]
    ((_, (node,)),) = find_impact(["method:b"], links_to(links)).groups
    assert (node.confidence, node.links[0].line, node.conditional) == ("declared", 2, False)


def test_a_limited_answer_is_marked_as_incomplete() -> None:
    links = [
        Link("CALLS", f"method:{number}", "method:x", "a.py", number) for number in range(10)
    ]
    impact = find_impact(["method:x"], links_to(links), limit=4)
    assert (impact.total, impact.more) == (4, True)
    chain = [
        Link("CALLS", f"method:{n + 1}", f"method:{n}", "a.py", n) for n in range(MAX_HOPS + 1)
    ]
    assert find_impact(["method:0"], links_to(chain)).more
    assert not find_impact(["method:0"], links_to(chain[:-1])).more


NAMES = st.sampled_from([f"method:{sign}" for sign in "abcdefg"])
WORDS: tuple[Confidence, ...] = ("declared", "heuristic")


@given(
    st.lists(
        st.builds(
            Link,
            st.just("CALLS"),
            NAMES,
            NAMES,
            st.just("a"),
            st.just(1),
            st.sampled_from(WORDS),
        )
    )
)
def test_every_dependent_is_found_once_even_in_cycles(
    links: list[Link],
) -> None:
    nodes = affected_nodes(find_impact(["method:a"], links_to(links)))
    reached = {"method:a"}
    while grown := {link.source for link in links if link.target in reached} - reached:
        reached |= grown
    assert sorted(node.key for node in nodes) == sorted(reached - {"method:a"})
    for node in nodes:
        assert node.links[-1].target == "method:a"
        assert node.hops == len(node.links)
