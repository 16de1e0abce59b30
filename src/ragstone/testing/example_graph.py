"""A small graph of the code for tests: one file, and the framework that uses it."""

from __future__ import annotations

from ragstone.protocols import DocumentStore
from ragstone.testing.store_case import KEY
from ragstone.types import Alias, Graph, Link, Node, Unresolved

SONG = "class:App\\Song"
ROUTE = "route:PUT api/songs/{song}"
SAVE = "method:App\\Songs::save"
TABLE = "table:songs"

SONG_CLASS = Node(
    SONG,
    "class",
    "Song",
    "app/Song.php",
    line=5,
    line_end=40,
    signature="class Song extends Model",
    doc="A song.",
    language="php",
)
SAVE_METHOD = Node(
    SAVE,
    "method",
    "save",
    "app/Songs.php",
    line=9,
    line_end=12,
    language="php",
    attributes={"static": False},
)
SONG_EXTENDS_MODEL = Link("EXTENDS", SONG, "class:Vendor\\Model", "app/Song.php", 5)
SAVE_CALLS_SONG = Link("CALLS", SAVE, SONG, "app/Songs.php", 10)
TOUCH_CALL = Unresolved(
    "call",
    SAVE,
    "touch",
    "$thing",
    "app/Songs.php",
    11,
    reason="no written type",
)
CLOSE_CALL = Unresolved("call", SAVE, "close", "$thing", "app/Songs.php", 12)
FILE = Graph(
    nodes=(SONG_CLASS, SAVE_METHOD),
    links=(SONG_EXTENDS_MODEL, SAVE_CALLS_SONG),
    aliases=(
        Alias("App\\Song", SONG, "class", "app/Song.php"),
        Alias("Song", SONG, "short_class", "app/Song.php"),
    ),
    unresolved=(TOUCH_CALL, CLOSE_CALL),
)

SONG_MODEL = Node(
    SONG,
    "model",
    "Song",
    "app/Song.php",
    line=5,
    framework="laravel",
    attributes={"table": "songs"},
)
SONG_ROUTE = Node(
    ROUTE,
    "route",
    "PUT api/songs/{song}",
    "routes/api.php",
    line=3,
    framework="laravel",
)
SONG_TABLE = Node(
    TABLE,
    "table",
    "songs",
    "migrations/1.php",
    line=8,
    framework="laravel",
)
THROTTLE = Link("GUARDED_BY", ROUTE, "middleware:throttle", "routes/api.php", 3, order=1)
AUTH = Link(
    "GUARDED_BY",
    ROUTE,
    "middleware:auth",
    "routes/api.php",
    2,
    "evaluated",
    attributes={"parameters": []},
)
ROUTE_CALLS_SAVE = Link(
    "HANDLED_BY",
    ROUTE,
    SAVE,
    "routes/api.php",
    3,
    "evaluated",
    conditional=True,
)
SAVE_USES_SONG = Link("USES_MODEL", SAVE, SONG, "app/Songs.php", 10)
SONG_IN_TABLE = Link(
    "MAPS_TO",
    SONG,
    TABLE,
    "app/Song.php",
    5,
    "convention",
    attributes={"how": "convention"},
)
FRAMEWORK = Graph(
    nodes=(SONG_MODEL, SONG_ROUTE, SONG_TABLE),
    links=(THROTTLE, AUTH, ROUTE_CALLS_SAVE, SAVE_USES_SONG, SONG_IN_TABLE),
    aliases=(Alias("Songs.Update", ROUTE, "route_name", "routes/api.php"),),
)
GRAPHS = {"file:app/Song.php": FILE, "laravel": FRAMEWORK}
STAMPS = {"laravel": "s1"}


def put_example_graph(store: DocumentStore) -> dict[str, int]:
    """Store both graphs and return how many rows of each kind changed."""
    return store.graph.put(KEY, GRAPHS, stamps=STAMPS)
