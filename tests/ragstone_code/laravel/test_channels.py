from __future__ import annotations

from ragstone_code.laravel.channels import read_channels
from tests.ragstone_code.laravel.small import app, links_by_kind, php


def test_channels_have_a_pattern_a_line_and_an_authoriser() -> None:
    join = php(
        "app/Room.php", "namespace App;", "class Room { public function join($user) {} }"
    )
    routes = php(
        "routes/channels.php",
        "use Illuminate\\Support\\Facades\\Broadcast;",
        "Broadcast::channel('users.{id}', fn (\\App\\Models\\User $user, int $id) => true);",
        "Broadcast::channel('rooms.{room}', \\App\\Room::class);",
        "Other::channel('x', 1);",
    )
    graph = read_channels(*app(join, routes))
    assert [(node.name, node.line, node.attributes) for node in graph.nodes] == [
        ("users.{id}", 4, {"by": "Closure", "models": ["App\\Models\\User"]}),
        ("rooms.{room}", 5, {"by": "App\\Room", "models": []}),
    ]
    assert links_by_kind(graph, "HANDLED_BY") == {
        ("channel:rooms.{room}", "App\\Room::join", "routes/channels.php:5")
    }
    assert {(alias.name, alias.kind) for alias in graph.aliases} == {
        ("users.{id}", "channel"),
        ("rooms.{room}", "channel"),
    }
