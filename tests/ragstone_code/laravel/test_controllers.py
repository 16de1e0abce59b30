from __future__ import annotations

from ragstone.types import Graph, Node
from ragstone_code.laravel.controllers import read_controllers
from ragstone_code.laravel.policies import find_policies
from tests.ragstone_code.laravel.small import MODEL, app, links_by_kind, models, php

REQUEST = php(
    "app/Http/Requests/StoreBook.php",
    "namespace App\\Http\\Requests;",
    "class StoreBook extends \\Illuminate\\Foundation\\Http\\FormRequest {",
    "public function rules(): array {",
    "$rules = ['title' => ['required', 'in' => 1], ...parent::rules()];",
    "$rules['pages'] = 'integer';",
    "return $rules;",
    "} }",
)
RESOURCE = php(
    "app/Http/Resources/BookResource.php",
    "namespace App\\Http\\Resources;",
    "class BookResource extends \\Illuminate\\Http\\Resources\\Json\\JsonResource {}",
)
POLICY = php(
    "app/Policies/BookPolicy.php",
    "namespace App\\Policies;",
    "class BookPolicy {",
    "public function update($u, $b) {}",
    "public function markRead($u) {}",
    "}",
)
CONTROLLER = "class Books extends \\Illuminate\\Routing\\Controller {"
KEY = "method:App\\Http\\Controllers\\Books::act"
HERE = "app/Http/Controllers/Books.php"


def of(*body: str, more: tuple[tuple[str, str], ...] = ()) -> Graph:
    """Return the graph of a controller with the method `act`; the body begins on line 8."""
    head = (
        "namespace App\\Http\\Controllers;",
        "use App\\Models\\Book;",
        "use App\\Http\\Requests\\StoreBook;",
    )
    controller = php(
        HERE, *head, "use App\\Http\\Resources\\BookResource;", CONTROLLER, *body, "}"
    )
    own, calls = app(controller, MODEL, REQUEST, RESOURCE, POLICY, *more)
    return read_controllers(own, [KEY], find_policies(own, calls), models(own))


def action(graph: Graph) -> Node:
    return next(node for node in graph.nodes if node.key == KEY)


def test_a_form_request_parameter_validates_with_fields_and_lines() -> None:
    graph = of("public function act(StoreBook $request) {}")
    assert links_by_kind(graph, "VALIDATED_BY") == {
        ("App\\Http\\Controllers\\Books::act", "App\\Http\\Requests\\StoreBook", f"{HERE}:8")
    }
    request = next(node for node in graph.nodes if node.kind == "request")
    assert request.place == "app/Http/Requests/StoreBook.php:4"
    assert request.attributes == {"fields": ["title", "pages"], "rules_line": 5}


def test_a_form_request_from_the_container_validates() -> None:
    assert links_by_kind(of("public function act() { app(StoreBook::class); }"), "VALIDATED_BY")


def test_inline_rules_are_fields_of_the_method() -> None:
    graph = of(
        "public function act($r) {",
        "$r->validate(['a' => 'required', 'b.c' => ['array']]);",
        "}",
    )
    assert (
        action(graph).attributes["validates"],
        action(graph).attributes["validates_line"],
    ) == (
        ["a", "b.c"],
        9,
    )
    graph = of(
        "public function act($r) { \\Illuminate\\Support\\Facades\\Validator::make($r->all(), ['d' => 'x']); }"
    )
    assert action(graph).attributes["validates"] == ["d"]
    assert (
        "validates"
        not in action(of("public function act($r) { Thing::make(['e' => 1]); }")).attributes
    )


def test_models_are_used_by_type_by_static_calls_and_by_new() -> None:
    for body in (
        "act(Book $book) {}",
        "act() { Book::query()->get(); }",
        "act() { return new Book; }",
    ):
        assert links_by_kind(of(f"public function {body}"), "USES_MODEL") == {
            ("App\\Http\\Controllers\\Books::act", "App\\Models\\Book", f"{HERE}:8")
        }


def test_a_name_alone_uses_no_model() -> None:
    assert not links_by_kind(
        of("public function act($book) { $book->save(); $this->books->find(1); $x = 'Book'; }"),
        "USES_MODEL",
    )


def test_resources_are_found_by_type_by_new_and_by_make() -> None:
    for body in (
        "act(): BookResource {}",
        "act() { return new BookResource(1); }",
        "act() { return BookResource::collection([]); }",
        "act($b) { return $b->toResource(BookResource::class); }",
    ):
        assert links_by_kind(of(f"public function {body}"), "RETURNS") == {
            (
                "App\\Http\\Controllers\\Books::act",
                "App\\Http\\Resources\\BookResource",
                f"{HERE}:8",
            )
        }


def test_gate_checks_link_to_the_policy_of_the_type() -> None:
    answer = (
        "App\\Http\\Controllers\\Books::act",
        "App\\Policies\\BookPolicy::update",
        f"{HERE}:8",
    )
    for body in (
        "act(Book $b) { $this->authorize('update', $b); }",
        "act() { $this->authorize('update', Book::class); }",
        "act() { $b = Book::findOrFail(1); \\Illuminate\\Support\\Facades\\Gate::authorize('update', $b); }",
        "act(Book $b, $r) { abort_unless($r->user()->can('update', $b), 403); }",
        "act(Book $b, $r) { $this->authorizeForUser($r, 'update', [$b, 1]); }",
    ):
        assert links_by_kind(of(f"public function {body}"), "AUTHORIZED_BY") == {answer}
    assert not links_by_kind(
        of("public function act($b) { $this->authorize('update', $b); }"), "AUTHORIZED_BY"
    )


def test_an_ability_with_hyphens_is_a_camel_case_method() -> None:
    graph = of("public function act(Book $b) { $this->authorize('mark-read', $b); }")
    assert {target for _, target, _ in links_by_kind(graph, "AUTHORIZED_BY")} == {
        "App\\Policies\\BookPolicy::markRead"
    }


def test_authorize_resource_checks_each_action() -> None:
    key = "method:App\\Http\\Controllers\\Books::edit"
    controller = php(
        HERE,
        "namespace App\\Http\\Controllers;",
        "class Books {",
        "public function __construct() {",
        "$this->authorizeResource(\\App\\Models\\Book::class, 'book');",
        "}",
        "public function edit() {}",
        "}",
    )
    own, calls = app(controller, MODEL, POLICY)
    graph = read_controllers(own, [key], find_policies(own, calls), models(own))
    assert links_by_kind(graph, "AUTHORIZED_BY") == {
        (
            "App\\Http\\Controllers\\Books::edit",
            "App\\Policies\\BookPolicy::update",
            f"{HERE}:6",
        )
    }


def test_controllers_and_their_methods_are_nodes_with_aliases() -> None:
    graph = of("/** Says it. */", "public function act() { return view('books.act'); }")
    assert (action(graph).kind, action(graph).name, action(graph).place) == (
        "controller_method",
        "Books@act",
        f"{HERE}:9",
    )
    assert action(graph).attributes["renders"] == ["books.act"]
    assert "Says it." in action(graph).doc
    names = {alias.name for alias in graph.aliases}
    assert {
        "Books@act",
        "Books::act",
        "Books.act",
        "App\\Http\\Controllers\\Books@act",
        "Books",
    } <= names


def test_an_inherited_method_has_the_place_of_its_declaration() -> None:
    base = php(
        "app/Base.php",
        "namespace App;",
        "class Base {",
        "public function act(\\App\\Models\\Book $b) {}",
        "}",
    )
    controller = php(
        HERE, "namespace App\\Http\\Controllers;", "class Books extends \\App\\Base {}"
    )
    own, calls = app(controller, base, MODEL)
    graph = read_controllers(own, [KEY], find_policies(own, calls), models(own))
    assert action(graph).place == "app/Base.php:5"
    assert links_by_kind(graph, "USES_MODEL") == {
        ("App\\Http\\Controllers\\Books::act", "App\\Models\\Book", "app/Base.php:5")
    }


def test_a_missing_method_yields_only_its_controller() -> None:
    own, calls = app(php(HERE, "namespace App\\Http\\Controllers;", "class Books {}"))
    graph = read_controllers(own, [KEY, "class:App\\Nowhere"], find_policies(own, calls), ())
    assert [(node.key, node.kind) for node in graph.nodes] == [
        ("class:App\\Http\\Controllers\\Books", "controller")
    ]
