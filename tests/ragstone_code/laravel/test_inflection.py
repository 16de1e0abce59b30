"""Inflection of names by Laravel's rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone_code.laravel import inflection

VECTORS = Path(__file__).resolve().parents[5] / "shared/data/codegraph/inflect_vectors.json"
STUDLY = st.from_regex(r"\A([A-Z][a-z]{1,8}){1,3}\Z")


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("Person", "people"), ("Category", "categories"), ("Status", "statuses"), ("Quiz", "quizzes"),
        ("App\\Models\\BlogPost", "blog_posts"), ("HTMLPage", "h_t_m_l_pages"), ("OAuth2Client", "o_auth2_clients"),
        ("News", "news"), ("OrderStaff", "order_staff"), ("Mouse", "mice"), ("Matrix", "matrices"), ("Leaf", "leaves"),
        ("Child", "children"), ("Analysis", "analyses"), ("Bus", "buses"), ("Medium", "media"), ("Human", "humans"),
        ("Software", "software"), ("Day", "days"), ("Criterion", "criteria"), ("Related", "related"), ("Axe", "axes"),
        ("Hero", "heroes"), ("Photo", "photos"), ("Wolf", "wolves"), ("Cafe", "cafes"), ("UserData", "user_data"),
    ],
)  # fmt: skip
def test_table_names_of_classes_match_laravel(name: str, table: str) -> None:
    assert inflection.table_name(name) == table


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("people", "person"), ("buses", "bus"), ("statuses", "status"), ("movies", "movie"), ("wolves", "wolf"),
        ("databases", "database"), ("bases", "basis"), ("media", "medium"), ("data", "data"), ("axes", "axe"),
        ("indices", "index"), ("aliases", "alias"), ("addresses", "address"), ("glass", "glass"), ("oxen", "ox"),
        ("hives", "hive"), ("knives", "knife"), ("heroes", "hero"), ("shoes", "shoe"), ("regatta", "regatta"),
        ("CATEGORIES", "CATEGORY"), ("Menus", "Menu"), ("taxes", "tax"), ("children", "child"), ("monies", "money"),
    ],
)  # fmt: skip
def test_singular_forms_match_laravel(plural: str, singular: str) -> None:
    assert inflection.singular(plural) == singular


def test_case_conversions_match_laravel() -> None:
    assert inflection.snake("fooBar Baz") == "foo_bar_baz"
    assert inflection.snake("already_snake") == "already_snake"
    assert inflection.camel("foo-bar_baz qux") == "fooBarBazQux"
    assert inflection.studly("order_items") == "OrderItems"
    assert inflection.plural("!") == "!"


def test_pivot_tables_are_singular_and_in_alphabetical_order() -> None:
    assert inflection.pivot_table_name("App\\Models\\RoleUser") == "role_user"
    assert (
        inflection.joining_table_name("App\\Models\\User", "App\\Models\\Role") == "role_user"
    )
    assert inflection.foreign_key_name("App\\Models\\OrderItem") == "order_item_id"
    assert inflection.route_parameter("order-items") == "order_item"


@given(STUDLY)
def test_a_table_name_is_lower_case_with_its_last_word_in_the_plural(name: str) -> None:
    table = inflection.table_name(name)
    assert table == table.lower()
    assert inflection.table_name(f"Deep\\Space\\{name}") == table
    assert inflection.studly(inflection.snake(name)) == name


@given(st.text(max_size=20))
def test_any_word_can_be_inflected(word: str) -> None:
    for change in (
        inflection.plural,
        inflection.singular,
        inflection.snake,
        inflection.camel,
        inflection.table_name,
    ):
        assert isinstance(change(word), str)


@pytest.mark.skipif(not VECTORS.exists(), reason="the vectors are not beside the checkout")
def test_all_vectors_made_by_laravel_match() -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert {name: inflection.table_name(name) for name in vectors["table"]} == vectors["table"]
    assert {many: inflection.route_parameter(many) for many in vectors["singular"]} == vectors[
        "singular"
    ]
