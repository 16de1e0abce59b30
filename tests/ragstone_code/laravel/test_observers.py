from __future__ import annotations

from ragstone_code.laravel.observers import read_observers
from tests.ragstone_code.laravel.small import MODEL, app, links_by_kind, models, php

WATCH = php(
    "app/Observers/Watch.php",
    "namespace App\\Observers;",
    "class Watch {",
    "public function saved($b) {}",
    "public function helped() {}",
    "}",
)


def test_an_attribute_names_the_observers_of_a_model_and_of_its_children() -> None:
    base = php(
        "app/Models/Base.php",
        "namespace App\\Models;",
        "use Illuminate\\Database\\Eloquent\\Attributes\\ObservedBy;",
        "#[ObservedBy([\\App\\Observers\\Watch::class, 'App\\Observers\\Other'])]",
        "class Base extends \\Illuminate\\Database\\Eloquent\\Model {}",
    )
    own, calls = app(
        base,
        WATCH,
        php("app/Models/Sub.php", "namespace App\\Models;", "class Sub extends Base {}"),
    )
    graph = read_observers(own, calls, models(own))
    place = "app/Models/Base.php:5"
    assert links_by_kind(graph, "OBSERVED_BY") == {
        (f"App\\Models\\{model}", f"App\\Observers\\{observer}", place)
        for model in ("Base", "Sub")
        for observer in ("Watch", "Other")
    }
    watch = next(node for node in graph.nodes if node.name == "Watch")
    assert (watch.attributes["events"], watch.attributes["event_lines"]) == (
        ["saved"],
        {"saved": 5},
    )


def test_a_call_and_an_array_register_observers() -> None:
    booting = php(
        "app/Providers/Boot.php",
        "namespace App\\Providers;",
        "use App\\Models\\Book;",
        "class Boot extends \\Illuminate\\Foundation\\Support\\Providers\\EventServiceProvider {",
        "protected $observers = [",
        "Book::class => [\\App\\Observers\\Other::class],",
        "];",
        "public function boot() { Book::observe(\\App\\Observers\\Watch::class); }",
        "}",
    )
    own, calls = app(booting, MODEL, WATCH)
    graph = read_observers(own, calls, models(own))
    assert links_by_kind(graph, "OBSERVED_BY") == {
        ("App\\Models\\Book", "App\\Observers\\Other", "app/Providers/Boot.php:7"),
        ("App\\Models\\Book", "App\\Observers\\Watch", "app/Providers/Boot.php:9"),
    }
    assert {link.attributes["how"] for link in graph.links} == {"registered"}


def test_a_trait_that_observes_in_boot_applies_to_every_model_with_it() -> None:
    watched = php(
        "app/Models/Watched.php",
        "namespace App\\Models;",
        "trait Watched { public static function bootWatched() { static::observe(\\App\\Observers\\Watch::class); } }",
    )
    film = php(
        "app/Models/Film.php",
        "namespace App\\Models;",
        "class Film extends \\Illuminate\\Database\\Eloquent\\Model { use Watched; }",
    )
    own, calls = app(MODEL, WATCH, watched, film)
    assert links_by_kind(read_observers(own, calls, models(own)), "OBSERVED_BY") == {
        ("App\\Models\\Film", "App\\Observers\\Watch", "app/Models/Watched.php:4")
    }


def test_observe_on_another_class_is_ignored() -> None:
    own, calls = app(
        MODEL,
        php(
            "app/X.php",
            "namespace App;",
            "class X { function f() { Sky::observe(Star::class); } }",
        ),
    )
    assert read_observers(own, calls, models(own)).links == ()


def test_a_model_lists_the_events_that_its_boot_methods_handle() -> None:
    trait = php(
        "app/Marks.php",
        "namespace App;",
        "trait Marks {",
        "public static function bootMarks() {",
        "static::saving(fn ($b) => 1);",
        "} }",
    )
    model = php(
        "app/Models/Book.php",
        "namespace App\\Models;",
        "class Book extends \\Illuminate\\Database\\Eloquent\\Model {",
        "use \\App\\Marks;",
        "protected static function booted(): void {",
        "static::deleting(function ($b) {});",
        "$this->saved(1);",
        "} }",
    )
    own, calls = app(trait, model)
    nodes = read_observers(own, calls, models(own)).nodes
    assert [(node.key, node.kind, node.attributes["hooks"]) for node in nodes] == [
        (
            "class:App\\Models\\Book",
            "model",
            ["deleting app/Models/Book.php:7", "saving app/Marks.php:6"],
        )
    ]
