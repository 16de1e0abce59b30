from __future__ import annotations

from tests.ragstone_code.laravel.small_routes import app, routes_by_key, table


def controller(name: str, body: str) -> dict[str, str]:
    """Return the file of a controller of the app."""
    return {
        f"app/Http/Controllers/{name}.php": "namespace App\\Http\\Controllers; use App\\Models\\Post;"
        f"class {name} {{ {body} }}"
    }


def test_a_route_links_to_the_class_that_declares_its_method() -> None:
    more = {
        **controller("Base", "public function index() {}"),
        **controller("Posts", "public function show() {}"),
    }
    more["app/Http/Controllers/Posts.php"] = more["app/Http/Controllers/Posts.php"].replace(
        "Posts {", "Posts extends Base {"
    )
    graph = app(
        "use App\\Http\\Controllers\\Posts; Route::resource('posts', Posts::class)->only('index', 'show', 'store');",
        more,
    )
    links = {
        link.source: (link.target, dict(link.attributes))
        for link in graph.links
        if link.kind == "HANDLED_BY"
    }
    assert links["route:GET posts"] == ("method:App\\Http\\Controllers\\Base::index", {})
    assert links["route:GET posts/{post}"] == ("method:App\\Http\\Controllers\\Posts::show", {})
    assert links["route:POST posts"] == (
        "class:App\\Http\\Controllers\\Posts",
        {"method_exists": False, "method": "store"},
    )
    assert table(graph, "method_exists")["POST posts"] is False


def test_middleware_is_linked_in_order_with_the_line_of_each_word() -> None:
    graph = app(
        "Route::middleware([\n  'auth:api',\n  'log',\n])->group(function () {\n  Route::get('a', fn () "
        "=> 1)->withoutMiddleware('log');\n});"
    )
    links = [link for link in graph.links if link.kind == "GUARDED_BY"]
    rows = [
        (
            link.target,
            link.line,
            link.order,
            *(link.attributes[key] for key in ("parameters", "excluded")),
        )
        for link in links
    ]
    assert rows == [
        ("middleware:web", 6, 0, "", False), ("middleware:auth", 3, 1, "api", False),
        ("middleware:log", 4, 2, "", False), ("middleware:log", 6, 3, "", True),
    ]  # fmt: skip


MODEL = {
    "app/Models/Post.php": "namespace App\\Models; use Illuminate\\Database\\Eloquent\\Model;"
    "class Post extends Model { public function getRouteKeyName() { return 'slug'; } }"
}


def test_parameters_are_bound_by_type_field_and_explicit_binding() -> None:
    more = {
        **MODEL,
        **controller(
            "C",
            "function a(Post $post) {} function b(Post $blogPost, string $x) {} function c($bound) {}",
        ),
    }
    graph = app(
        "use App\\Http\\Controllers\\C; use App\\Models\\Post; Route::model('bound', Post::class); "
        "Route::get('a/{post}', [C::class, 'a']);"
        "Route::get('b/{blog_post:id}/{x}', [C::class, 'b']); Route::get('c/{bound}', [C::class, 'c']);"
        "Route::get('d/{post?}', fn (?Post $post = null) => 1);",
        more,
    )
    links = {link.source: dict(link.attributes) for link in graph.links if link.kind == "BINDS"}
    assert links == {
        "route:GET a/{post}": {"parameter": "post", "field": "slug", "how": "implicit"},
        "route:GET b/{blog_post}/{x}": {
            "parameter": "blog_post",
            "field": "id",
            "how": "implicit",
        },
        "route:GET c/{bound}": {"parameter": "bound", "field": "slug", "how": "model"},
        "route:GET d/{post?}": {"parameter": "post", "field": "slug", "how": "implicit"},
    }
    assert routes_by_key(graph)["GET b/{blog_post}/{x}"].attributes["binding_fields"] == {
        "blog_post": "id"
    }


def test_a_binding_closure_gives_its_model_by_type_or_return_value() -> None:
    graph = app(
        "use App\\Models\\Post; Route::bind('a', fn ($v): Post => find($v)); Route::get('a/{a}', fn () => 1);"
        "Route::bind('b', function ($v) { return Post::where('x', $v)->firstOrFail(); });"
        "Route::get('b/{b}', fn () => 1);"
        "Route::bind('c', fn ($v) => other($v)); Route::get('c/{c}', fn () => 1);",
        MODEL,
    )
    links = {
        link.source: (link.target, link.attributes["how"])
        for link in graph.links
        if link.kind == "BINDS"
    }
    assert links == {
        f"route:GET {one}/{{{one}}}": ("class:App\\Models\\Post", "bind") for one in ("a", "b")
    }


def test_a_binding_closure_tells_the_column_it_searches_by() -> None:
    closures = {
        "a": "Post::where('x', $v)->firstOrFail()",
        "b": "Post::findBySlug($v)",
        "c": "Post::whereShortName($v)->first()",
        "d": "Post::findOrFail($v)",
        "e": "Post::search($v)->first()",
    }
    routes = [
        f"Route::bind('{name}', fn ($v): Post => {code}); Route::get('{name}/{{{name}}}', fn () => 1);"
        for name, code in closures.items()
    ]
    graph = app("use App\\Models\\Post; " + "".join(routes), MODEL)
    columns = {
        link.attributes["parameter"]: link.attributes["field"]
        for link in graph.links
        if link.kind == "BINDS"
    }
    assert columns == {"a": "x", "b": "slug", "c": "short_name", "d": "id", "e": None}


def test_middleware_of_controllers_is_listed_separately() -> None:
    here = "namespace App\\Http\\Controllers; use Illuminate\\Routing"
    more = {
        "app/Http/Controllers/Old.php": f"{here}\\Controller; class Old extends Controller {{"
        "function __construct() {"
        "$this->middleware('auth')->only('show'); $this->middleware('log', ['except' => ['show']]); }"
        "function show() {} function index() {} }",
        "app/Http/Controllers/Listed.php": f"{here}\\Controllers\\{{HasMiddleware, Middleware}};"
        "class Listed implements HasMiddleware { static function middleware(): array {"
        "return ['a', new Middleware('b', only: ['show'])]; } function show() {} function index() {} }",
        "app/Http/Controllers/Marked.php": f"{here}\\Attributes\\Controllers\\Middleware;"
        "#[Middleware('auth', except: ['index'])] class Marked {"
        "#[Middleware('m')] function show() {} function index() {} }",
    }
    code = "".join(
        f"Route::get('{name}/show', [App\\Http\\Controllers\\{name}::class, 'show']);"
        f"Route::get('{name}', [App\\Http\\Controllers\\{name}::class, 'index']);"
        for name in ("Old", "Listed", "Marked")
    )
    graph = app(code, more)
    assert table(graph, "controller_middleware") == {
        "GET Old/show": ["auth"], "GET Old": ["log"], "GET Listed/show": ["a", "b"], "GET Listed": ["a"],
        "GET Marked/show": ["auth", "m"], "GET Marked": [],
    }  # fmt: skip
    assert all(guard == ["web"] for guard in table(graph, "middleware").values())


def test_controller_middleware_follows_the_routes_own_without_duplicates() -> None:
    more = {
        "app/Http/Controllers/Old.php": "namespace App\\Http\\Controllers; use Illuminate\\Routing\\Controller;\n"
        "class Old extends Controller { function __construct() {\n"
        "$this->middleware('log');\n$this->middleware('auth'); $this->middleware('late')->only('x'); }\n"
        "function show() {} }",
    }
    code = "Route::get('old', [App\\Http\\Controllers\\Old::class, 'show'])->middleware('auth')->withoutMiddleware('web');"
    guards = [link for link in app(code, more).links if link.kind == "GUARDED_BY"]
    assert [
        (guard.order, guard.target, guard.attributes.get("by"), guard.attributes["excluded"])
        for guard in guards
    ] == [
        (0, "middleware:web", None, False),
        (1, "middleware:auth", None, False),
        (2, "middleware:log", "controller", False),
        (3, "middleware:web", None, True),
    ]
    assert (guards[2].uri, guards[2].line) == ("app/Http/Controllers/Old.php", 3)


def test_a_first_class_callable_is_a_closure() -> None:
    graph = app(
        "Route::get('a', (new App\\Old)->show(...));",
        {"app/Old.php": "namespace App; class Old {}"},
    )
    assert table(graph, "action") == {"GET a": "Closure"}


def test_routes_are_made_for_the_cases_of_an_enum() -> None:
    more = {
        "app/Kind.php": "namespace App; enum Kind: string { case Song = 'song'; case Film = 'film'; }"
    }
    graph = app(
        "foreach (App\\Kind::cases() as $one) { Route::get($one->value, fn () => 1)->name($one->name); }",
        more,
    )
    assert table(graph, "name") == {"GET song": "Song", "GET film": "Film"}


def test_a_route_is_found_by_name_and_by_path() -> None:
    graph = app("Route::put('songs/{song}', fn () => 1)->name('songs.update');")
    assert {(alias.name, alias.kind) for alias in graph.aliases if alias.key == "route:PUT songs/{song}"} == {
        ("songs.update", "route_name"), ("songs/{}", "uri"), ("PUT songs/{}", "uri"),
    }  # fmt: skip


def test_a_route_lists_the_places_that_form_its_path() -> None:
    graph = app(
        "Route::prefix('p')\n  ->name('n.')\n  ->group(function () {\n  foreach ([\n  'x',\n  'y',\n] as $one) {\n"
        "Route::get($one, fn () => 1);\n}\n});"
    )
    assert table(graph, "written_at") == {
        "GET p/x": ["routes/web.php:2", "routes/web.php:3", "routes/web.php:6"],
        "GET p/y": ["routes/web.php:2", "routes/web.php:3", "routes/web.php:7"],
    }
