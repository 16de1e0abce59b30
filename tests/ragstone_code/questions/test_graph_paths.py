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


def test_a_path_uses_only_the_allowed_links() -> None:
    assert find_paths("route", "model", ("BINDS",)) == ((Step(("BINDS",)),),)
    assert find_paths("route", "model", ("HANDLED_BY", "USES_MODEL")) == (
        (Step(("HANDLED_BY",)), Step(("USES_MODEL",))),
    )
    assert find_paths("route", "policy", ("MAPS_TO",)) == ()


def test_a_path_can_follow_links_backwards() -> None:
    paths = find_paths("model", "migration", ("MAPS_TO", "CREATES", "ALTERS"))
    assert paths == ((Step(("MAPS_TO",)), Step(("CREATES", "ALTERS"), back=True)),)


def test_the_direction_between_nodes_of_one_role_is_a_parameter() -> None:
    assert find_paths("method", "method", ("CALLS",), True) == ((Step(("CALLS",), back=True),),)
    assert find_paths("method", "method", ("CALLS",), False) == ((Step(("CALLS",)),),)


@pytest.mark.parametrize("name", sorted(all_intents()))
def test_every_intent_has_a_path_to_its_target_and_negative_facts(name: str) -> None:
    intent = all_intents()[name]
    assert intent.none and intent.cues
    if name not in (
        "route_expansion",
        "history",
        "configured",
        "model_relations",
        "users",
        "definition",
        "implementation",
        "tests",
        "members",
        "overrides",
        "return_type",
        "signature",
    ):  # found by their attributes, or by all links, not along a path
        starts = [
            role
            for role in intent.anchors
            if role not in ("class", "column", "model_relation", "trait")
        ]
        for start in starts or intent.anchors:
            paths = find_paths(start, intent.target, intent.via, intent.back)
            assert start in ("notification", "mail") or paths, (name, start)
            assert all(len(steps) <= MAX_STEPS for steps in paths)


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
def test_words_select_the_intent_for_a_role(text: str, role: str, name: str) -> None:
    assert rank_intents_for_roles(text, (role,))[0].intent.name == name


def test_a_question_without_lexicon_words_has_no_intent() -> None:
    assert rank_intents("how is the weather") == []


def test_a_specific_role_wins_over_the_class_role() -> None:
    event = Node("class:App\\Sold", "event", "Sold")
    assert roles_of(event) == ("event", "class")
    assert (
        rank_intents_for_roles("what handles the event?", roles_of(event))[0].intent.name
        == "event_listeners"
    )


def test_verbs_are_mapped_to_resource_actions() -> None:
    assert resource_actions(["somebody", "renames", "it"]) == {"update"}
