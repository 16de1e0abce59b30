from __future__ import annotations

from ragstone.types import Graph, Json, Link, Node
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.prose import describe_graph
from ragstone_code.laravel.sentences import comment, words

ACT = "method:App\\RateSongController::__invoke"
ROUTE = Node(
    "route:PUT api/songs/{song}/rating",
    "route",
    "PUT api/songs/{song}/rating",
    "routes/api.php",
    9,
    attributes={
        "methods": ["PUT"],
        "uri": "api/songs/{song}/rating",
        "name": "songs.rate",
        "method": "__invoke",
        "action": "App\\RateSongController",
    },
)
SONG, TABLE = "class:App\\Models\\Song", "table:songs"


def link(kind: str, source: str, target: str, **attributes: Json) -> Link:
    return Link(kind, source, target, "a.php", 3, attributes=attributes)


GRAPH = Graph(
    nodes=(
        ROUTE,
        Node(
            ACT,
            "controller_method",
            "RateSongController@__invoke",
            "app/Rate.php",
            22,
            doc="/**\n * Gives stars.\n * @param x\n */",
            attributes={"calls": ["setRating"]},
        ),
        Node(
            "class:App\\RateRequest",
            "request",
            "RateRequest",
            "app/RateRequest.php",
            4,
            attributes={"fields": ["rating"]},
        ),
        Node(SONG, "model", "Song", "app/Models/Song.php", 10),
        Node(
            TABLE,
            "table",
            "songs",
            "database/migrations/1.php",
            8,
            attributes={
                "columns": [
                    {"name": "id", "type": "bigint"},
                    {"name": "title", "type": "string", "nullable": True},
                ],
                "foreign_keys": ["user_id->users.id"],
                "migrations": ["1"],
                "former_names": ["tracks"],
            },
        ),
        Node("class:App\\Events\\Rated", "event", "Rated", "app/Events/Rated.php", 5),
        Node("class:Other\\Event", "event", "Event"),
        Node(
            "config:mail",
            "config",
            "mail",
            "config/mail.php",
            3,
            attributes={"keys": ["from"], "env": [{"name": "MAIL_FROM"}]},
        ),
        Node("config:mail.from", "config", "mail.from", "config/mail.php", 4),
    ),
    links=(
        link("HANDLED_BY", ROUTE.key, ACT),
        link("VALIDATED_BY", ACT, "class:App\\RateRequest"),
        link("USES_MODEL", ACT, SONG),
        link("MAPS_TO", SONG, TABLE),
        link(
            "RELATES",
            SONG,
            "class:App\\Models\\Tag",
            name="tags",
            type="belongsToMany",
            pivot="song_tag",
        ),
        link("GUARDED_BY", ROUTE.key, "middleware:auth", written="auth:api"),
        link("HANDLED_BY", "middleware:auth", "class:App\\Http\\Authenticate"),
        link("FIRES", ACT, "class:App\\Events\\Rated"),
        link(
            "LISTENS", "class:App\\Listeners\\Thank", "class:App\\Events\\Rated", how="listen"
        ),
    ),
)


def text(key: str) -> str:
    return next(
        description.text for description in describe_graph(GRAPH) if description.key == key
    )


def words_of(key: str) -> str:
    return next(
        description.words for description in describe_graph(GRAPH) if description.key == key
    )


def test_a_route_text_names_handler_middleware_models_and_events() -> None:
    assert text(ROUTE.key).splitlines() == [
        "Route PUT api/songs/{song}/rating (songs.rate) is served by App\\RateSongController in app/Rate.php:22.",
        "Gives stars.",
        "Validated by RateRequest, fields rating.",
        "Uses models: Song (table songs).",
        "Fires: Rated.",
        "Middleware: auth:api (Authenticate).",
    ]
    assert words_of(ROUTE.key) == "set, change, songs song rating rate, set rating"


def test_a_table_text_names_columns_keys_and_migrations() -> None:
    assert text(TABLE).splitlines() == [
        "Database table songs.",
        "Models: Song.",
        "Columns: id bigint, title string nullable.",
        "Foreign keys: user_id->users.id.",
        "Former names: tracks.",
        "Migrations: 1.",
    ]
    assert words_of(TABLE).startswith("stores, holds, keeps songs, tracks")


def test_models_events_and_settings_have_texts() -> None:
    assert "Relations: tags belongsToMany Tag (pivot song_tag)." in text(SONG)
    assert "Fired from: RateSongController::__invoke at a.php:3." in text(
        "class:App\\Events\\Rated"
    )
    assert "Listeners: Thank (listen, a.php:3)." in text("class:App\\Events\\Rated")
    assert "what happens after" in words_of("class:App\\Events\\Rated")
    assert "Environment: MAIL_FROM." in text("config:mail")


def test_a_command_text_names_signature_and_description() -> None:
    attributes = {
        "command": "shop:tidy",
        "signature": "shop:tidy {--all}",
        "description": "Tidies the shop.",
    }
    node = Node(
        "class:App\\Console\\Tidy",
        "command",
        "Tidy",
        "app/Console/Tidy.php",
        5,
        attributes=dict(attributes),
    )
    assert describe_graph(Graph(nodes=(node,)))[0].text.splitlines() == [
        "Console command shop:tidy in app/Console/Tidy.php:5.",
        "Tidies the shop.",
        "Signature: shop:tidy {--all}.",
    ]


def test_only_nodes_with_a_file_and_content_have_texts() -> None:
    keys = {description.key for description in describe_graph(GRAPH)}
    assert "class:Other\\Event" not in keys
    assert "config:mail.from" not in keys
    assert ACT not in keys
    assert {
        (description.uri, description.line)
        for description in describe_graph(GRAPH)
        if description.key == ROUTE.key
    } == {("routes/api.php", 9)}


def test_words_are_split_and_appear_once() -> None:
    assert (
        words("PlaylistFolderController@store", "playlist_folders", "getURLOf2")
        == "playlist folder store folders get url of"
    )


def test_comments_end_before_their_tags() -> None:
    assert (
        comment("/**\n * One.\n * {@inheritdoc}\n * Two.\n *\n * @param x\n * three\n */")
        == "One. Two."
    )
    assert comment("") == ""


def test_links_are_indexed_by_both_ends() -> None:
    index = GraphIndex(GRAPH)
    assert [link.target for link in index.links_from("MAPS_TO", SONG)] == [TABLE]
    assert [link.source for link in index.links_to("MAPS_TO", TABLE)] == [SONG]
    assert index.links_from("MAPS_TO", "class:None") == []
    assert [node.name for node in index.nodes_of("model", "table")] == ["Song", "songs"]
