from __future__ import annotations

import json

import pytest

from ragstone.types import Graph
from ragstone_code.laravel.route_list import BadRouteList, import_route_list
from ragstone_code.laravel.routes import read_routes
from tests.ragstone_code.small_world import world

ROWS = [
    {
        "domain": None,
        "method": "GET|HEAD",
        "uri": "a",
        "name": "a",
        "action": "App\\C@m",
        "middleware": ["web", "auth"],
    },
    {
        "domain": None,
        "method": "POST",
        "uri": "package",
        "name": "p",
        "action": "Lib\\P@store",
        "middleware": ["api:x"],
    },
]


def app() -> Graph:
    return read_routes(
        world(
            {
                "app/C.php": "namespace App; class C { function m() {} }",
                "routes/web.php": "if (config('x')) { Route::get('a', [App\\C::class, 'm']); }"
                "Route::get('b', fn () => 1);",
            }
        )
    )


def test_the_listing_confirms_links() -> None:
    graph = import_route_list(json.dumps(ROWS), app())
    link = next(
        item
        for item in graph.links
        if item.kind == "HANDLED_BY" and item.source == "route:GET a"
    )
    assert (link.target, link.confidence, link.conditional, link.uri) == (
        "method:App\\C::m",
        "runtime",
        False,
        "routes/web.php",
    )
    node = next(item for item in graph.nodes if item.key == "route:GET a")
    assert node.attributes["runtime_middleware"] == ["web", "auth"]


def test_the_listing_adds_routes_of_packages() -> None:
    graph = import_route_list(json.dumps(ROWS), app())
    node = next(item for item in graph.nodes if item.key == "route:POST package")
    assert (node.name, node.attributes["action"], node.uri) == ("p", "Lib\\P@store", "")
    links = {
        (item.kind, item.target, item.confidence)
        for item in graph.links
        if item.source == node.key
    }
    assert links == {
        ("HANDLED_BY", "method:Lib\\P::store", "runtime"),
        ("GUARDED_BY", "middleware:api", "runtime"),
    }


def test_a_route_that_the_listing_lacks_is_a_remark() -> None:
    assert (
        "GET b is not in the listing of routes"
        in import_route_list(json.dumps(ROWS), app()).remarks
    )


@pytest.mark.parametrize("text", ["", "{}", "not json", '"x"'])
def test_an_invalid_listing_is_refused(text: str) -> None:
    with pytest.raises(BadRouteList, match="listing of routes"):
        import_route_list(text, Graph())


def test_invalid_rows_are_skipped() -> None:
    assert (
        import_route_list('[1, {"method": "GET"}, {"uri": "a"}]', Graph()).nodes[0].key
        == "route:GET a"
    )
