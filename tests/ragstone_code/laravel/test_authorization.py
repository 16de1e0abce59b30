from __future__ import annotations

from ragstone.types import Link, Node
from ragstone_code.laravel.authorization import route_authorization
from ragstone_code.laravel.policies import find_policies
from tests.ragstone_code.laravel.small import MODEL, app, links_by_kind, php

POLICY = php(
    "app/Policies/BookPolicy.php",
    "namespace App\\Policies;",
    "class BookPolicy { public function view($u) {} }",
)
GATES = php(
    "app/Providers/Gates.php",
    "namespace App\\Providers;",
    "class Gates extends \\Illuminate\\Support\\ServiceProvider {",
    "public function boot() { \\Illuminate\\Support\\Facades\\Gate::define('admin', fn () => true); }",
    "}",
)


def test_can_middleware_links_to_the_policy_of_the_bound_model_or_to_the_ability() -> None:
    own, calls = app(MODEL, POLICY, GATES)
    can = [
        "web",
        "can:view,book",
        "can:admin",
        "can:unknown,book",
        "can:view,App\\Models\\Book",
    ]
    route = Node(
        "route:GET books/{book}",
        "route",
        "books",
        "routes/web.php",
        7,
        attributes={"middleware": list(can)},
    )
    by_class = Node(
        "route:GET shelf",
        "route",
        "shelf",
        route.uri,
        9,
        attributes={"controller_middleware": ["can:admin"]},
    )
    binds = [
        Link(
            "BINDS",
            route.key,
            "class:App\\Models\\Book",
            route.uri,
            7,
            attributes={"parameter": "book"},
        )
    ]
    graph = route_authorization(own, find_policies(own, calls), [route, by_class], binds)
    assert links_by_kind(graph, "AUTHORIZED_BY") == {
        (route.key, "App\\Policies\\BookPolicy::view", "routes/web.php:7"),
        (route.key, "ability:admin", "routes/web.php:7"),
        (by_class.key, "ability:admin", "routes/web.php:9"),
    }
