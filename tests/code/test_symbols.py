"""What a file says of itself, in every language: names, kinds, lines, signatures, comments, uses and types."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk.chunkers import chunker_for
from ragstone.code.grammars import LANGUAGES, language_of
from ragstone.code.symbols import read_facts
from ragstone.indexing.parser_process import UNSAFE_LANGUAGES
from ragstone.indexing.parser_process import parse_facts as stoppable
from ragstone.types import Document, Symbol
from ragstone.types.code import FileFacts
from tests.code.sample_symbols import EXPECTED

SAMPLES = Path(__file__).parent / "samples"
BODY_LINES = {
    "python": ("        self.output.send(track)", "        self.output.send(treck)"),
    "php": ("        self::check(3);", "        self::check(4);"),
    "javascript": ("    output.send(track)", "    output.send(treck)"),
    "typescript": ("    player.start(output)", "    pleyer.start(output)"),
    "tsx": ("    setPlaying(true)", "    setPleying(true)"),
    "swift": ("        output.send(track)", "        output.send(treck)"),
    "go": ("\ttwin.Play(ctx, loud)", "\ttwin.Pley(ctx, loud)"),
    "rust": ("        player.play(Loudness::Quiet);", "        pleyer.play(Loudness::Quiet);"),
    "java": ("        repository.flush();", "        repository.flash();"),
    "kotlin": ("        output.send(track)", "        output.send(treck)"),
    "c": ("    play(track, LOUD);", "    pley(track, LOUD);"),
    "cpp": ("        player.start(track);", "        pleyer.start(track);"),
    "csharp": ("            player.Start(track);", "            pleyer.Start(track);"),
    "ruby": ("      player.start(track)", "      pleyer.start(track)"),
}


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
    assert set(BODY_LINES) == set(LANGUAGES)


@pytest.mark.parametrize("name", EXPECTED)
def test_definitions_have_their_names_kinds_and_lines(name: str) -> None:
    text, facts = parse_facts(name)
    found = [f"{one.line}-{one.line_end} {one.kind} {one.qualified}" for one in facts.symbols]
    assert found == [line.strip() for line in EXPECTED[name].strip().splitlines()]
    assert facts.broken == ()
    lines = text.split("\n")
    for one in facts.symbols:
        assert one.name in lines[one.line - 1]
        assert one.qualified == (f"{one.parent}.{one.name}" if one.parent else one.name)
        assert 0 < len(one.signature) <= 200
        assert "\n" not in one.signature
        assert text[one.start : one.end].strip() == text[one.start : one.end]
        assert text.count("\n", 0, one.start) + 1 <= one.line
        assert text.count("\n", 0, one.end - 1) + 1 == one.line_end


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
    one = by_name(parse_facts(name)[1])[symbol]
    assert one.signature == signature
    assert one.doc.startswith(doc)


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
def test_the_namespace_is_the_one_that_is_written(name: str, namespace: str) -> None:
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


def test_relative_imports_are_told_by_their_full_names() -> None:
    text = (
        "from . import x\nfrom .y import Z as W\nfrom ..up import v\nimport a.b\nfrom s import *\n"
    )
    facts = read_facts(text, "src/shop/cart/models.py")
    package = read_facts("from . import x\n", "src/shop/cart/__init__.py")
    assert facts is not None
    assert package is not None
    told = [(one.name, one.alias, one.kind) for one in facts.imports]
    assert told == [
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
def test_imports_are_known_by_what_they_are_called_here(
    name: str, expected: tuple[str, str, str]
) -> None:
    assert expected in [(one.name, one.alias, one.kind) for one in parse_facts(name)[1].imports]


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
def test_uses_say_what_they_are_made_on_and_where(
    name: str, expected: tuple[str, str, str, str]
) -> None:
    assert expected in [
        (one.kind, one.name, one.receiver, one.inside) for one in parse_facts(name)[1].references
    ]


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
def test_names_with_a_written_type_are_bound_to_it(
    name: str, expected: tuple[str, str, str]
) -> None:
    assert expected in [(one.inside, one.name, one.type) for one in parse_facts(name)[1].bindings]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_editing_one_function_changes_one_symbol_and_its_chunk_only(path: Path) -> None:
    before = path.read_text("utf-8")
    old, new = BODY_LINES[language_of(path.name)]
    assert before.count(old) == 1
    after = before.replace(old, new)
    changed = before.count("\n", 0, before.index(old)) + 1
    kept, told = read_facts(before, path.name), read_facts(after, path.name)
    assert kept is not None
    assert told is not None

    def pieces(text: str, facts: FileFacts) -> dict[str, tuple[str, str]]:
        return {
            one.qualified + one.kind: (one.signature, text[one.start : one.end])
            for one in facts.symbols
        }

    one, other = pieces(before, kept), pieces(after, told)
    assert one.keys() == other.keys()
    touched = {
        symbol.qualified + symbol.kind
        for symbol in kept.symbols
        if symbol.line <= changed <= symbol.line_end
    }
    assert {name for name in one if one[name] != other[name]} <= touched
    assert touched
    language = {"tsx": "typescript"}.get(kept.language, kept.language)
    cuts = [
        chunker_for(document, size=120).chunk(document)
        for document in (
            Document(path.name, before, kind="code", language=language, symbols=kept.symbols),
            Document(path.name, after, kind="code", language=language, symbols=told.symbols),
        )
    ]
    functions = [symbol for symbol in kept.symbols if symbol.kind in ("function", "method")]
    edited = [symbol for symbol in functions if symbol.line <= changed <= symbol.line_end][-1]
    unchanged = {chunk.text for chunk in cuts[1]}
    recut = [chunk for chunk in cuts[0] if chunk.text not in unchanged]
    assert recut
    assert all(chunk.span.start < edited.end and chunk.span.end > edited.start for chunk in recut)


def test_lines_that_cannot_be_read_are_told() -> None:
    facts = read_facts(
        "def good():\n    return 1\n\n\nclass :::\n  %%% (\n\n\ndef also():\n    return 2\n", "a.py"
    )
    assert facts is not None
    assert facts.broken
    assert all(5 <= first <= last for first, last in facts.broken)
    assert "good" in by_name(facts)


@pytest.mark.parametrize("uri", ["a.txt", "a.unknown", "", "README"])
def test_what_has_no_grammar_has_no_facts(uri: str) -> None:
    assert read_facts("class A: pass", uri) is None


def test_a_language_can_be_told_where_the_name_says_none() -> None:
    facts = read_facts("def f(): pass\n", "bin/tool", "python")
    assert facts is not None
    assert [one.name for one in facts.symbols] == ["f"]
    assert read_facts("x", "bin/tool", "cobol") is None


def test_a_header_in_cpp_is_read_as_that() -> None:
    facts = read_facts("namespace a {\nclass B {\n  int c();\n};\n}\n", "b.h")
    assert facts is not None
    assert facts.language == "cpp"
    assert "a.B.c" in by_name(facts)


def test_a_narrowed_template_has_the_name_of_the_template() -> None:
    text = "template<typename It>\nstruct Walk <\n    It, void_t<typename It::a, typename It::b >>\n{\n    int at;\n};\n"
    facts = read_facts(text, "walk.hpp")
    assert facts is not None
    assert [(one.qualified, one.line) for one in facts.symbols] == [("Walk", 2), ("Walk.at", 5)]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_half_a_character_in_a_name_or_text_harms_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    names = [one.name for one in parse_facts(path.name)[1].symbols]
    for name in names[:6]:
        odd = text.replace(name, f"{name[:1]}\ud800{name[1:]}")
        facts = read_facts(odd, path.name)
        assert facts is not None
        for one in facts.symbols:
            assert 0 <= one.start < one.end <= len(odd)


def test_places_are_counted_in_characters() -> None:
    text = "# “größer” 👍\ndef grüße():\n    return 'ä'\n\n\ndef zwei():\n    return 2\n"
    facts = read_facts(text, "a.py")
    assert facts is not None
    first, second = facts.symbols
    assert text[first.start : first.end] == "# “größer” 👍\ndef grüße():\n    return 'ä'"
    assert (first.doc, first.name) == ("“größer” 👍", "grüße")
    assert text[second.start : second.end] == "def zwei():\n    return 2"


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_text_has_symbols_within_it(language: str, data: st.DataObject) -> None:
    name = next(
        path.name for path in sorted(SAMPLES.iterdir()) if language_of(path.name) == language
    )
    text = (SAMPLES / name).read_text("utf-8")
    at = data.draw(st.integers(0, len(text)))
    garbage = data.draw(
        st.text(st.characters(codec=None), max_size=20)
        | st.sampled_from(["\x00", "\ud800", "{", "(", '"'])
    )
    broken = text[:at] + garbage + text[at + data.draw(st.integers(0, 40)) :]
    facts = stoppable(broken, name)
    if facts is None:
        assert language in UNSAFE_LANGUAGES  # it was stopped
        return
    for one in facts.symbols:
        assert 0 <= one.start < one.end <= len(broken)
        assert 1 <= one.line <= one.line_end <= broken.count("\n") + 1


def _real_files() -> list[Path]:
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:40]
    headers = sorted(Path(sysconfig.get_paths()["include"]).glob("*.h"))[:25]
    return library + headers


@pytest.mark.parametrize("path", _real_files(), ids=lambda path: path.name)
def test_real_files_have_symbols_on_their_lines(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    facts = read_facts(text, path.name)
    assert facts is not None
    lines = text.split("\n")
    for one in facts.symbols:
        assert one.name in lines[one.line - 1]
    if path.suffix == ".py" and sys.version_info < (3, 15):
        assert not facts.broken


@pytest.mark.parametrize("name", EXPECTED)
def test_a_symbol_s_name_stands_on_its_line(name: str) -> None:
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    for row in EXPECTED[name].strip().splitlines():
        place, _, full = row.split(maxsplit=2)
        assert full.rpartition(".")[2].lstrip("$@") in lines[int(place.partition("-")[0]) - 1]
