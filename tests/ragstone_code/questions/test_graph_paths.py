from __future__ import annotations

import pytest

from ragstone.types import Node, Step
from ragstone_code.questions.graph_paths import MAX_STEPS, find_paths
from ragstone_code.questions.intents import (
    all_intents,
    rank_intents,
    rank_intents_for_roles,
    resource_actions,
    roles_of,
)


def test_a_path_takes_the_links_it_may_and_no_others() -> None:
    assert find_paths("route", "model", ("BINDS",)) == ((Step(("BINDS",)),),)
    assert find_paths("route", "model", ("HANDLED_BY", "USES_MODEL")) == (
        (Step(("HANDLED_BY",)), Step(("USES_MODEL",))),
    )
    assert find_paths("route", "policy", ("MAPS_TO",)) == ()


def test_the_way_back_goes_against_the_links() -> None:
    made = find_paths("model", "migration", ("MAPS_TO", "CREATES", "ALTERS"))
    assert made == ((Step(("MAPS_TO",)), Step(("CREATES", "ALTERS"), back=True)),)


def test_between_two_of_one_role_the_direction_is_asked_for() -> None:
    assert find_paths("method", "method", ("CALLS",), True) == ((Step(("CALLS",), back=True),),)
    assert find_paths("method", "method", ("CALLS",), False) == ((Step(("CALLS",)),),)


@pytest.mark.parametrize("name", sorted(all_intents()))
def test_every_intent_has_a_way_to_its_target_and_facts_for_none(name: str) -> None:
    intent = all_intents()[name]
    assert intent.none and intent.cues
    if name not in (
        "route_expansion",
        "history",
        "configured",
        "model_relations",
    ):  # found by their attributes, not along a path
        starts = [
            one
            for one in intent.anchors
            if one not in ("class", "column", "model_relation", "trait")
        ]
        for start in starts or intent.anchors:
            found = find_paths(start, intent.target, intent.via, intent.back)
            assert start in ("notification", "mail") or found, (name, start)
            assert all(len(steps) <= MAX_STEPS for steps in found)


@pytest.mark.parametrize(
    ("text", "role", "name"),
    [
        ("who serves ?", "route", "route_action"),
        ("what protects ?", "route", "route_middleware"),
        ("what protects the model?", "model", "model_policy"),
        ("which class checks the input of ?", "route", "route_request"),
        ("which rows does it touch", "route", "route_models_tables"),
        ("where is it dispatched", "job", "job_dispatch"),
        ("", "table", "table_columns"),
        ("who calls ?", "method", "callers"),
        ("what does it call?", "method", "callees"),
    ],
)
def test_words_say_what_is_asked_of_a_node(text: str, role: str, name: str) -> None:
    assert rank_intents_for_roles(text, (role,))[0].intent.name == name


def test_a_question_without_words_of_the_lexicon_asks_nothing() -> None:
    assert rank_intents("how is the weather") == []


def test_a_class_that_is_known_for_more_is_asked_for_that_first() -> None:
    event = Node("class:App\\Sold", "event", "Sold")
    assert roles_of(event) == ("event", "class")
    assert (
        rank_intents_for_roles("what handles the event?", roles_of(event))[0].intent.name
        == "event_listeners"
    )


def test_verbs_stand_for_resource_actions() -> None:
    assert resource_actions(["somebody", "renames", "it"]) == {"update"}
