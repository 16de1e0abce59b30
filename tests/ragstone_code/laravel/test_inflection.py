"""Names as Laravel forms them."""

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
def test_a_class_has_the_table_laravel_gives_it(name: str, table: str) -> None:
    assert inflection.table_name(name) == table


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("people", "person"), ("buses", "bus"), ("statuses", "status"), ("movies", "movie"), ("wolves", "wolf"),
        ("databases", "database"), ("bases", "basis"), ("media", "medium"), ("data", "data"), ("axes", "axe"),
        ("indices", "index"), ("aliases", "alias"), ("addresses", "address"), ("glass", "glass"), ("oxen", "ox"),
        ("hives", "hive"), ("knives", "knife"), ("heroes", "hero"), ("shoes", "shoe"), ("regatta", "regatta"),
        ("CATEGORIES", "CATEGORY"), ("Menus", "Menu"), ("taxes", "tax"), ("children", "child"), ("monies", "money"),
    ],
)  # fmt: skip
def test_a_plural_has_the_singular_laravel_gives_it(many: str, one: str) -> None:
    assert inflection.singular(many) == one


def test_names_change_their_case_as_laravel_changes_it() -> None:
    assert inflection.snake("fooBar Baz") == "foo_bar_baz"
    assert inflection.snake("already_snake") == "already_snake"
    assert inflection.camel("foo-bar_baz qux") == "fooBarBazQux"
    assert inflection.studly("order_items") == "OrderItems"
    assert inflection.plural("!") == "!"


def test_a_pivot_is_in_the_singular_and_two_models_are_joined_in_order() -> None:
    assert inflection.pivot_table_name("App\\Models\\RoleUser") == "role_user"
    assert inflection.joining_table_name("App\\Models\\User", "App\\Models\\Role") == "role_user"
    assert inflection.foreign_key_name("App\\Models\\OrderItem") == "order_item_id"
    assert inflection.route_parameter("order-items") == "order_item"


@given(STUDLY)
def test_a_table_is_in_lower_case_and_ends_as_its_last_word_does_in_the_plural(name: str) -> None:
    table = inflection.table_name(name)
    assert table == table.lower()
    assert inflection.table_name(f"Deep\\Space\\{name}") == table
    assert inflection.studly(inflection.snake(name)) == name


@given(st.text(max_size=20))
def test_no_word_is_too_strange(word: str) -> None:
    for change in (inflection.plural, inflection.singular, inflection.snake, inflection.camel, inflection.table_name):
        assert isinstance(change(word), str)


@pytest.mark.skipif(not VECTORS.exists(), reason="the vectors are not beside the checkout")
def test_every_vector_made_by_laravel_itself_comes_out_the_same() -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert {name: inflection.table_name(name) for name in vectors["table"]} == vectors["table"]
    assert {many: inflection.route_parameter(many) for many in vectors["singular"]} == vectors["singular"]
