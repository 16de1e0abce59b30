from __future__ import annotations

from ragstone.types import Graph
from ragstone_code.laravel.policies import (
    REGISTRY_KEY,
    build_policy_graph,
    find_policies,
    policy_names,
)
from tests.ragstone_code.laravel.small import MODEL, app, links_by_kind, models, php


def of(*files: tuple[str, str]) -> Graph:
    own, calls = app(*files)
    return build_policy_graph(find_policies(own, calls), models(own))


def policy(uri: str, name: str, *body: str) -> tuple[str, str]:
    space, _, short = name.rpartition("\\")
    return php(uri, f"namespace {space};", f"class {short} {{", *body, "}")


def auth(*body: str) -> tuple[str, str]:
    return php(
        "app/Providers/Auth.php",
        "namespace App\\Providers;",
        "use App\\Models\\Book;",
        "use Illuminate\\Support\\Facades\\Gate;",
        "class Auth extends \\Illuminate\\Foundation\\Support\\Providers\\AuthServiceProvider {",
        *body,
        "}",
    )


BOOK = policy(
    "app/Policies/BookPolicy.php",
    "App\\Policies\\BookPolicy",
    "public function read($u) {}",
    "public function before($u) {}",
    "protected function hidden() {}",
    "public static function made() {}",
)


def test_policy_names_are_tried_in_the_order_of_the_gate() -> None:
    assert policy_names("App\\Models\\Shop\\Book") == (
        "App\\Models\\Policies\\Shop\\BookPolicy",
        "App\\Policies\\Shop\\BookPolicy",
        "App\\Models\\Shop\\Policies\\BookPolicy",
        "App\\Models\\Policies\\BookPolicy",
        "App\\Policies\\BookPolicy",
    )
    assert policy_names("App\\Book") == ("App\\Policies\\BookPolicy",)


def test_a_policy_found_by_name_has_its_public_methods_as_abilities() -> None:
    graph = of(MODEL, BOOK)
    assert links_by_kind(graph, "PROTECTED_BY") == {
        ("App\\Models\\Book", "App\\Policies\\BookPolicy", "app/Policies/BookPolicy.php:4")
    }
    node = next(node for node in graph.nodes if node.kind == "policy")
    assert (node.attributes["abilities"], node.attributes["ability_lines"]) == (
        ["read"],
        {"read": 5},
    )
    assert [(link.confidence, link.attributes["how"]) for link in graph.links] == [
        ("convention", "convention")
    ]


def test_a_registered_policy_comes_before_the_naming_convention() -> None:
    other = policy("app/Rules/Reading.php", "App\\Rules\\Reading")
    graph = of(
        MODEL,
        BOOK,
        other,
        auth("protected $policies = [", "Book::class => \\App\\Rules\\Reading::class,", "];"),
    )
    assert links_by_kind(graph, "PROTECTED_BY") == {
        ("App\\Models\\Book", "App\\Rules\\Reading", "app/Providers/Auth.php:8")
    }


def test_a_call_of_the_gate_registers_a_policy() -> None:
    graph = of(
        MODEL,
        auth(
            "public function boot() { Gate::policy(Book::class, \\App\\Rules\\Reading::class); }"
        ),
    )
    assert links_by_kind(graph, "PROTECTED_BY") == {
        ("App\\Models\\Book", "App\\Rules\\Reading", "app/Providers/Auth.php:7")
    }


def test_an_attribute_names_a_policy() -> None:
    model = php(
        "app/Models/Book.php",
        "namespace App\\Models;",
        "use Illuminate\\Database\\Eloquent\\Attributes\\UsePolicy;",
        "#[UsePolicy(\\App\\Rules\\Reading::class)]",
        "class Book extends \\Illuminate\\Database\\Eloquent\\Model {}",
    )
    graph = of(model, BOOK)
    assert [(link.target, link.line, link.attributes["how"]) for link in graph.links] == [
        ("class:App\\Rules\\Reading", 5, "attribute")
    ]


def test_a_child_has_the_policy_that_is_registered_for_its_parent() -> None:
    child = php("app/Models/Comic.php", "namespace App\\Models;", "class Comic extends Book {}")
    graph = of(
        MODEL,
        child,
        auth("protected $policies = [Book::class => \\App\\Rules\\Reading::class];"),
    )
    assert {link.source for link in graph.links} == {
        "class:App\\Models\\Book",
        "class:App\\Models\\Comic",
    }


def test_a_model_without_a_policy_has_no_link_and_the_registry_lists_searched_places() -> None:
    other = php(
        "app/Models/Pen.php",
        "namespace App\\Models;",
        "class Pen extends \\Illuminate\\Database\\Eloquent\\Model {}",
    )
    graph = of(
        MODEL,
        other,
        BOOK,
        auth(
            "protected $policies = [",
            "Book::class => \\App\\Policies\\BookPolicy::class,",
            "];",
        ),
    )
    assert "class:App\\Models\\Pen" not in {link.source for link in graph.links}
    registry = next(node for node in graph.nodes if node.key == REGISTRY_KEY)
    assert registry.place == "app/Providers/Auth.php:8"
    assert registry.attributes["folders"] == ["app/Policies"]


def test_abilities_without_a_policy_are_nodes() -> None:
    definitions = (
        "Gate::define('read-all', fn ($u) => true); Gate::define('pay', [Pay::class, 'may']);"
    )
    body = f"public function boot() {{ {definitions} }}"
    graph = of(auth(body))
    assert {
        (node.name, node.attributes["by"]) for node in graph.nodes if node.kind == "ability"
    } == {
        ("read-all", "Closure"),
        ("pay", "App\\Providers\\Pay@may"),
    }


def test_the_convention_is_off_if_the_application_guesses_policy_names_itself() -> None:
    own, calls = app(
        MODEL,
        BOOK,
        auth("public function boot() { Gate::guessPolicyNamesUsing(fn ($c) => $c.'P'); }"),
    )
    graph = build_policy_graph(find_policies(own, calls), models(own))
    assert graph.links == ()
    assert own.remarks == [
        "app/Providers/Auth.php:7: names of policies are made by the application's own function"
    ]


def test_an_ability_decided_by_a_class_links_to_its_method() -> None:
    pay = policy("app/Pay.php", "App\\Pay", "public function may($u) {}")
    graph = of(
        pay, auth("public function boot() { Gate::define('pay', [\\App\\Pay::class, 'may']); }")
    )
    assert links_by_kind(graph, "HANDLED_BY") == {
        ("ability:pay", "App\\Pay::may", "app/Providers/Auth.php:7")
    }
