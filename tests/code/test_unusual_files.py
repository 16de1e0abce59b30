"""Facts of edited, broken and unusual files."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk.chunkers import chunker_for
from ragstone.code.file_languages import language_of
from ragstone.code.grammars import LANGUAGES
from ragstone.code.symbols import read_facts
from ragstone.indexing.parser_process import UNSAFE_LANGUAGES
from ragstone.indexing.parser_process import parse_facts as stoppable
from ragstone.types import Document
from ragstone.types.code import FileFacts
from tests.code.test_symbols import SAMPLES, by_name, parse_facts

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
    "scala": ("      repository.store(track)", "      repository.stere(track)"),
    "elixir": ("    Repository.store(track)", "    Repository.stere(track)"),
    "lua": ("    repository.store(track)", "    repository.stere(track)"),
    "shell": ('    store_track "$track"', '    stere_track "$track"'),
    "haskell": (
        "  | otherwise = Library (track : tracks)",
        "  | otherwise = Library (treck : tracks)",
    ),
    "zig": ("        Repository.store(track);", "        Repository.stere(track);"),
}


def pieces(text: str, facts: FileFacts) -> dict[str, tuple[str, str]]:
    """Return the signature and the text of each symbol."""
    return {
        symbol.qualified + symbol.kind: (symbol.signature, text[symbol.start : symbol.end])
        for symbol in facts.symbols
    }


def test_every_language_has_a_line_to_edit() -> None:
    assert set(BODY_LINES) == set(LANGUAGES)


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_an_edit_of_one_function_changes_only_its_symbol_and_chunk(path: Path) -> None:
    before = path.read_text("utf-8")
    old, new = BODY_LINES[language_of(path.name)]
    assert before.count(old) == 1
    after = before.replace(old, new)
    changed = before.count("\n", 0, before.index(old)) + 1
    old_facts, new_facts = read_facts(before, path.name), read_facts(after, path.name)
    assert old_facts is not None
    assert new_facts is not None

    old_pieces, new_pieces = pieces(before, old_facts), pieces(after, new_facts)
    assert old_pieces.keys() == new_pieces.keys()
    touched = {
        symbol.qualified + symbol.kind
        for symbol in old_facts.symbols
        if symbol.line <= changed <= symbol.line_end
    }
    changed_names = {name for name in old_pieces if old_pieces[name] != new_pieces[name]}
    assert changed_names <= touched
    assert touched
    language = {"tsx": "typescript"}.get(old_facts.language, old_facts.language)
    cuts = [
        chunker_for(document, size=120).chunk(document)
        for document in (
            Document(
                path.name, before, kind="code", language=language, symbols=old_facts.symbols
            ),
            Document(
                path.name, after, kind="code", language=language, symbols=new_facts.symbols
            ),
        )
    ]
    functions = [
        symbol for symbol in old_facts.symbols if symbol.kind in ("function", "method")
    ]
    edited = [symbol for symbol in functions if symbol.line <= changed <= symbol.line_end][-1]
    unchanged = {chunk.text for chunk in cuts[1]}
    recut = [chunk for chunk in cuts[0] if chunk.text not in unchanged]
    assert recut
    assert all(
        chunk.span.start < edited.end and chunk.span.end > edited.start for chunk in recut
    )


def test_lines_that_cannot_be_parsed_are_listed() -> None:
    facts = read_facts(
        "def good():\n    return 1\n\n\nclass :::\n  %%% (\n\n\ndef also():\n    return 2\n",
        "a.py",
    )
    assert facts is not None
    assert facts.broken
    assert all(5 <= first <= last for first, last in facts.broken)
    assert "good" in by_name(facts)


@pytest.mark.parametrize("uri", ["a.txt", "a.unknown", "", "README"])
def test_a_file_without_a_grammar_has_no_facts(uri: str) -> None:
    assert read_facts("class A: pass", uri) is None


def test_the_language_argument_is_used_if_the_name_does_not_decide() -> None:
    facts = read_facts("def f(): pass\n", "bin/tool", "python")
    assert facts is not None
    assert [symbol.name for symbol in facts.symbols] == ["f"]
    assert read_facts("x", "bin/tool", "cobol") is None


def test_a_header_with_classes_is_read_as_cpp() -> None:
    facts = read_facts("namespace a {\nclass B {\n  int c();\n};\n}\n", "b.h")
    assert facts is not None
    assert facts.language == "cpp"
    assert "a.B.c" in by_name(facts)


def test_a_specialised_template_has_the_name_of_the_template() -> None:
    text = "template<typename It>\nstruct Walk <\n    It, void_t<typename It::a, typename It::b >>\n{\n    int at;\n};\n"
    facts = read_facts(text, "walk.hpp")
    assert facts is not None
    assert [(symbol.qualified, symbol.line) for symbol in facts.symbols] == [
        ("Walk", 2),
        ("Walk.at", 5),
    ]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_lone_surrogate_in_a_text_is_accepted(path: Path) -> None:
    text = path.read_text("utf-8")
    names = [symbol.name for symbol in parse_facts(path.name)[1].symbols]
    for name in names[:6]:
        odd = text.replace(name, f"{name[:1]}\ud800{name[1:]}")
        facts = read_facts(odd, path.name)
        assert facts is not None
        for symbol in facts.symbols:
            assert 0 <= symbol.start < symbol.end <= len(odd)


def test_offsets_are_counted_in_characters() -> None:
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
    for symbol in facts.symbols:
        assert 0 <= symbol.start < symbol.end <= len(broken)
        assert 1 <= symbol.line <= symbol.line_end <= broken.count("\n") + 1


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
    for symbol in facts.symbols:
        assert symbol.name in lines[symbol.line - 1]
    if path.suffix == ".py" and sys.version_info < (3, 15):
        assert not facts.broken
