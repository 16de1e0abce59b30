from __future__ import annotations

from ragstone.types import Graph
from ragstone_code.laravel.events import REGISTRY_KEY, read_listeners
from tests.ragstone_code.laravel.small import app, links_by_kind, php

PROVIDER = "use Illuminate\\Foundation\\Support\\Providers\\EventServiceProvider;"
CONFIGURED = php(
    "bootstrap/app.php", "return Illuminate\\Foundation\\Application::configure()->create();"
)
PAID = php("app/Events/Paid.php", "namespace App\\Events;", "class Paid {}")
SEND = php(
    "app/Listeners/Send.php",
    "namespace App\\Listeners;",
    "use App\\Events\\Paid;",
    "class Send {",
    "public function handle(Paid $e) {}",
    "}",
)


def of(*files: tuple[str, str]) -> Graph:
    return read_listeners(*app(*files))[0]


def provider(*body: str) -> tuple[str, str]:
    head = (
        "namespace App\\Providers;",
        PROVIDER,
        "use App\\Events\\Paid;",
        "use App\\Listeners\\Send;",
    )
    return php(
        "app/Providers/Events.php",
        *head,
        "class Events extends EventServiceProvider {",
        *body,
        "}",
    )


def test_listeners_in_the_array_of_a_provider_have_their_lines() -> None:
    graph = of(
        provider(
            "protected $listen = [", "  Paid::class => [", "    Send::class,", "  ],", "];"
        ),
        PAID,
        SEND,
    )
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Send", "App\\Events\\Paid", "app/Providers/Events.php:9")
    }
    assert links_by_kind(graph, "HANDLED_BY") == {
        ("App\\Listeners\\Send", "App\\Listeners\\Send::handle", "app/Listeners/Send.php:6")
    }
    assert {(node.name, node.kind) for node in graph.nodes} >= {
        ("Paid", "event"),
        ("Send", "listener"),
    }


def test_a_listener_may_be_a_class_a_class_with_method_or_a_pair() -> None:
    body = "protected $listen = ['a' => Send::class, 'b' => [Send::class . '@later'], 'c' => [[Send::class, 'now']]];"
    graph = of(provider(body), SEND)
    listeners = {
        (link.target, link.attributes["method"])
        for link in graph.links
        if link.kind == "LISTENS"
    }
    assert listeners == {("event:a", "handle"), ("event:b", "later"), ("event:c", "now")}


def test_a_subscriber_registers_by_calls_and_by_its_returned_array() -> None:
    calling = php(
        "app/Listeners/Calling.php",
        "namespace App\\Listeners;",
        "class Calling {",
        "public function subscribe($events) {",
        "$events->listen(\\App\\Events\\Paid::class, self::class);",
        "$events->listen('x', [self::class, 'onX']);",
        "} }",
    )
    returning = php(
        "app/Listeners/Returning.php",
        "namespace App\\Listeners;",
        "class Returning {",
        "public function subscribe($e) {",
        "return [\\App\\Events\\Paid::class => 'onPaid', 'y' => ['onY', 'alsoY']];",
        "} }",
    )
    registering = provider(
        "protected $subscribe = [",
        "  \\App\\Listeners\\Calling::class,",
        "  \\App\\Listeners\\Returning::class,",
        "];",
    )
    graph = of(registering, PAID, calling, returning)
    listeners = {
        (
            link.source.rpartition("\\")[2],
            link.target,
            link.attributes["method"],
            link.line,
            link.attributes["registered"],
        )
        for link in graph.links
        if link.kind == "LISTENS"
    }
    there = "app/Providers/Events.php"
    assert listeners == {
        ("Calling", "class:App\\Events\\Paid", "handle", 6, f"{there}:9"),
        ("Calling", "event:x", "onX", 7, f"{there}:9"),
        ("Returning", "class:App\\Events\\Paid", "onPaid", 6, f"{there}:10"),
        ("Returning", "event:y", "onY", 6, f"{there}:10"),
        ("Returning", "event:y", "alsoY", 6, f"{there}:10"),
    }


def test_listen_calls_accept_closures_queued_closures_and_lists() -> None:
    booting = php(
        "app/Providers/Boot.php",
        "namespace App\\Providers;",
        "use Illuminate\\Support\\Facades\\Event;",
        "use App\\Events\\Paid;",
        "class Boot extends \\Illuminate\\Support\\ServiceProvider {",
        "public function boot() {",
        "Event::listen(Paid::class, \\App\\Listeners\\Send::class);",
        "Event::listen(function (Paid $e) {});",
        "Event::listen(queueable(fn (Paid $e) => 1));",
        "Event::listen(['p', 'q.*'], 'App\\Listeners\\Send@all');",
        "} }",
    )
    graph = of(booting, PAID, SEND)
    there = "app/Providers/Boot.php"
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Send", "App\\Events\\Paid", f"{there}:8"),
        (f"listener:{there}:9", "App\\Events\\Paid", f"{there}:9"),
        (f"listener:{there}:10", "App\\Events\\Paid", f"{there}:10"),
        ("App\\Listeners\\Send", "event:p", f"{there}:11"),
        ("App\\Listeners\\Send", "event:q.*", f"{there}:11"),
    }


def test_listeners_are_discovered_by_parameter_type_if_discovery_is_on() -> None:
    both = php(
        "app/Listeners/Both.php",
        "namespace App\\Listeners;",
        "use App\\Events\\Paid;",
        "class Both {",
        "public function handlePaid(Paid|\\App\\Events\\Lost $e) {}",
        "public function __invoke(string $x) {}",
        "protected function handleHidden(Paid $e) {}",
        "public function other(Paid $e) {}",
        "}",
    )
    graph = of(CONFIGURED, PAID, both)
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Both", "App\\Events\\Paid", "app/Listeners/Both.php:6"),
        ("App\\Listeners\\Both", "App\\Events\\Lost", "app/Listeners/Both.php:6"),
    }
    assert {link.confidence for link in graph.links if link.kind == "LISTENS"} == {"convention"}
    assert not links_by_kind(of(PAID, both), "LISTENS")


def test_discovery_can_be_turned_off_and_on() -> None:
    off = php(
        "bootstrap/app.php",
        "return Illuminate\\Foundation\\Application::configure()->withEvents(discover: false);",
    )
    assert not links_by_kind(of(off, PAID, SEND), "LISTENS")
    asking = provider("public function shouldDiscoverEvents(): bool { return true; }")
    assert links_by_kind(of(asking, PAID, SEND), "LISTENS")
    refusing = provider("public function shouldDiscoverEvents(): bool { return false; }")
    assert not links_by_kind(of(refusing, PAID, SEND), "LISTENS")


def test_discovery_searches_the_configured_folders() -> None:
    provider = php(
        "bootstrap/app.php",
        "return Illuminate\\Foundation\\Application::configure()",
        "->withEvents(discover: [__DIR__.'/../app/*/Hears'])->create();",
    )
    elsewhere = php(
        "app/Shop/Hears/It.php",
        "namespace App\\Shop\\Hears;",
        "class It {",
        "public function handle(\\App\\Events\\Paid $e) {}",
        "}",
    )
    assert links_by_kind(of(provider, PAID, SEND, elsewhere), "LISTENS") == {
        ("App\\Shop\\Hears\\It", "App\\Events\\Paid", "app/Shop/Hears/It.php:5")
    }


def test_a_listener_that_is_listed_and_discovered_has_one_link() -> None:
    graph = of(
        CONFIGURED, provider("protected $listen = [Paid::class => [Send::class]];"), PAID, SEND
    )
    assert [link.attributes["how"] for link in graph.links if link.kind == "LISTENS"] == [
        "listen"
    ]


def test_the_registry_lists_searched_places_even_if_there_are_no_listeners() -> None:
    graph = of(provider("protected $listen = [];"), CONFIGURED)
    registry = next(node for node in graph.nodes if node.key == REGISTRY_KEY)
    assert registry.attributes["places"] == ["app/Providers/Events.php:8", "app/Listeners/"]


def test_a_computed_listener_gives_a_remark_and_no_link() -> None:
    own, calls = app(
        provider(
            "public function boot() { \\Illuminate\\Support\\Facades\\Event::listen(Paid::class, $this->made()); }"
        )
    )
    graph, _ = read_listeners(own, calls)
    assert not graph.links
    assert own.remarks == [
        "app/Providers/Events.php:8: a listener of App\\Events\\Paid is not written out"
    ]


def test_a_subscriber_that_listens_in_a_loop_hears_every_event_of_the_list() -> None:
    subscriber = php(
        "app/Listeners/Diary.php",
        "namespace App\\Listeners;",
        "class Diary {",
        "  public function subscribe($events) {",
        "    $list = ['Paid', 'Sent'];",
        "    foreach ($list as $event) {",
        "      $events->listen('App\\Events\\\\'.$event, 'App\\Listeners\\Diary@on'.$event);",
        "    }",
        "  }",
        "  public function onPaid($e) {}",
        "  public function onSent($e) {}",
        "}",
    )
    graph = of(
        provider("protected $subscribe = [\\App\\Listeners\\Diary::class];"), PAID, subscriber
    )
    place = "app/Listeners/Diary.php:8"
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Diary", "App\\Events\\Paid", place),
        ("App\\Listeners\\Diary", "App\\Events\\Sent", place),
    }
    assert {target for _, target, _ in links_by_kind(graph, "HANDLED_BY")} == {
        "App\\Listeners\\Diary::onPaid",
        "App\\Listeners\\Diary::onSent",
    }


def test_a_provider_that_listens_in_a_loop_over_its_own_property() -> None:
    graph = of(
        provider(
            "private array $map = [Paid::class => Send::class];",
            "public function boot() {",
            "foreach ($this->map as $event => $listener) {",
            "\\Illuminate\\Support\\Facades\\Event::listen($event, $listener);",
            "} }",
        ),
        PAID,
        SEND,
    )
    assert links_by_kind(graph, "LISTENS") == {
        ("App\\Listeners\\Send", "App\\Events\\Paid", "app/Providers/Events.php:11")
    }
