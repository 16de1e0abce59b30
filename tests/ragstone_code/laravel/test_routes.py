from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ragstone_code.laravel.small_routes import app, routes_by_key, table


def controller(name: str, body: str) -> dict[str, str]:
    """Return the file of a controller of the app."""
    return {
        f"app/Http/Controllers/{name}.php": "namespace App\\Http\\Controllers; use App\\Models\\Post;"
        f"class {name} {{ {body} }}"
    }


# ── verbs and actions ─────────────────────────────────────────────────────────────────────────────


def test_every_verb_gives_its_methods_and_its_key() -> None:
    graph = app(
        "Route::get('a', fn () => 1); Route::post('a', fn () => 1); Route::any('b', fn () => 1);"
        "Route::match(['put', 'PATCH'], 'c', fn () => 1); Route::match(['get', 'post'], 'd', fn () => 1);"
        "Route::get('/', fn () => 1); Route::options('e', fn () => 1);"
    )
    assert list(routes_by_key(graph)) == [
        "GET a",
        "POST a",
        "ANY b",
        "PUT|PATCH c",
        "GET|POST d",
        "GET /",
        "OPTIONS e",
    ]


def test_actions_are_named_as_the_framework_prints_them() -> None:
    graph = app(
        "use App\\Http\\Controllers\\Post; Route::get('a', [Post::class, 'show']); Route::get('b', Post::class);"
        "Route::get('c', 'App\\Http\\Controllers\\Post@show'); Route::get('d', function () {});"
        "Route::get('e', ['uses' => 'Other@show', 'as' => 'e.name']); Route::middleware('x')->get('f', "
        "[Post::class, 'f']);"
        "Route::get('g')->uses([Post::class, 'g']); Route::post('h', ['as' => 'h', function () {}]);"
    )
    post = "App\\Http\\Controllers\\Post"
    assert table(graph, "action") == {
        "GET a": f"{post}@show", "GET b": post, "GET c": f"{post}@show", "GET d": "Closure", "GET e": "Other@show",
        "GET f": f"{post}@f", "GET g": f"{post}@g", "POST h": "Closure",
    }  # fmt: skip
    assert routes_by_key(graph)["GET e"].attributes["name"] == "e.name"


def test_redirects_views_and_fallbacks_are_routes_with_defaults() -> None:
    graph = app(
        "Route::redirect('a', '/b'); Route::permanentRedirect('c', '/d'); Route::view('e', 'page'); "
        "Route::fallback(fn () => 1);"
    )
    assert table(graph, "action", "defaults") == {
        "ANY a": (
            "Illuminate\\Routing\\RedirectController",
            {"destination": "/b", "status": 302},
        ),
        "ANY c": (
            "Illuminate\\Routing\\RedirectController",
            {"destination": "/d", "status": 301},
        ),
        "GET e": ("Illuminate\\Routing\\ViewController", {"view": "page"}),
        "GET {fallbackPlaceholder}": ("Closure", {}),
    }
    assert routes_by_key(graph)["GET {fallbackPlaceholder}"].attributes["wheres"] == {
        "fallbackPlaceholder": ".*"
    }


def test_a_route_has_the_line_that_registers_it() -> None:
    graph = app("\nRoute::get(\n  'a',\n  fn () => 1\n)->name('a');")
    assert routes_by_key(graph)["GET a"].place == "routes/web.php:3"


# ── groups ────────────────────────────────────────────────────────────────────────────────────────


def test_groups_written_as_chains_and_arrays_merge_their_attributes() -> None:
    graph = app(
        "Route::prefix('/admin/')->name('admin.')->middleware(['auth', 'can:x'])->group(function () {"
        "  Route::group(['prefix' => 'users', 'as' => 'users.', 'middleware' => 'log'], function ($router) {"
        "    $router->get('{id}', fn () => 1)->name('show')->middleware('last')->withoutMiddleware('auth');"
        "    Route::get('/', fn () => 1);"
        "  });"
        "});"
    )
    assert table(graph, "name", "middleware", "excluded") == {
        "GET admin/users/{id}": (
            "admin.users.show",
            ["web", "auth", "can:x", "log", "last"],
            ["auth"],
        ),
        "GET admin/users": ("admin.users.", ["web", "auth", "can:x", "log"], []),
    }


def test_namespace_and_controller_of_a_group_apply_to_its_actions() -> None:
    graph = app(
        "Route::namespace('App\\Http')->group(function () { Route::namespace('Api')->group(function () {"
        "  Route::get('a', 'Posts@index'); Route::get('b', '\\Root@index'); }); });"
        "Route::controller(App\\Posts::class)->group(function () { Route::get('c', 'index'); "
        "Route::get('d', fn () => 1); });"
    )
    assert table(graph, "action") == {
        "GET a": "App\\Http\\Api\\Posts@index", "GET b": "Root@index", "GET c": "App\\Posts@index",
        "GET d": "App\\Posts",
    }  # fmt: skip


def test_a_domain_is_part_of_the_route() -> None:
    graph = app(
        "Route::domain('{account}.example.com')->group(function () { Route::get('users', fn () => 1); });"
    )
    assert table(graph, "domain") == {
        "GET {account}.example.com/users": "{account}.example.com"
    }


def test_a_prefix_of_a_single_route_goes_before_that_of_its_group() -> None:
    graph = app(
        "Route::prefix('g')->group(function () { Route::get('a', fn () => 1)->prefix('p');"
        "Route::prefix('r')->get('b', fn () => 1); });"
    )
    assert list(routes_by_key(graph)) == ["GET p/g/a", "GET r/g/b"]


def test_constraints_of_routes_groups_and_app_are_merged() -> None:
    graph = app(
        "Route::pattern('id', '[0-9]+'); Route::where(['slug' => '[a-z]+'])->group(function () {"
        "Route::get('{slug}/{id}/{kind}', fn () => 1)->whereIn('kind', ['a', 'b']); });"
        "Route::get('{u}', fn () => 1)->whereAlpha('u')->where('x', '.*');"
    )
    assert table(graph, "wheres") == {
        "GET {slug}/{id}/{kind}": {"id": "[0-9]+", "slug": "[a-z]+", "kind": "a|b"},
        "GET {u}": {"id": "[0-9]+", "u": "[a-zA-Z]+", "x": ".*"},
    }


def test_abilities_are_middleware() -> None:
    graph = app(
        "Route::can('view', 'post')->group(function () { Route::get('{post}', fn () => "
        "1)->can('update', ['post', 'user']); });"
    )
    assert table(graph, "middleware") == {
        "GET {post}": ["web", "can:view,post", "can:update,post,user"]
    }


def test_enums_are_names_and_middleware() -> None:
    graph = app(
        "Route::get('a', fn () => 1)->name(Page::Home)->middleware(Page::Home->value . ':x');",
        {"Page.php": "enum Page: string { case Home = 'home'; }"},
    )
    assert table(graph, "name", "middleware") == {"GET a": ("home", ["web", "home:x"])}


def test_routes_in_loops_and_in_lists_of_files_are_all_found() -> None:
    graph = app(
        "foreach (['a' => 'A', 'b' => 'B'] as $uri => $name) { Route::get(\"x/$uri\", \"C@get{$name}\")->name($uri); }"
        "foreach (glob(base_path('routes/more/*.php')) as $file) { require $file; }"
        "collect(['p', 'q'])->each(fn ($one) => Route::get($one, fn () => 1));",
        {
            "routes/more/one.php": "Route::get('one', fn () => 1);",
            "routes/more/two.php": "Route::get('two', fn () => 1);",
        },
    )
    assert list(routes_by_key(graph)) == [
        "GET x/a",
        "GET x/b",
        "GET one",
        "GET two",
        "GET p",
        "GET q",
    ]
    assert routes_by_key(graph)["GET x/b"].attributes["action"] == "C@getB"


def test_a_macro_of_the_app_registers_its_routes() -> None:
    graph = app(
        "Route::macro('admin', function ($uri) { return $this->get(\"admin/$uri\", fn () => 1); }); "
        "Route::admin('x')->name('n');"
    )
    assert table(graph, "name") == {"GET admin/x": "n"}


def test_router_methods_of_packages_give_a_remark() -> None:
    graph = app("Route::livewire('x', 'Y');")
    assert graph.remarks == (
        "routes/web.php:2: Route::livewire() is registered by a package: what it adds is not known",
    )


# ── duplicates and conditions ─────────────────────────────────────────────────────────────────────


def test_the_last_of_two_routes_with_one_path_counts() -> None:
    graph = app("Route::get('a', 'One@x'); Route::get('b', 'B@x'); Route::get('a', 'Two@x');")
    assert table(graph, "action") == {"GET a": "Two@x", "GET b": "B@x"}
    assert graph.remarks == ("routes/web.php:2: GET a is registered again later, which counts",)


def test_routes_under_a_condition_are_marked_conditional() -> None:
    graph = app(
        "if (config('x.on')) { Route::get('a', fn () => 1); } else { Route::get('b', 'C@m'); } "
        "Route::get('c', fn () => 1);"
    )
    assert table(graph, "conditional") == {"GET a": True, "GET b": True, "GET c": False}
    assert [
        link.conditional
        for link in graph.links
        if link.kind == "HANDLED_BY" and link.source == "route:GET b"
    ] == [True]


def test_a_conditional_replacement_names_the_route_it_replaces() -> None:
    graph = app(
        "if (config('x.on')) { Route::get('a', 'One@m'); } else {\nRoute::get('a', 'Two@m'); }"
    )
    assert table(graph, "action", "alternatives") == {
        "GET a": ("Two@m", [{"action": "One@m", "place": "routes/web.php:2"}])
    }


def test_settings_are_shown_by_their_keys() -> None:
    graph = app(
        "Route::prefix(config('x.prefix'))->middleware(['a', config('x.m'), null])->group(fn () => "
        "Route::get(env('P') . '/a', fn () => 1));"
    )
    assert table(graph, "middleware") == {
        "GET config(x.prefix)/env(P)/a": ["web", "a", "config(x.m)"]
    }


def test_loops_over_lists_in_settings_files_are_followed() -> None:
    graph = app(
        "foreach (config('x.langs') as $one) { Route::get($one, fn () => 1); }",
        {"config/x.php": "return ['langs' => ['de', 'en']];"},
    )
    assert list(routes_by_key(graph)) == ["GET de", "GET en"]


# ── any input ─────────────────────────────────────────────────────────────────────────────────────

WHOLE = """use Illuminate\\Support\\Facades\\Route;
Route::middleware(['auth', config('x')])->prefix('p')->name('n.')->group(function () {
    Route::resource('a.b', C::class, ['only' => ['index'], 'names' => 'x'])->parameters(['b' => 'c'])->scoped();
    foreach ([1, 2] as $i) { Route::match(['get', 'post'], "x/{$i}", [C::class, 'm'])->where('a', 'b'); }
    Route::group(['domain' => 'd', 'middleware' => 'e'], base_path('routes/other.php'));
});
Route::bind('x', fn ($v) => Post::find($v)); Route::model('y', Z::class);
"""


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 1_000_000),
    st.sampled_from(["", "$x", "[", "null", "'", ")", "->name()", "::", "...$a", "[[]]"]),
)
def test_no_route_file_raises(seed: int, put: str) -> None:
    chosen = random.Random(seed)
    at, until = sorted((chosen.randrange(len(WHOLE)), chosen.randrange(len(WHOLE))))
    until = min(until, at + 30)
    app(WHOLE[:at] + put + WHOLE[until:])
