from __future__ import annotations

from ragstone.types import Graph
from ragstone_code.laravel.routes import read_routes
from tests.ragstone_code.small_world import world

ONE = "Illuminate\\Support\\Facades\\Route::get('one', 'One@m');"
TWO = "Illuminate\\Support\\Facades\\Route::get('two', 'Two@m');"


def middleware(graph: Graph) -> dict[str, object]:
    """Return the middleware of every route."""
    return {
        node.key.removeprefix("route:"): node.attributes["middleware"]
        for node in graph.nodes
        if node.kind == "route"
    }


def provider(
    body: str,
    name: str = "RouteServiceProvider",
    base: str = "Foundation\\Support\\Providers\\RouteServiceProvider",
) -> str:
    """Return the file of a provider."""
    uses = "use Illuminate\\Support\\Facades\\Route; use Illuminate\\Routing\\Router;"
    return f"namespace App\\Providers; {uses} class {name} extends \\Illuminate\\{base} {{ {body} }}"


def mounted(files: dict[str, str]) -> dict[str, object]:
    """Return the middleware of every route of an app of these files."""
    return middleware(
        read_routes(world({"routes/one.php": ONE, "routes/two.php": TWO, **files}))
    )


LISTED = {"bootstrap/providers.php": "return [App\\Providers\\RouteServiceProvider::class];"}


def test_bootstrap_mounts_web_api_health_and_more_in_the_order_of_the_framework() -> None:
    code = (
        "return Illuminate\\Foundation\\Application::configure(basePath: dirname(__DIR__))->withRouting("
        "web: __DIR__.'/../routes/one.php', api: [__DIR__.'/../routes/two.php'], apiPrefix: 'v1', health: '/up',"
        "then: function () { Illuminate\\Support\\Facades\\Route::middleware('x')->get('three', fn () => 1); })"
        "->withMiddleware(function ($middleware) {})->create();"
    )
    assert mounted({"bootstrap/app.php": code}) == {
        "GET v1/two": ["api"],
        "GET up": [],
        "GET one": ["web"],
        "GET three": ["x"],
    }


def test_a_using_callback_replaces_the_route_files() -> None:
    code = (
        "return Illuminate\\Foundation\\Application::configure()->withRouting(using: function () {"
        "App\\Providers\\RouteServiceProvider::load('one'); }, health: '/up')->create();"
    )
    files = {
        "app/Providers/RouteServiceProvider.php": provider(
            "static function load($f) { Route::group([], base_path(sprintf('routes/%s.php', $f))); }"
        )
    }
    assert mounted({"bootstrap/app.php": code, **files}) == {"GET one": []}


def test_routes_of_the_framework_are_marked() -> None:
    code = (
        "return Illuminate\\Foundation\\Application::configure()->withRouting(web: 'routes/one.php', "
        "channels: 'routes/channels.php', health: '/up')->create();"
    )
    graph = read_routes(
        world({"bootstrap/app.php": code, "routes/one.php": ONE, "routes/channels.php": ""})
    )
    by = {
        node.key: node.attributes.get("registered_by")
        for node in graph.nodes
        if node.kind == "route"
    }
    assert by == {
        "route:GET up": "framework",
        "route:GET one": None,
        "route:GET|POST broadcasting/auth": "framework",
    }


def test_a_provider_registers_routes_in_boot_through_its_methods() -> None:
    body = (
        "function boot() { $this->routes(function () { $this->mapWeb(); $this->mapApi(); }); }"
        "protected function mapWeb() { Route::group(['middleware' => 'web', 'namespace' => "
        "$this->namespace], function ($router) { require base_path('routes/one.php'); }); }"
        "protected function mapApi() { Route::prefix('api')->middleware(['api', "
        "'log'])->group(base_path('routes/two.php')); }"
    )
    assert mounted({**LISTED, "app/Providers/RouteServiceProvider.php": provider(body)}) == {
        "GET one": ["web"],
        "GET api/two": ["api", "log"],
    }


def test_an_older_provider_maps_its_routes() -> None:
    body = (
        "protected $namespace = 'App\\Old'; function map(Router $router) { $router->group(['namespace' "
        "=> $this->namespace], function ($router) { require base_path('routes/one.php'); }); }"
    )
    graph = read_routes(
        world(
            {
                **LISTED,
                "routes/one.php": ONE,
                "app/Providers/RouteServiceProvider.php": provider(body),
            }
        )
    )
    assert [node.attributes["action"] for node in graph.nodes if node.kind == "route"] == [
        "App\\Old\\One@m"
    ]


def test_providers_that_register_providers_and_load_files_are_followed() -> None:
    plain = "Support\\ServiceProvider"
    files = {
        "config/app.php": (
            "use Illuminate\\Support\\ServiceProvider; return ['providers' => "
            "ServiceProvider::defaultProviders()->merge([App\\Providers\\First::class])->toArray()];"
        ),
        "app/Providers/First.php": provider(
            "function register() { $this->app->register(Second::class); }", "First", plain
        ),
        "app/Providers/Second.php": provider(
            "function boot() { $this->loadRoutesFrom(__DIR__.'/../../routes/one.php'); }",
            "Second",
            plain,
        ),
        "app/Providers/Unlisted.php": provider(
            "function boot() { $this->loadRoutesFrom(base_path('routes/two.php')); }",
            "Unlisted",
            plain,
        ),
    }
    assert mounted(files) == {"GET one": []}


def test_packages_inside_the_project_name_their_providers() -> None:
    files = {
        "packages/shop/composer.json": '{"extra": {"laravel": {"providers": ["Shop\\\\Provider"]}}}',
        "packages/shop/src/Provider.php": (
            "namespace Shop; class Provider extends \\Illuminate\\Support\\ServiceProvider { function "
            "boot() { $this->loadRoutesFrom(__DIR__.'/routes.php'); } }"
        ),
        "packages/shop/src/routes.php": "require 'inner.php';",
        "packages/shop/src/inner.php": ONE,
    }
    assert mounted(files) == {"GET one": []}


def test_standard_route_files_are_mounted_with_a_remark_if_nothing_mounts_them() -> None:
    graph = read_routes(world({"routes/web.php": ONE, "routes/api.php": TWO}))
    assert middleware(graph) == {"GET one": ["web"], "GET api/two": ["api"]}
    assert len(graph.remarks) == 2


def test_a_missing_route_file_is_a_remark() -> None:
    body = "function boot() { $this->routes(function () { Route::group([], base_path('routes/gone.php')); }); }"
    graph = read_routes(
        world({**LISTED, "app/Providers/RouteServiceProvider.php": provider(body)})
    )
    assert graph.remarks == (
        "app/Providers/RouteServiceProvider.php:1: the route file routes/gone.php is not there",
    )


def test_auth_routes_use_the_controllers_of_the_application() -> None:
    body = (
        "protected $namespace = 'App\\Http\\Controllers'; function map() { "
        "Route::namespace($this->namespace)->group(fn () => Auth::routes(['register' => false])); }"
    )
    graph = read_routes(
        world(
            {
                **LISTED,
                "app/Providers/RouteServiceProvider.php": provider(body).replace(
                    "use Illuminate\\Routing",
                    "use Illuminate\\Support\\Facades\\Auth; use Illuminate\\Routing",
                ),
                "app/Http/Controllers/Auth/LoginController.php": "namespace App\\Http\\Controllers\\Auth;"
                "class LoginController { function login() {} }",
            }
        )
    )
    actions = {
        node.key: node.attributes["action"] for node in graph.nodes if node.kind == "route"
    }
    assert actions["route:POST login"] == "App\\Http\\Controllers\\Auth\\LoginController@login"
    assert "route:GET register" not in actions and "route:POST password/reset" in actions


def test_a_lumen_application_is_its_own_router() -> None:
    code = (
        "require __DIR__.'/../vendor/autoload.php'; $app = new Laravel\\Lumen\\Application(dirname(__DIR__));"
        "$app->routeMiddleware(['log' => App\\Log::class]);"
        "$app->group(['namespace' => 'App', 'middleware' => 'log'], function ($app) { $app->get('a', 'A@m'); });"
        "$app->router->group(['prefix' => 'p'], function ($router) { require __DIR__.'/../routes/two.php'; });"
    )
    graph = read_routes(world({"bootstrap/app.php": code, "routes/two.php": TWO}))
    assert middleware(graph) == {"GET a": ["log"], "GET p/two": []}
    assert names(graph)["log"][0] == "App\\Log" and not graph.remarks


# ── names of middleware ───────────────────────────────────────────────────────────────────────────


def names(graph: Graph) -> dict[str, tuple[object, object, str]]:
    """Return class, members and place of every middleware."""
    return {
        node.name: (node.attributes["class"], node.attributes["group"], node.place)
        for node in graph.nodes
        if node.kind == "middleware"
    }


def test_the_kernel_names_middleware_and_groups() -> None:
    kernel = (
        "namespace App\\Http; class Kernel extends \\Illuminate\\Foundation\\Http\\Kernel {\n  "
        "protected $middlewareAliases = [\n    'log' => Log::class,\n  ];\n  protected "
        "$middlewareGroups = ['web' => ['log', Log::class]];\n}"
    )
    middleware_names = names(
        read_routes(world({"app/Http/Kernel.php": kernel, "routes/web.php": ONE}))
    )
    assert middleware_names == {
        "log": ("App\\Http\\Log", [], "app/Http/Kernel.php:3"),
        "web": (None, ["log", "App\\Http\\Log"], "app/Http/Kernel.php:5"),
    }


def test_bootstrap_names_middleware_and_changes_groups() -> None:
    code = (
        "return Illuminate\\Foundation\\Application::configure()->withRouting(web: 'routes/one.php')"
        "->withMiddleware(function (Illuminate\\Foundation\\Configuration\\Middleware $middleware) {\n"
        "$middleware->alias([\n'log' => App\\Log::class]);\n$middleware->web(append: "
        "[App\\Last::class], remove: App\\None::class);\n"
        "$middleware->group('own', ['log']);\n})->create();"
    )
    graph = read_routes(world({"bootstrap/app.php": code, "routes/one.php": ONE}))
    middleware_names = names(graph)
    assert middleware_names["log"] == ("App\\Log", [], "bootstrap/app.php:3")
    assert middleware_names["own"][1] == ["log"]
    web = middleware_names["web"][1]
    assert isinstance(web, list) and web[-1] == "App\\Last" and len(web) == 7
    handled = [
        (link.source, link.target) for link in graph.links if link.source == "middleware:log"
    ]
    assert handled == [("middleware:log", "class:App\\Log")]
