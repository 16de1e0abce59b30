"""An app whose routes are written in a test."""

from __future__ import annotations

from ragstone.types import Graph, Json, Node
from ragstone_code.laravel.routes import read_routes
from tests.ragstone_code.small_world import world

PROVIDER = """
namespace App\\Providers;
use Illuminate\\Foundation\\Support\\Providers\\RouteServiceProvider as Base;
use Illuminate\\Support\\Facades\\Route;
class RouteServiceProvider extends Base {
    public function boot(): void {
        $this->routes(function () { Route::middleware('web')->group(base_path('routes/web.php')); });
    }
}
"""


def app(code: str, more: dict[str, str] | None = None) -> Graph:
    """Return the graph of an app with these routes, all in the group web."""
    files = {
        "config/app.php": "return ['providers' => [App\\Providers\\RouteServiceProvider::class]];",
        "app/Providers/RouteServiceProvider.php": PROVIDER,
        "routes/web.php": f"use Illuminate\\Support\\Facades\\Route;\n{code}",
        **(more or {}),
    }
    return read_routes(world(files))


def routes_by_key(graph: Graph) -> dict[str, Node]:
    """Return the routes by their keys, without `route:`."""
    return {
        node.key.removeprefix("route:"): node for node in graph.nodes if node.kind == "route"
    }


def table(graph: Graph, *fields: str) -> dict[str, Json | tuple[Json, ...]]:
    """Return some attributes of every route by its key."""
    rows = {
        key: tuple(node.attributes[field] for field in fields)
        for key, node in routes_by_key(graph).items()
    }
    return {key: row[0] if len(row) == 1 else row for key, row in rows.items()}
