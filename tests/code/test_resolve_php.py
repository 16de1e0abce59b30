"""Relations of PHP files, from written types and imports."""

from __future__ import annotations

from tests.code.small_projects import resolved

MODELS = {
    "app/Models/Song.php": r"""
        <?php
        namespace App\Models;
        use App\Support\{Playable, Named as HasName};
        class Song extends Media implements \Countable, Streamed
        {
            use Playable;
            use HasName;
            public function __construct(private Album $album, protected ?Player $player = null) {}
            public function start(): static { $this->play(); self::make(); parent::prepare(); return $this; }
            public static function make(): self { return new self(new Album); }
            public function album(): ?Album { return $this->album; }
            public function count(): int { return count([]); }
            public function closing() { return new class { public function go() { $this->start(); } }; }
        }
        """,
    "app/Models/Media.php": r"""
        <?php
        namespace App\Models;
        abstract class Media { public function prepare(): void {} public function PLAY() {} }
        interface Streamed extends \Traversable {}
        class Album { public function title(): string { return ''; } }
        """,
    "app/Models/Player.php": "<?php namespace App\\Models; class Player { public function stop(): void {} }",
    "app/Support/Playable.php": (
        "<?php namespace App\\Support; trait Playable { public function play() { return name(); } }"
    ),
    "app/Support/Named.php": "<?php namespace App\\Support; trait Named {} function name() {} ",
}
SONG = r"App\Models\Song"


def test_parents_interfaces_and_traits_are_linked_with_their_line() -> None:
    project = resolved(MODELS)
    assert project.links("EXTENDS") == {(f"class:{SONG}", r"class:App\Models\Media")}
    assert project.links("IMPLEMENTS") == {(f"class:{SONG}", r"class:App\Models\Streamed")}
    assert project.links("USES_TRAIT") == {
        (f"class:{SONG}", r"class:App\Support\Playable"),
        (f"class:{SONG}", r"class:App\Support\Named"),
    }
    (extends,) = (link for link in project.graph.links if link.kind == "EXTENDS")
    assert (extends.uri, extends.line, extends.confidence) == (
        "app/Models/Song.php",
        5,
        "declared",
    )
    outside = {
        (row.kind, row.name, row.reason)
        for row in project.graph.unresolved
        if row.kind != "CALLS"
    }
    assert ("IMPLEMENTS", r"\Countable", "not in this project") in outside


def test_this_self_static_and_parent_lead_through_traits_and_parents() -> None:
    project = resolved(MODELS)
    assert project.calls_of(rf"method:{SONG}::start") == {
        r"method:App\Support\Playable::play",  # a trait's method stands before an inherited one
        rf"method:{SONG}::make",
        r"method:App\Models\Media::prepare",
    }
    assert project.calls_of(rf"method:{SONG}::make") == {
        rf"method:{SONG}::__construct",
        r"class:App\Models\Album",
    }
    assert project.calls_of(r"method:App\Support\Playable::play") == {
        r"function:App\Support\name"
    }


def test_this_in_an_anonymous_class_is_not_the_outer_class() -> None:
    project = resolved(MODELS)
    assert not [link for link in project.graph.links if link.target == rf"method:{SONG}::start"]
    (row,) = (row for row in project.graph.unresolved if row.name == "start")
    assert row.reason == "what $this is here is not written"


SERVICE = {
    "app/Service.php": r"""
        <?php
        namespace App;
        use App\Models\Song;
        use App\Models as M;
        class Service
        {
            private M\Player $player;
            private ?Song $last = null;
            public function run(Song $song, $any, Song|M\Album $either, Song ...$more): void
            {
                $song->start()->album()?->title();
                $this->player->stop();
                $this->last?->count();
                (new Song(new M\Album))->start();
                Song::make()->album();
                $any->start();
                $either->title();
                $more->start();
                $made = new M\Player;
                $made->stop();
                strlen('x');
                helper();
            }
            public function given(Song $song): void
            {
                $album = $song
                    ->start()
                    ->album();
                $album->title();
                $again = $again->album();
                $again->title();
                $none = $song->closing();
                $none->title();
            }
            public function changed(Song $song): void
            {
                $song = fetch();
                $song->start();
            }
        }
        """
}


def test_typed_receivers_are_linked_and_untyped_receivers_have_a_reason() -> None:
    project = resolved(MODELS | SERVICE)
    run = r"method:App\Service::run"
    assert project.calls_of(run) == {
        rf"method:{SONG}::start",
        rf"method:{SONG}::album",
        rf"method:{SONG}::count",
        rf"method:{SONG}::make",
        rf"method:{SONG}::__construct",
        r"method:App\Models\Album::title",
        r"method:App\Models\Player::stop",
        r"class:App\Models\Album",
        r"class:App\Models\Player",
    }
    assert project.reasons(run) == {
        "$any start": "the type of $any is not written",
        r"$either title": r"Song|M\Album is several types",
        "$more start": "the type of $more is not written",
        "helper": "not in this project",
    }


def test_a_name_has_the_type_of_its_value_if_that_is_known() -> None:
    project = resolved(MODELS | SERVICE)
    assert project.calls_of(r"method:App\Service::given") == {
        rf"method:{SONG}::start",
        rf"method:{SONG}::album",
        rf"method:{SONG}::closing",
        r"method:App\Models\Album::title",
    }
    assert [
        link.line
        for link in project.graph.links
        if link.target == r"method:App\Models\Album::title"
    ] == [12, 30]
    assert (
        project.reasons(r"method:App\Service::given")["$none title"]
        == "what closing() returns is not written"
    )
    assert project.calls_of(r"method:App\Service::changed") == set()
    assert (
        project.reasons(r"method:App\Service::changed")["$song start"]
        == "$song has several types"
    )


def test_methods_with_the_same_name_in_unrelated_classes_are_not_linked() -> None:
    project = resolved(
        {
            "a.php": "<?php class Song { public function play() {} }",
            "b.php": "<?php class Game { public function play() {} }",
            "c.php": "<?php class Table { public function start($it, $other) { $it->play(); $other->play(); } }",
        }
    )
    assert project.links() == set()
    assert {(row.receiver, row.name) for row in project.graph.unresolved} == {
        ("$it", "play"),
        ("$other", "play"),
    }


def test_every_symbol_has_a_node_and_the_names_people_write() -> None:
    project = resolved(
        {
            "app/Song.php": "<?php\nnamespace App;\n/** Plays. */\nclass Song {\n public function play() {}\n}\n"
        }
    )
    nodes = {node.key: node for node in project.graph.nodes}
    assert set(nodes) == {"file:app/Song.php", r"class:App\Song", r"method:App\Song::play"}
    song = nodes[r"class:App\Song"]
    assert (song.kind, song.name, song.uri, song.line, song.line_end) == (
        "class",
        "Song",
        "app/Song.php",
        4,
        6,
    )
    assert (song.doc, song.signature, song.language) == ("Plays.", "class Song", "php")
    assert {(row.name, row.kind) for row in project.graph.aliases} == {
        (r"App\Song", "class"),
        ("Song", "short_class"),
        (r"App\Song@play", "method"),
        (r"App\Song::play", "method"),
        ("Song@play", "short_method"),
        ("Song::play", "short_method"),
        ("Song.play", "short_method"),
    }


def test_methods_of_anonymous_classes_have_keys_with_their_file() -> None:
    text = "<?php\nreturn new class extends Migration {\n  public function up() { helper(); }\n};\n"
    project = resolved({"a.php": text, "b.php": text, "c.php": "<?php function helper() {}"})
    assert project.links() == {
        ("method:a.php#up", "function:helper"),
        ("method:b.php#up", "function:helper"),
    }
    assert {alias.name for alias in project.graph.aliases} == {"helper"}


def test_a_name_with_another_value_on_the_same_line_has_no_type() -> None:
    project = resolved(
        {
            "a.php": """<?php
            class A { function save() {} }
            class B { function save() {} }
            class C {
                function again(A $a) { $a = make(); $a->save(); }
                function inside(A $a) { each(function ($a) { $a->save(); }); }
                function either() { if (x()) { $a = new A; } else { $a = new B; } $a->save(); }
                function plain(A $a) { $a->save(); }
            }
            """
        }
    )
    assert {pair for pair in project.links() if pair[1].endswith("::save")} == {
        ("method:C::plain", "method:A::save")
    }
