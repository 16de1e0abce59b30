"""Parsing of types, receivers, signatures and manifests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.resolve.module_names import ModuleLayout
from ragstone.code.resolve.receivers import ReceiverStep, parse_receiver
from ragstone.code.resolve.signatures import return_type
from ragstone.code.resolve.type_names import type_names


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("php", "?Song", ("Song",)),
        ("php", "Song|null", ("Song",)),
        ("php", r"Song|\App\Album", ("Song", r"\App\Album")),
        ("python", "Optional[Song]", ("Song",)),
        ("python", "t.Optional['shop.Song']", ("shop.Song",)),
        ("python", "Annotated[Song, Depends(get)]", ("Song",)),
        ("python", "Song | None", ("Song",)),
        ("python", "dict[str, Song]", ("dict",)),
        ("typescript", "Song<T> | undefined", ("Song",)),
        ("typescript", "Song[]", ()),
        ("typescript", "{ a: Song }", ()),
        ("typescript", "(a: Song) => void", ()),
        ("java", "List<Song>", ("List",)),
        ("java", "Song[]", ()),
        ("go", "*music.Song", ("music.Song",)),
        ("go", "[]Song", ()),
        ("go", "map[string]Song", ()),
        ("go", "func() Song", ()),
        ("rust", "&mut Song<'a>", ("Song",)),
        ("rust", "dyn Playable", ("Playable",)),
        ("kotlin", "Song?", ("Song",)),
        ("cpp", "const Song &", ("Song",)),
        ("swift", "[Song]", ()),
    ],
)
def test_the_class_names_of_a_written_type(
    language: str, text: str, names: tuple[str, ...]
) -> None:
    assert type_names(text, language) == names


@pytest.mark.parametrize(
    ("text", "head", "steps"),
    [
        ("$this->songs", ReceiverStep("$this", False), [ReceiverStep("songs", False)]),
        ("$this?->songs()", ReceiverStep("$this", False), [ReceiverStep("songs", True)]),
        (
            "Song::query()->where('a', fn () => ')')",
            ReceiverStep("Song", False),
            [ReceiverStep("query", True), ReceiverStep("where", True)],
        ),
        ("self.a.b(x)(y)", None, []),
        ("a[0].b", None, []),
        ("(new Song($a))", ReceiverStep("Song", True), []),
        ("new Song().album", ReceiverStep("Song", True), [ReceiverStep("album", False)]),
        ("song!!.album", ReceiverStep("song", False), [ReceiverStep("album", False)]),
        ("song?.album", ReceiverStep("song", False), [ReceiverStep("album", False)]),
        ("a + b", None, []),
        ("'text'", None, []),
        ("super()", ReceiverStep("super", True), []),
        ("", None, []),
    ],
)
def test_a_receiver_consists_of_names_and_calls_or_is_refused(
    text: str, head: ReceiverStep | None, steps: list[ReceiverStep]
) -> None:
    receiver = parse_receiver(text)
    assert (receiver and receiver.head) == head
    assert list(receiver.steps if receiver else ()) == steps


@pytest.mark.parametrize(
    ("language", "signature", "name", "type_"),
    [
        ("php", "public function album(array $a = ['x' => 1]): ?Album", "album", "?Album"),
        ("php", "public function album()", "album", ""),
        ("python", "def album(self, a=(1, 2)) -> Album", "album", "Album"),
        ("typescript", "album(a: () => string): Album<T>", "album", "Album<T>"),
        ("kotlin", "fun album(a: Int): Album? = null", "album", "Album?"),
        ("java", "public static final Album album(int a) throws X", "album", "Album"),
        ("csharp", "public async Task<Album> Album2(int a)", "Album2", "Task<Album>"),
        ("go", "func (s *Song) Album(a int) (*Album, error)", "Album", "*Album"),
        ("go", "func Album(a int) *Album", "Album", "*Album"),
        ("rust", "pub fn album(&self) -> Album where T: X", "album", "Album"),
        ("swift", "func album(a: Int) -> Album", "album", "Album"),
        ("python", "def album(self, a, b, c", "album", ""),
    ],
)
def test_the_return_type_of_a_signature(
    language: str, signature: str, name: str, type_: str
) -> None:
    assert return_type(signature, name, language)[0] == type_


@given(
    st.text("ab$.:->()[]'\"? \\@!", max_size=30),
    st.sampled_from(["php", "python", "go", "rust", "typescript"]),
)
def test_any_text_is_parsed_or_refused(text: str, language: str) -> None:
    receiver = parse_receiver(text)
    assert receiver is None or receiver.head.name
    assert all(type_names(text, language))
    assert isinstance(return_type(text, "a", language)[0], str)


def test_broken_manifests_count_as_missing() -> None:
    broken = {
        "go.mod": "??",
        "Cargo.toml": "[package",
        "package.json": "[1]",
        "tsconfig.json": '{"compilerOptions": 1}',
        "a/package.json": "{",
    }
    layout = ModuleLayout(broken)
    assert (layout.go, layout.crates, layout.packages, layout.paths) == ({}, {}, {}, {})
