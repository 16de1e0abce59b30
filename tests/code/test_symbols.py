"""Facts of sample files in every language: names, kinds, lines, signatures, comments, references and types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.code.file_languages import language_of
from ragstone.code.grammars import LANGUAGES
from ragstone.code.symbols import read_facts
from ragstone.types import Symbol
from ragstone.types.code import FileFacts

SAMPLES = Path(__file__).parent / "samples"
EXPECTED_FILES = (Path(__file__).parent / "expected_symbols").iterdir()
EXPECTED = {path.stem: path.read_text("utf-8") for path in sorted(EXPECTED_FILES)}
"""The lines, kind and full name of each definition in a sample; they were compared with the files by eye."""


def parse_facts(name: str) -> tuple[str, FileFacts]:
    text = (SAMPLES / name).read_text("utf-8")
    facts = read_facts(text, name)
    assert facts is not None
    return text, facts


def by_name(facts: FileFacts) -> dict[str, Symbol]:
    return {symbol.qualified: symbol for symbol in facts.symbols}


def test_there_is_a_sample_of_every_language() -> None:
    assert {language_of(path.name) for path in SAMPLES.iterdir()} == set(LANGUAGES)
    assert set(EXPECTED) == {path.name for path in SAMPLES.iterdir()}


@pytest.mark.parametrize("name", EXPECTED)
def test_definitions_are_the_same_if_uses_of_names_are_not_read(name: str) -> None:
    text, facts = parse_facts(name)
    quick = read_facts(text, name, definitions_only=True)
    assert quick == replace(facts, imports=(), references=(), bindings=())


@pytest.mark.parametrize("name", EXPECTED)
def test_definitions_have_their_names_kinds_and_lines(name: str) -> None:
    text, facts = parse_facts(name)
    rows = [
        f"{symbol.line}-{symbol.line_end} {symbol.kind} {symbol.qualified}"
        for symbol in facts.symbols
    ]
    assert rows == [line.strip() for line in EXPECTED[name].strip().splitlines()]
    assert facts.broken == ()
    lines = text.split("\n")
    for symbol in facts.symbols:
        assert symbol.name in lines[symbol.line - 1]
        full_name = f"{symbol.parent}.{symbol.name}"
        assert symbol.qualified == full_name.removeprefix(".")
        assert 0 < len(symbol.signature) <= 200
        assert "\n" not in symbol.signature
        assert text[symbol.start : symbol.end].strip() == text[symbol.start : symbol.end]
        assert text.count("\n", 0, symbol.start) + 1 <= symbol.line
        assert text.count("\n", 0, symbol.end - 1) + 1 == symbol.line_end


@pytest.mark.parametrize(
    ("name", "symbol", "signature", "doc"),
    [
        (
            "library.php",
            "Library",
            "final class Library extends Model implements Playable",
            "Keeps tracks.",
        ),
        (
            "library.php",
            "Library.play",
            "public function play(Loudness $loudness): bool",
            "Plays what is next.",
        ),
        ("library.py", "Track", "class Track", "A track,\n\nwith its title."),
        (
            "library.py",
            "Library.add",
            "async def add( self, track: Track, *, position: int = 0, ) -> bool",
            "Add one.",
        ),
        ("library.js", "Library", "export default class Library extends Base", "Keeps tracks."),
        ("library.js", "app.use", "app.use = function use(plugin)", "Uses a plug-in."),
        (
            "library.ts",
            "Library.add",
            "async add(track: T, position?: number): Promise<boolean>",
            "Adds one.",
        ),
        (
            "Player.tsx",
            "Player",
            "export function Player({ track, onPlay }: Props): JSX.Element",
            "Shows a track.",
        ),
        (
            "Library.swift",
            "Track",
            "struct Track: Codable, Hashable",
            "One track.\nIt knows its album.",
        ),
        ("library.go", "Store", "type Store[T any] struct", "Store holds tracks\nof one kind."),
        (
            "library.rs",
            "Library.new",
            "pub fn new(store: &'a S) -> Self",
            "Makes one.\n\nIt is empty.",
        ),
        (
            "Library.java",
            "Library.Library",
            "public Library(TrackRepository repository)",
            "Made by the container.",
        ),
        (
            "Library.kt",
            "Library.play",
            "override fun play(loudness: Loudness): Boolean",
            "Plays what is next.",
        ),
        (
            "library.c",
            "library_add",
            "static int library_add(library_t *library, struct track *track, player_fn play)",
            "Adds a track.\nReturns the new count.",
        ),
        (
            "library.cpp",
            "music.Library",
            "template <typename T, int N = 4> class Library final : public Playable, private Base<T>",
            "Keeps tracks.",
        ),
        (
            "Library.cs",
            "Library",
            "public abstract partial class Library<T> : Base, IPlayable where T : Track",
            "Keeps tracks.",
        ),
        ("library.rb", "Music.Library.add", "def add(track, *rest, &block)", "Adds one."),
    ],
)
def test_a_definition_is_described_by_its_signature_and_comment(
    name: str, symbol: str, signature: str, doc: str
) -> None:
    definition = by_name(parse_facts(name)[1])[symbol]
    assert definition.signature == signature
    assert definition.doc.startswith(doc)


@pytest.mark.parametrize(
    ("name", "symbol", "first"),
    [
        ("library.php", "Library", "/**\n * Keeps"),
        ("library.py", "Track", "# One track.\n@dataclass"),
        ("library.py", "Track.label", "@property"),
        ("Library.java", "Library.add", "/**\n     * Adds"),
        ("library.rs", "Loudness", "/// How loud."),
        ("library.rs", "tests", "#[cfg(test)]"),
        ("library.ts", "Library", "/**\n * Keeps"),
        ("Library.cs", "Library", "/// <summary>"),
    ],
)
def test_comments_and_attributes_belong_to_the_definition_below(
    name: str, symbol: str, first: str
) -> None:
    text, facts = parse_facts(name)
    assert text[by_name(facts)[symbol].start :].startswith(first)


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("library.php", "App\\Music"),
        ("Library.java", "com.example.music"),
        ("Library.kt", "com.example.music"),
        ("Library.cs", "Example.Music"),
        ("library.rs", ""),
    ],
)
def test_the_namespace_is_read_from_the_file(name: str, namespace: str) -> None:
    assert parse_facts(name)[1].namespace == namespace


@pytest.mark.parametrize(
    ("uri", "namespace"),
    [
        ("src/shop/models.py", "shop.models"),
        ("shop/__init__.py", "shop"),
        ("lib/a.py", "a"),
        ("a/b/c.pyi", "a.b.c"),
    ],
)
def test_a_python_module_is_named_by_its_path(uri: str, namespace: str) -> None:
    facts = read_facts("from . import x\nfrom .y import Z as W\nfrom ..up import v\n", uri)
    assert facts is not None
    assert facts.namespace == namespace


def test_relative_imports_get_their_full_names() -> None:
    text = "from . import x\nfrom .y import Z as W\nfrom ..up import v\nimport a.b\nfrom s import *\n"
    facts = read_facts(text, "src/shop/cart/models.py")
    package = read_facts("from . import x\n", "src/shop/cart/__init__.py")
    assert facts is not None
    assert package is not None
    imports = [(imported.name, imported.alias, imported.kind) for imported in facts.imports]
    assert imports == [
        ("shop.cart.x", "x", ""),
        ("shop.cart.y.Z", "W", ""),
        ("shop.up.v", "v", ""),
        ("a.b", "a.b", "module"),
        ("s", "", "all"),
    ]
    assert package.imports[0].name == "shop.cart.x"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("library.php", ("App\\Audio\\Output", "Speaker", "")),
        ("library.php", ("App\\helper", "helper", "function")),
        ("library.php", ("App\\Store\\AlbumRepository", "Albums", "")),
        ("library.js", ("node:fs#readFile", "read", "")),
        ("library.js", ("node:fs#default", "fs", "")),
        ("library.js", ("./album#Disc", "Record", "")),
        ("library.ts", ("../track#Store", "TrackStore", "")),
        ("library.ts", ("./config", "config", "module")),
        ("library.go", ("github.com/example/logging/v2", "log", "module")),
        ("library.rs", ("std::collections::HashMap", "Map", "")),
        ("library.rs", ("crate::audio", "", "all")),
        ("Library.java", ("java.util.concurrent", "", "all")),
        ("Library.kt", ("com.example.audio.Speaker", "Box", "")),
        ("library.c", ("track.h", "", "module")),
        ("Library.cs", ("Example.Audio.Output", "Audio", "")),
        ("library.rb", ("json", "", "module")),
        ("Library.swift", ("Foundation", "Foundation", "module")),
    ],
)
def test_imports_have_a_name_an_alias_and_a_kind(
    name: str, expected: tuple[str, str, str]
) -> None:
    imports = parse_facts(name)[1].imports
    assert expected in [(imported.name, imported.alias, imported.kind) for imported in imports]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("library.php", ("call", "next", "$this->tracks", "Library.play")),
        ("library.php", ("uses_trait", "Shuffles", "", "Library")),
        ("library.php", ("new", "Player", "", "Library.play")),
        ("library.php", ("decorates", "Entity", "", "Library")),
        ("library.py", ("extends", "Playable", "", "Library")),
        ("library.py", ("call", "dumps", "codec", "Library.add.later")),
        ("library.js", ("new", "Output", "", "Library.add")),
        ("library.ts", ("implements", "Playable", "", "Library")),
        ("Player.tsx", ("call", "Title", "", "Player")),
        ("library.go", ("extends", "Base", "", "Track")),
        ("library.go", ("call", "Print", "s.logger", "Store.Add")),
        ("library.rs", ("implements", "fmt::Display", "", "Library")),
        ("library.rs", ("call", "save", "self.store", "Library.add")),
        ("Library.java", ("extends", "Base", "", "Library")),
        ("Library.kt", ("call", "close", "this.repository", "Library.play")),
        ("library.c", ("call", "fprintf", "", "library_add")),
        ("library.cpp", ("call", "check", "Limits", "music.Library.add")),
        ("Library.cs", ("call", "NextAsync", "_repository", "Library.Play")),
        ("library.rb", ("extends", "Base::Collection", "", "Music.Library")),
        ("Library.swift", ("call", "next", "store", "Player.play")),
    ],
)
def test_references_have_a_receiver_and_a_place(
    name: str, expected: tuple[str, str, str, str]
) -> None:
    references = parse_facts(name)[1].references
    assert expected in [(use.kind, use.name, use.receiver, use.inside) for use in references]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("library.php", ("Library", "$this->tracks", "TrackRepository")),
        ("library.php", ("Library", "$this->albums", "Albums")),
        ("library.php", ("Library.play", "$player", "Player")),
        ("library.py", ("Library", "self.output", "Output")),
        ("library.py", ("Library.add", "speaker", "Output")),
        ("library.ts", ("Library", "this.store", "TrackStore")),
        ("library.js", ("Library", "this.player", "Player")),
        ("library.go", ("Store.Add", "s", "Store[T]")),
        ("library.rs", ("Library", "self.store", "S")),
        ("Library.java", ("Library", "repository", "TrackRepository")),
        ("Library.kt", ("Library.play", "output", "Output")),
        ("library.cpp", ("music.Library", "repository_", "TrackRepository")),
        ("Library.cs", ("Library.Play", "player", "Player")),
        ("library.rb", ("Music.Library.add", "player", "Audio::Player")),
        ("Library.swift", ("Player", "store", "TrackStore")),
        ("library.c", ("library_add", "library", "library_t")),
    ],
)
def test_names_with_a_written_type_have_bindings(
    name: str, expected: tuple[str, str, str]
) -> None:
    bindings = parse_facts(name)[1].bindings
    assert expected in [(binding.inside, binding.name, binding.type) for binding in bindings]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_name_of_a_symbol_is_on_its_line(name: str) -> None:
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    for row in EXPECTED[name].strip().splitlines():
        place, _, full = row.split(maxsplit=2)
        assert full.rpartition(".")[2].lstrip("$@") in lines[int(place.partition("-")[0]) - 1]
