from __future__ import annotations

import pytest

from tests.ragstone_code.laravel.small_routes import app, routes_by_key, table


def test_a_resource_has_seven_routes_with_singular_parameters() -> None:
    graph = app("Route::resource('photo-categories', 'C');")
    assert table(graph, "name", "action") == {
        "GET photo-categories": ("photo-categories.index", "C@index"),
        "GET photo-categories/create": ("photo-categories.create", "C@create"),
        "POST photo-categories": ("photo-categories.store", "C@store"),
        "GET photo-categories/{photo_category}": ("photo-categories.show", "C@show"),
        "GET photo-categories/{photo_category}/edit": ("photo-categories.edit", "C@edit"),
        "PUT|PATCH photo-categories/{photo_category}": ("photo-categories.update", "C@update"),
        "DELETE photo-categories/{photo_category}": ("photo-categories.destroy", "C@destroy"),
    }


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("Route::apiResource('a', 'C')->only('index', 'show')", ["GET a", "GET a/{a}"]),
        (
            "Route::apiResource('a', 'C', ['except' => ['index', 'destroy']])",
            ["POST a", "GET a/{a}", "PUT|PATCH a/{a}"],
        ),
        (
            "Route::resource('a', 'C', ['only' => 'show', 'parameters' => ['a' => 'x']])",
            ["GET a/{x}"],
        ),
        ("Route::resource('a', 'C')->only(['show'])->parameter('a', 'x-y')", ["GET a/{x_y}"]),
        (
            "Route::resource('posts.comments', 'C')->only('show', 'index')",
            ["GET posts/{post}/comments", "GET posts/{post}/comments/{comment}"],
        ),
        (
            "Route::resource('posts.comments', 'C')->only('show', 'index')->shallow()",
            ["GET posts/{post}/comments", "GET comments/{comment}"],
        ),
        ("Route::resource('admin/users', 'C')->only('index')", ["GET admin/users"]),
        ("Route::singleton('me', 'C')", ["GET me", "GET me/edit", "PUT|PATCH me"]),
        (
            "Route::singleton('me.avatar', 'C')->creatable()->only('store', 'destroy')",
            ["POST me/{me}/avatar", "DELETE me/{me}/avatar"],
        ),
        (
            "Route::apiSingleton('me', 'C')->destroyable()",
            ["GET me", "PUT|PATCH me", "DELETE me"],
        ),
        (
            "Route::resources(['a' => 'A', 'b' => 'B'], ['only' => ['index']])",
            ["GET a", "GET b"],
        ),
        (
            "Route::apiResources(['a' => 'A'])",
            ["GET a", "POST a", "GET a/{a}", "PUT|PATCH a/{a}", "DELETE a/{a}"],
        ),
        (
            "Route::resourceVerbs(['create' => 'neu']); Route::resource('a', 'C')->only('create')",
            ["GET a/neu"],
        ),
        (
            "Route::singularResourceParameters(false); Route::resource('cats', 'C')->only('show')",
            ["GET cats/{cats}"],
        ),
    ],
)
def test_resources_follow_their_options_and_chains(code: str, keys: list[str]) -> None:
    assert list(routes_by_key(app(f"{code};"))) == keys


def test_names_of_resources_follow_options_and_groups() -> None:
    graph = app(
        "Route::resource('a', 'C', ['names' => ['show' => 'x.one']])->only('show', 'index');"
        "Route::resource('b', 'C')->names('bees')->only('index'); Route::name('n.')->group(function () {"
        "Route::resource('c', 'C')->only('index')->name('index', 'all'); });"
        "Route::resource('d', 'C', ['as' => 'pre'])->only('index');"
    )
    assert table(graph, "name") == {
        "GET a": "a.index", "GET a/{a}": "x.one", "GET b": "bees.index", "GET c": "n.all", "GET d": "pre.d.index",
    }  # fmt: skip


def test_middleware_of_resources_can_be_for_some_actions() -> None:
    graph = app(
        "Route::resource('a', 'C')->only('index', 'show')->middleware('m')->middlewareFor('show', "
        "['s'])->withoutMiddlewareFor('index', 'w');"
        "Route::middleware('r')->resource('b', 'C')->only('index')->scoped(['b' => 'slug']);"
    )
    assert table(graph, "middleware", "excluded") == {
        "GET a": (["web", "m"], ["w"]), "GET a/{a}": (["web", "m", "s"], []), "GET b": (["web", "r"], []),
    }  # fmt: skip


def test_scoped_resources_bind_by_the_fields_they_name() -> None:
    graph = app(
        "Route::resource('posts.comments', 'C')->only('show')->scoped(['comment' => 'slug']);"
    )
    assert table(graph, "binding_fields") == {
        "GET posts/{post}/comments/{comment}": {"post": None, "comment": "slug"}
    }


def test_a_resource_is_found_by_its_name() -> None:
    graph = app("Route::resource('posts.comments', 'C')->only('index', 'store');")
    keys = [
        alias.key
        for alias in graph.aliases
        if (alias.name, alias.kind) == ("posts.comments", "route_resource")
    ]
    assert keys == ["route:GET posts/{post}/comments", "route:POST posts/{post}/comments"]
