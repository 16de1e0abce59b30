from __future__ import annotations

import pytest

from ragstone.types import Graph
from ragstone_code.laravel.dispatches import read_dispatches
from tests.ragstone_code.laravel.small import app, links_by_kind, php

PAID = php(
    "app/Events/Paid.php",
    "namespace App\\Events;",
    "class Paid { use \\Illuminate\\Foundation\\Events\\Dispatchable; }",
)
SHIP = php(
    "app/Jobs/Ship.php",
    "namespace App\\Jobs;",
    "class Ship implements \\Illuminate\\Contracts\\Queue\\ShouldQueue {}",
)
PACK = php(
    "app/Jobs/Pack.php",
    "namespace App\\Jobs;",
    "class Pack { use \\Illuminate\\Foundation\\Bus\\Dispatchable; }",
)
NOTE = php(
    "app/Note.php",
    "namespace App;",
    "class Note extends \\Illuminate\\Notifications\\Notification {}",
)
POST = php(
    "app/Post.php", "namespace App;", "class Post extends \\Illuminate\\Mail\\Mailable {}"
)
IMPORTS = (
    "namespace App;",
    "use App\\Events\\Paid;",
    "use App\\Jobs\\{Ship, Pack};",
    "use Illuminate\\Support\\Facades\\{Bus, Event, Mail, Notification, Queue};",
)


def of(line: str, heard: frozenset[str] = frozenset(), *more: tuple[str, str]) -> Graph:
    """Return the graph of the messages that one line sends; it is line 9 of its file."""
    shop = php(
        "app/Shop.php",
        *IMPORTS,
        "class Shop {",
        "public function sell($user) { $job = new Ship;",
        line,
        "} }",
    )
    return read_dispatches(*app(shop, PAID, SHIP, PACK, NOTE, POST, *more), heard)


@pytest.mark.parametrize(
    ("line", "kind", "what"),
    [
        ("event(new Paid(1));", "FIRES", "Events\\Paid"),
        ("Paid::dispatch(1);", "FIRES", "Events\\Paid"),
        ("Paid::dispatchIf(true, 1);", "FIRES", "Events\\Paid"),
        ("Event::dispatch(new Paid);", "FIRES", "Events\\Paid"),
        ("broadcast(new Paid)->toOthers();", "FIRES", "Events\\Paid"),
        ("dispatch(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("dispatch_sync(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("dispatch((new Ship)->onQueue('x'));", "DISPATCHES", "Jobs\\Ship"),
        ("dispatch($job->delay(3));", "DISPATCHES", "Jobs\\Ship"),
        ("$this->dispatch(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("Pack::dispatch(1)->onQueue('x');", "DISPATCHES", "Jobs\\Pack"),
        ("Pack::dispatchSync(1);", "DISPATCHES", "Jobs\\Pack"),
        ("(new Pack)->dispatch(1);", "DISPATCHES", "Jobs\\Pack"),
        ("Queue::push(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("Queue::later(5, Ship::class);", "DISPATCHES", "Jobs\\Ship"),
        ("Bus::dispatch(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("OwnFacade::dispatch(new Ship);", "DISPATCHES", "Jobs\\Ship"),
        ("$user->notify(new Note);", "DISPATCHES", "Note"),
        ("Notification::send($user, new Note);", "DISPATCHES", "Note"),
        ("Mail::to($user)->queue(new Post);", "DISPATCHES", "Post"),
        ("Mail::send((new Post)->locale('x'));", "DISPATCHES", "Post"),
    ],
)
def test_every_form_of_dispatch_is_found_with_its_line(line: str, kind: str, what: str) -> None:
    graph = of(line)
    assert links_by_kind(graph, kind) == {("App\\Shop::sell", f"App\\{what}", "app/Shop.php:9")}
    assert len(graph.links) == 1


def test_chains_and_batches_dispatch_all_their_jobs() -> None:
    both = {
        ("App\\Shop::sell", f"App\\Jobs\\{name}", "app/Shop.php:9") for name in ("Ship", "Pack")
    }
    assert (
        links_by_kind(of("Bus::chain([new Ship, new Pack])->dispatch();"), "DISPATCHES") == both
    )
    assert (
        links_by_kind(
            of("$all = [new Ship]; $all[] = new Pack; Bus::batch($all)->dispatch();"),
            "DISPATCHES",
        )
        == both
    )
    assert links_by_kind(of("Pack::withChain([new Ship])->dispatch();"), "DISPATCHES") == both


def test_a_plain_class_with_a_listener_is_an_event() -> None:
    plain = php("app/Gone.php", "namespace App;", "class Gone {}")
    assert not of("$this->bus->dispatch(new Gone);", frozenset(), plain).links
    assert links_by_kind(
        of("$this->bus->dispatch(new Gone);", frozenset(("app\\gone",)), plain), "FIRES"
    )


def test_the_declared_type_of_the_sender_decides_the_kind_of_a_plain_class() -> None:
    plain = php("app/Gone.php", "namespace App;", "class Gone {}")
    shop = php(
        "app/Shop.php",
        "namespace App;",
        "class Shop {",
        "public function __construct(private \\Illuminate\\Contracts\\Events\\Dispatcher $out) {}",
        "public function sell(\\Illuminate\\Contracts\\Bus\\Dispatcher $bus) {",
        "$this->out->dispatch(new Gone);",
        "$bus->dispatch(new Gone);",
        "} }",
    )
    graph = read_dispatches(*app(shop, plain), frozenset())
    assert {(link.kind, link.line) for link in graph.links} == {("FIRES", 7), ("DISPATCHES", 8)}


def test_other_methods_of_the_same_name_send_nothing() -> None:
    for line in (
        "$this->send(new Thing);",
        "$queue->push(new Thing);",
        "Thing::dispatch();",
        "$user->notify($it);",
    ):
        assert of(line).links == ()
    assert of("$mailer->send(new Paid);").links == ()


def test_adding_an_event_or_a_job_to_a_list_sends_nothing() -> None:
    for line in (
        "$list->push(new Paid);",
        "$list->add(new Ship);",
        "collect()->push(new Ship);",
        "$list->later(new Ship);",
    ):
        assert of(line).links == ()


def test_typed_batches_and_chained_jobs_send_their_arguments() -> None:
    assert links_by_kind(
        of("$f = fn (\\Illuminate\\Bus\\Batch $b) => $b->add([new Pack]);"), "DISPATCHES"
    )
    assert links_by_kind(of("(new Ship)->chain([new Pack]);"), "DISPATCHES") == {
        ("App\\Shop::sell", "App\\Jobs\\Pack", "app/Shop.php:9")
    }


def test_a_computed_class_is_unresolved_and_no_link() -> None:
    graph = of("event(new $class(1));")
    assert graph.links == ()
    assert [(item.kind, item.name, item.receiver, item.line) for item in graph.unresolved] == [
        ("FIRES", "event", "new $class", 9)
    ]


def test_string_events_are_nodes_with_their_name() -> None:
    graph = of("event('shop.sold', [1]);")
    assert links_by_kind(graph, "FIRES") == {
        ("App\\Shop::sell", "event:shop.sold", "app/Shop.php:9")
    }
    assert [(item.name, item.kind) for item in graph.aliases] == [("shop.sold", "event")]


def test_models_fire_the_events_of_their_property() -> None:
    model = php(
        "app/Models/Book.php",
        "namespace App\\Models;",
        "class Book extends \\Illuminate\\Database\\Eloquent\\Model {",
        "protected $dispatchesEvents = [",
        "'saved' => \\App\\Events\\Paid::class,",
        "];",
        "}",
    )
    graph = read_dispatches(*app(model, PAID), frozenset())
    assert links_by_kind(graph, "FIRES") == {
        ("App\\Models\\Book", "App\\Events\\Paid", "app/Models/Book.php:6")
    }
    assert graph.links[0].attributes["on"] == "saved"


def test_a_dispatch_in_a_route_file_belongs_to_the_file() -> None:
    graph = read_dispatches(
        *app(php("routes/web.php", "\\App\\Jobs\\Pack::dispatch();"), PACK), frozenset()
    )
    assert links_by_kind(graph, "DISPATCHES") == {
        ("file:routes/web.php", "App\\Jobs\\Pack", "routes/web.php:3")
    }


def test_functions_of_the_application_that_dispatch_their_parameter_dispatch_it() -> None:
    own, calls = app(
        php("app/Jobs/Ship.php", "namespace App\\Jobs;", "class Ship {}"),
        php("app/Bus/Buy.php", "namespace App\\Bus;", "class Buy {}"),
        php(
            "app/helpers.php",
            "function perform($command) {",
            "bus()->dispatchNow($command);",
            "}",
        ),
        php(
            "app/Base.php",
            "namespace App;",
            "class Base {",
            "protected function soon($job) { $this->dispatch($job); }",
            "}",
        ),
        php(
            "app/Shop.php",
            "namespace App;",
            "class Shop extends Base {",
            "function a() { $this->soon(new Jobs\\Ship()); }",
            "function b() { perform(new Bus\\Buy()); }",
            "function c($other) { $other->soon(new Jobs\\Ship()); }",
            "}",
        ),
    )
    graph = read_dispatches(own, calls, frozenset())
    assert links_by_kind(graph, "DISPATCHES") == {
        ("App\\Shop::a", "App\\Jobs\\Ship", "app/Shop.php:5"),
        ("App\\Shop::b", "App\\Bus\\Buy", "app/Shop.php:6"),
    }


def test_a_model_that_is_passed_along_with_an_event_is_no_event() -> None:
    own, calls = app(
        php(
            "app/Models/Book.php",
            "namespace App\\Models;",
            "class Book extends \\Illuminate\\Database\\Eloquent\\Model {}",
        ),
        php(
            "app/Shop.php",
            "namespace App;",
            "class Shop { function a(Models\\Book $book) { event('book.sold', $book); } }",
        ),
    )
    graph = read_dispatches(own, calls, frozenset())
    assert [link.target for link in graph.links] == ["event:book.sold"]
