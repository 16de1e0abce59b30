from __future__ import annotations

import pytest

from ragstone_code.laravel.class_kinds import is_model, kind_of, read_typed_classes
from tests.ragstone_code.laravel.small import MODEL, app, php


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("class One extends \\Illuminate\\Foundation\\Http\\FormRequest {}", "request"),
        (
            "class One extends \\Illuminate\\Http\\Resources\\Json\\ResourceCollection {}",
            "resource",
        ),
        (
            "class One extends \\Illuminate\\Notifications\\Notification { use \\Illuminate\\Bus\\Queueable; }",
            "notification",
        ),
        ("class One { use \\Illuminate\\Foundation\\Events\\Dispatchable; }", "event"),
        ("class One { use \\Illuminate\\Foundation\\Bus\\Dispatchable; }", "job"),
        ("class One implements \\Illuminate\\Contracts\\Queue\\ShouldQueue {}", "job"),
        ("class One extends \\Illuminate\\Console\\Command {}", "command"),
        ("class One extends \\Livewire\\Component {}", "component"),
        ("class One {}", ""),
    ],
)
def test_the_ancestors_of_a_class_decide_its_kind(head: str, kind: str) -> None:
    own, _ = app(php("app/One.php", "namespace App;", head))
    assert kind_of(own, "App\\One") == kind
    assert [node.kind for node in read_typed_classes(own).nodes] == ([kind] if kind else [])


def test_a_base_class_of_the_application_is_followed() -> None:
    base = php(
        "app/Base.php",
        "namespace App;",
        "abstract class Base extends \\Illuminate\\Foundation\\Http\\FormRequest {}",
    )
    own, _ = app(base, php("app/One.php", "namespace App;", "class One extends Base {}"))
    assert kind_of(own, "App\\One") == "request"


def test_models_are_known_by_their_base_and_not_by_their_name() -> None:
    own, _ = app(MODEL, php("app/Models/Plain.php", "namespace App\\Models;", "class Plain {}"))
    assert is_model(own, "App\\Models\\Book")
    assert not is_model(own, "App\\Models\\Plain")


def test_classes_with_a_skipped_key_get_no_node() -> None:
    own, _ = app(
        php(
            "app/One.php",
            "namespace App;",
            "class One extends \\Illuminate\\Console\\Command {}",
        )
    )
    assert read_typed_classes(own, skipped_keys=frozenset(("class:App\\One",))).nodes == ()


def test_a_queued_class_in_the_listeners_namespace_is_a_listener() -> None:
    head = "class One implements \\Illuminate\\Contracts\\Queue\\ShouldQueue {}"
    own, _ = app(php("app/Listeners/One.php", "namespace App\\Listeners;", head))
    assert kind_of(own, "App\\Listeners\\One") == "listener"
