from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.types import Graph
from ragstone_code.laravel import adapter
from ragstone_code.laravel.adapter import Laravel, find_applications
from ragstone_code.project_files import World
from tests.ragstone_code.laravel.small import links_by_kind, php, world

COMPOSER = (
    '{"require": {"laravel/framework": "^12.0"}, "autoload": {"psr-4": {"App\\\\": "app/"}}}'
)
FILES = dict(
    (
        ("composer.json", COMPOSER),
        php(
            "bootstrap/app.php",
            "use Illuminate\\Foundation\\Application;",
            "return Application::configure(basePath: dirname(__DIR__))",
            "->withRouting(web: __DIR__.'/../routes/web.php')->create();",
        ),
        php(
            "routes/web.php",
            "use Illuminate\\Support\\Facades\\Route;",
            "use App\\Http\\Controllers\\Books;",
            "Route::put('books/{book}', [Books::class, 'update'])->middleware('can:update,book');",
        ),
        php(
            "app/Http/Controllers/Books.php",
            "namespace App\\Http\\Controllers;",
            "class Books {",
            "/** Changes a book. */",
            "public function update(\\App\\Http\\Requests\\Change $r, \\App\\Models\\Book $book) {",
            "event(new \\App\\Events\\Changed($book));",
            "}",
            "}",
        ),
        php(
            "app/Http/Requests/Change.php",
            "namespace App\\Http\\Requests;",
            "class Change extends \\Illuminate\\Foundation\\Http\\FormRequest {",
            "public function rules() { return ['title' => 'required']; }",
            "}",
        ),
        php(
            "app/Models/Book.php",
            "namespace App\\Models;",
            "class Book extends \\Illuminate\\Database\\Eloquent\\Model {}",
        ),
        php(
            "app/Policies/BookPolicy.php",
            "namespace App\\Policies;",
            "class BookPolicy { public function update($u, $b) {} }",
        ),
        php("app/Events/Changed.php", "namespace App\\Events;", "class Changed {}"),
        php(
            "app/Listeners/Tell.php",
            "namespace App\\Listeners;",
            "class Tell {",
            "public function handle(\\App\\Events\\Changed $e) { config('app.name'); }",
            "}",
        ),
        php("config/app.php", "return ['name' => env('APP_NAME', 'Shop')];"),
        php(
            "database/migrations/2024_01_01_000000_create_books_table.php",
            "use Illuminate\\Support\\Facades\\Schema;",
            "return new class extends \\Illuminate\\Database\\Migrations\\Migration {",
            "public function up() {",
            "Schema::create('books', function ($table) { $table->id(); $table->string('title'); });",
            "} };",
        ),
    )
)
ACT = "App\\Http\\Controllers\\Books::update"
ROUTE = "route:PUT books/{book}"


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Laravel().read(world(FILES))


def test_one_read_links_a_route_to_its_request_its_model_its_table_and_its_policy(
    graph: Graph,
) -> None:
    there = "app/Http/Controllers/Books.php"
    assert links_by_kind(graph, "HANDLED_BY") >= {(ROUTE, ACT, "routes/web.php:5")}
    assert links_by_kind(graph, "VALIDATED_BY") == {
        (ACT, "App\\Http\\Requests\\Change", f"{there}:6")
    }
    assert links_by_kind(graph, "USES_MODEL") == {(ACT, "App\\Models\\Book", f"{there}:6")}
    assert {(source, target) for source, target, _ in links_by_kind(graph, "MAPS_TO")} == {
        ("App\\Models\\Book", "table:books")
    }
    assert links_by_kind(graph, "AUTHORIZED_BY") == {
        (ROUTE, "App\\Policies\\BookPolicy::update", "routes/web.php:5")
    }
    assert links_by_kind(graph, "FIRES") == {(ACT, "App\\Events\\Changed", f"{there}:7")}
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Tell", "App\\Events\\Changed", "app/Listeners/Tell.php:5")
    }
    assert links_by_kind(graph, "CONFIGURED_BY") == {
        ("App\\Listeners\\Tell::handle", "config:app.name", "app/Listeners/Tell.php:5")
    }


def test_every_node_key_is_unique_and_every_alias_has_a_node(graph: Graph) -> None:
    keys = [node.key for node in graph.nodes]
    assert len(keys) == len(set(keys))
    assert {alias.key for alias in graph.aliases} <= set(keys)
    assert len(graph.aliases) == len(set(graph.aliases))


def test_every_link_and_every_description_names_an_existing_file(graph: Graph) -> None:
    assert {link.uri for link in graph.links} <= set(FILES)
    assert {rendered.uri for rendered in graph.rendered} <= set(FILES)
    assert all(link.line for link in graph.links)


def test_the_description_of_a_route_has_the_words_of_its_method_and_fields(
    graph: Graph,
) -> None:
    rendered = next(rendered for rendered in graph.rendered if rendered.key == ROUTE)
    for words in (
        "Changes a book.",
        "fields title",
        "Book (table books)",
        "Changed",
        "update of BookPolicy",
    ):
        assert words in rendered.text
    assert "rename" in rendered.words and "rename" not in rendered.text


def test_an_application_in_a_folder_has_the_same_graph_with_its_paths(graph: Graph) -> None:
    inside = Laravel().read(
        world({f"api/{uri}": text for uri, text in FILES.items()} | {"web/app.js": "1"})
    )
    assert {node.key for node in inside.nodes} == {node.key for node in graph.nodes}
    assert {node.uri for node in inside.nodes if node.uri} == {
        f"api/{node.uri}" for node in graph.nodes if node.uri
    }
    assert len(inside.links) == len(graph.links)


def test_only_laravel_applications_are_detected() -> None:
    assert Laravel().detects(world(FILES))
    assert Laravel().detects(world({"artisan": "", "bootstrap/app.php": "<?php"}))
    for other in (
        {"composer.json": '{"require": {"symfony/console": "*"}}'},
        {"composer.json": '{"require-dev": {"laravel/framework": "*"}}'},
        {"composer.json": '{"type": "library", "require": {"laravel/framework": "*"}}'},
        {"composer.json": '"laravel/framework"'},
        {"composer.json": "laravel/framework"},
        {"vendor/x/composer.json": COMPOSER},
        {"artisan": "", "app.php": "<?php"},
        {},
    ):
        assert not Laravel().detects(world(other)), other
        assert Laravel().read(world(other)) == Graph()


def test_two_applications_are_found_in_two_folders() -> None:
    assert list(
        find_applications(world({"a/composer.json": COMPOSER, "b/composer.json": COMPOSER}))
    ) == ["a/", "b/"]


def test_a_failing_pass_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, graph: Graph
) -> None:
    def broken(_: World) -> Graph:
        raise KeyError("odd")

    monkeypatch.setattr(adapter, "read_tables", broken)
    result = Laravel().read(world(FILES))
    assert "laravel: tables could not be read: KeyError: 'odd'" in result.remarks
    assert links_by_kind(result, "HANDLED_BY") == links_by_kind(graph, "HANDLED_BY")


@pytest.mark.parametrize(
    "text", ["", "<?php", "<?php class {", "<?php return [", "\x00\x01", "<?php Route::get("]
)
def test_unreadable_files_do_not_stop_the_read(text: str, graph: Graph) -> None:
    odd = {
        uri: text
        for uri in (
            "app/Odd.php",
            "config/odd.php",
            "routes/console.php",
            "app/Listeners/Odd.php",
        )
    }
    result = Laravel().read(world(FILES | odd))
    assert {node.key for node in result.nodes} >= {node.key for node in graph.nodes}
    assert not [remark for remark in result.remarks if "could not be read" in remark]


PIECES = [
    "Event", "::", "listen", "(", ")", "[", "]", "=>", "'a'", "new", "X", "$x", "->", "dispatch", ";", "fn", "function",
    "{", "}", "class", "extends", "config", "'app.name'", ",", "Gate", "define", "policy", "Schedule", "command", "job",
    "return", "if", "self", "static", "?", ":", "...", "match", "default", "bind", "observe", "Broadcast",
    "channel", ".",
]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_broken_programs_do_not_stop_a_pass(pieces: list[str]) -> None:
    text = (
        "<?php\nuse Illuminate\\Support\\Facades\\{Event, Gate, Schedule, Broadcast};\n"
        + " ".join(pieces)
    )
    head = "<?php\nclass P extends \\Illuminate\\Support\\ServiceProvider { public function boot() {"
    inside = f"{head} {' '.join(pieces)} }} }}"
    files = {
        "composer.json": COMPOSER,
        "routes/console.php": text,
        "app/P.php": inside,
        "config/x.php": text,
    }
    assert not [
        remark
        for remark in Laravel().read(world(files)).remarks
        if "could not be read" in remark
    ]
