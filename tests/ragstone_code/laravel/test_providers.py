from __future__ import annotations

import pytest

from ragstone_code.laravel.providers import read_bindings
from tests.ragstone_code.laravel.small import app, links_by_kind, php

HEAD = ("namespace App;", "class P extends \\Illuminate\\Support\\ServiceProvider {")


@pytest.mark.parametrize(
    "call",
    [
        "$this->app->bind(Pays::class, Card::class);",
        "$this->app->singleton(Pays::class, fn () => new Card);",
        "app()->scoped(Pays::class, function ($app) { return $app->make(Card::class); });",
        "$this->app->bind(Pays::class, fn () => app(Card::class));",
        "$this->app->instance(Pays::class, new Card);",
        "$this->app->when(Shop::class)->needs(Pays::class)->give(Card::class);",
    ],
)
def test_every_form_of_binding_is_found_with_its_line(call: str) -> None:
    graph = read_bindings(
        *app(php("app/P.php", *HEAD, "public function register() {", call, "} }"))
    )
    assert links_by_kind(graph, "BINDS") == {("App\\Pays", "App\\Card", "app/P.php:6")}
    assert graph.links[0].attributes["how"] == "container"


def test_properties_and_attributes_bind_too() -> None:
    own = php(
        "app/P.php", *HEAD, "public $bindings = [", "Pays::class => Card::class,", "];", "}"
    )
    marked = php(
        "app/Ships.php",
        "namespace App;",
        "#[\\Illuminate\\Container\\Attributes\\Bind(Post::class)]",
        "interface Ships {}",
    )
    assert links_by_kind(read_bindings(*app(own, marked)), "BINDS") == {
        ("App\\Pays", "App\\Card", "app/P.php:6"),
        ("App\\Ships", "App\\Post", "app/Ships.php:4"),
    }


def test_both_options_of_a_ternary_are_bound() -> None:
    call = "$this->app->bind(Pays::class, fn () => $x ? new Card : new Cash);"
    graph = read_bindings(
        *app(php("app/P.php", *HEAD, "public function register() {", call, "} }"))
    )
    assert {target for _, target, _ in links_by_kind(graph, "BINDS")} == {
        "App\\Card",
        "App\\Cash",
    }


def test_a_binding_to_itself_or_by_another_object_is_no_binding() -> None:
    calls = "$this->app->singleton(Card::class); $socket->bind(Pays::class, Card::class);"
    assert (
        read_bindings(
            *app(php("app/P.php", *HEAD, "public function register() {", calls, "} }"))
        ).links
        == ()
    )
