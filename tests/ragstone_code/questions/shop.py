"""A bookshop's graph, written by hand: routes, models, tables and events as the adapters return them."""

from __future__ import annotations

from ragstone.store.sqlite import SqliteStore
from ragstone.types import Alias, CollectionKey, Graph, Json, Link, Node, Scope

SCOPE = Scope("p", ("c",))
WEB, API = "routes/web.php", "routes/api.php"
C = "App\\Http\\Controllers\\BookController"
AC = "App\\Http\\Controllers\\Admin\\BookController"
BOOK, AUTHOR, ORDER = "App\\Models\\Book", "App\\Models\\Author", "App\\Models\\Order"


def route(key: str, name: str | None, action: tuple[str, str], line: int, **more: Json) -> Node:
    methods, _, uri = key.partition(" ")
    about: dict[str, Json] = {
        "methods": list(methods.split("|")), "uri": uri, "name": name, "controller": action[0], "method": action[1],
        "action": "@".join(action), "method_exists": True, "middleware": ["api", "auth", "throttle:10,1"],
        "excluded": [], "binding_fields": {},
    }  # fmt: skip
    return Node(
        f"route:{key}", "route", key, API, line, attributes=about | more, framework="laravel"
    )


def cls(name: str, kind: str, uri: str, line: int, **about: Json) -> Node:
    return Node(
        f"class:{name}",
        kind,
        name.rpartition("\\")[2],
        uri,
        line,
        framework="laravel",
        attributes=about,
    )


def method(name: str, uri: str, line: int) -> Node:
    kind = "controller_method" if "Controller::" in name else "method"
    return Node(
        f"method:{name}", kind, name.rpartition("::")[2], uri, line, framework="laravel"
    )


BOOKS_PHP, ADMIN_PHP = (
    "app/Http/Controllers/BookController.php",
    "app/Http/Controllers/Admin/BookController.php",
)
SHELF, AUTH = "App\\Models\\Shelf", "app/Providers/AuthServiceProvider.php"
MADE = "database/migrations/2024_01_01_create_books.php"
COLUMNS: list[Json] = [
    {"name": "id", "type": "bigint"},
    {"name": "title", "type": "string"},
    {"name": "author_id"},
]
NODES = (
    route("GET api/books", "books.index", (C, "index"), 10),
    route("POST api/books", "books.store", (C, "store"), 10),
    route("PUT|PATCH api/books/{book}", "books.update", (C, "update"), 10, binding_fields={"book": "slug"}),
    route("DELETE api/books/{book}", "books.destroy", (C, "destroy"), 10, method_exists=False),
    route("GET api/shelves/{shelf}/books", "shelves.books.index", (C, "shelf"), 12),
    route("GET rest/ping{format?}", None, (AC, "__invoke"), 20, excluded=["auth"], controller_middleware=["log"]),
    route("GET admin/books", "api:admin:books.list", (AC, "index"), 21, middleware=[]),
    cls(C, "controller", BOOKS_PHP, 9),
    cls(AC, "controller", ADMIN_PHP, 8),
    method(f"{C}::index", BOOKS_PHP, 12),
    method(f"{C}::store", BOOKS_PHP, 17),
    method(f"{C}::update", BOOKS_PHP, 23),
    method(f"{AC}::index", ADMIN_PHP, 11),
    method(f"{AC}::__invoke", ADMIN_PHP, 14),
    cls("App\\Http\\Requests\\StoreBook", "request", "app/Http/Requests/StoreBook.php", 7),
    cls(BOOK, "model", "app/Models/Book.php", 11),
    cls(AUTHOR, "model", "app/Models/Author.php", 9),
    cls(ORDER, "model", "app/Models/Order.php", 9),
    Node("class:App\\Models\\Concerns\\HasPrices", "trait", "HasPrices", "app/Models/Concerns/HasPrices.php", 5),
    cls("App\\Policies\\BookPolicy", "policy", "app/Policies/BookPolicy.php", 6, abilities=["view", "update"]),
    cls("App\\Observers\\BookObserver", "observer", "app/Observers/BookObserver.php", 6),
    cls("App\\Events\\BookSold", "event", "app/Events/BookSold.php", 7),
    cls("App\\Events\\ShelfMoved", "event", "app/Events/ShelfMoved.php", 7),
    cls("App\\Listeners\\CountSales", "listener", "app/Listeners/CountSales.php", 8),
    cls("App\\Listeners\\StoreSubscriber", "listener", "app/Listeners/StoreSubscriber.php", 8),
    cls("App\\Jobs\\PrintLabel", "job", "app/Jobs/PrintLabel.php", 8),
    cls("App\\Http\\Middleware\\OpenHours", "middleware", "app/Http/Middleware/OpenHours.php", 6),
    Node("middleware:auth", "middleware", "auth", framework="laravel"),
    Node("middleware:open", "middleware", "open", "bootstrap/app.php", 20, framework="laravel"),
    Node("table:books", "table", "books", MADE, 9, framework="laravel",
         attributes={"columns": COLUMNS, "foreign_keys": ["author_id->authors.id"], "former_names": ["titles"]}),
    Node("table:tasks", "table", "tasks", "database/migrations/2024_03_01_new_tasks.php", 9, framework="laravel"),
    Node("table:tasks_old#2023_01_01_tasks", "table", "tasks_old", "database/migrations/2023_01_01_tasks.php", 9,
         framework="laravel", attributes={"dropped": "2024_02_01_drop_tasks"}),
    Node("migration:2024_01_01_create_books", "migration", "2024_01_01_create_books", framework="laravel"),
    Node("migration:2024_02_01_prices", "migration", "2024_02_01_prices", framework="laravel"),
    Node(f"relation:{BOOK}::author", "model_relation", "author", "app/Models/Book.php", 20,
         attributes={"name": "author", "type": "belongsTo", "related": AUTHOR}),
    Node(f"relation:{BOOK}::shelves", "model_relation", "shelves", "app/Models/Book.php", 25,
         attributes={"name": "shelves", "type": "belongsToMany", "related": SHELF, "pivot": "book_shelf"}),
    Node(f"relation:{BOOK}::prices", "model_relation", "prices", "app/Models/Concerns/HasPrices.php", 9,
         attributes={"name": "prices", "type": "hasMany", "related": "App\\Models\\Price"}),
)  # fmt: skip
LINKS = (
    Link("HANDLED_BY", "route:POST api/books", f"method:{C}::store", API, 10, "evaluated"),
    Link("HANDLED_BY", "route:GET api/books", f"method:{C}::index", API, 10, "evaluated"),
    Link("HANDLED_BY", "route:PUT|PATCH api/books/{book}", f"method:{C}::update", API, 10, "evaluated"),
    Link("HANDLED_BY", "route:DELETE api/books/{book}", f"class:{C}", API, 10, attributes={"method_exists": False}),
    Link("HANDLED_BY", "route:GET rest/ping{format?}", f"method:{AC}::__invoke", API, 20, "evaluated"),
    Link("HANDLED_BY", "route:GET admin/books", f"method:{AC}::index", API, 21, "evaluated"),
    Link("GUARDED_BY", "route:POST api/books", "middleware:auth", API, 5, "evaluated", order=1),
    Link("GUARDED_BY", "route:POST api/books", "middleware:open", API, 6, "evaluated", order=2),
    Link("HANDLED_BY", "middleware:open", "class:App\\Http\\Middleware\\OpenHours", "bootstrap/app.php", 20),
    Link("VALIDATED_BY", f"method:{C}::store", "class:App\\Http\\Requests\\StoreBook", BOOKS_PHP, 17),
    Link("BINDS", "route:PUT|PATCH api/books/{book}", f"class:{BOOK}", BOOKS_PHP, 23,
         attributes={"parameter": "book", "field": "slug"}),
    Link("USES_MODEL", f"method:{C}::update", f"class:{AUTHOR}", BOOKS_PHP, 25),
    Link("MAPS_TO", f"class:{BOOK}", "table:books", "app/Models/Book.php", 11, "convention",
         attributes={"how": "convention"}),
    Link("PROTECTED_BY", f"class:{BOOK}", "class:App\\Policies\\BookPolicy", AUTH, 17,
         attributes={"how": "registered"}),
    Link("OBSERVED_BY", f"class:{BOOK}", "class:App\\Observers\\BookObserver", "app/Models/Book.php", 10,
         attributes={"how": "attribute"}),
    Link("LISTENS", "class:App\\Listeners\\CountSales", "class:App\\Events\\BookSold", "app/Providers/Events.php", 14,
         attributes={"how": "listen", "method": "handle"}),
    Link("LISTENS", "class:App\\Listeners\\StoreSubscriber", "class:App\\Events\\BookSold",
         "app/Listeners/StoreSubscriber.php", 20, attributes={"how": "subscribe", "method": "sold"}),
    Link("FIRES", f"method:{C}::update", "class:App\\Events\\BookSold", BOOKS_PHP, 27),
    Link("DISPATCHES", f"method:{C}::store", "class:App\\Jobs\\PrintLabel", BOOKS_PHP, 19),
    Link("CREATES", "migration:2024_01_01_create_books", "table:books", MADE, 9),
    Link("ALTERS", "migration:2024_02_01_prices", "table:books", "database/migrations/2024_02_01_prices.php", 12,
         attributes={"columns": ["author_id"]}),
)  # fmt: skip


def aliases() -> list[Alias]:
    aliases_of_nodes: list[Alias] = []
    for node in NODES:
        about = node.attributes
        if node.kind == "route":
            uri = str(about["uri"])
            for name in ("book", "shelf", "format?"):
                uri = uri.replace(f"{{{name}}}", "{}")
            if about["name"]:
                aliases_of_nodes.append(Alias(str(about["name"]), node.key, "route_name"))
            aliases_of_nodes.append(Alias(uri, node.key, "uri"))
            if str(about["name"]).startswith("books."):
                aliases_of_nodes.append(Alias("books", node.key, "route_resource"))
        elif node.key.startswith("class:"):
            aliases_of_nodes += [
                Alias(node.key[6:], node.key, "class"),
                Alias(node.name, node.key, "short_class"),
            ]
        elif node.key.startswith("method:"):
            full = node.key[7:]
            short = full.rpartition("\\")[2]
            aliases_of_nodes += [
                Alias(full, node.key, "method"),
                Alias(full.replace("::", "@"), node.key, "method"),
            ]
            aliases_of_nodes += [
                Alias(short, node.key, "short_method"),
                Alias(short.replace("::", "@"), node.key, "short_method"),
            ]
        elif node.kind in ("table", "middleware", "migration"):
            aliases_of_nodes.append(Alias(node.name, node.key, node.kind))
        elif node.kind == "model_relation":
            aliases_of_nodes.append(
                Alias(node.key.rpartition("\\")[2], node.key, "short_method")
            )
    aliases_of_nodes.append(Alias("titles", "table:books", "former_table"))
    aliases_of_nodes.append(Alias("tasks", "table:tasks_old#2023_01_01_tasks", "former_table"))
    return aliases_of_nodes


def shop() -> SqliteStore:
    """Return a store in memory that holds the bookshop."""
    store = SqliteStore(":memory:")
    store.ensure_collection(CollectionKey("p", "c"))
    store.graph.put(CollectionKey("p", "c"), {"laravel": Graph(NODES, LINKS, tuple(aliases()))})
    return store
