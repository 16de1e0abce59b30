"""The project index: interfaces of files, repeated resolution, and cyclic projects."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.code.resolve import ProjectIndex, interface, resolve
from ragstone.code.resolve.links import MAX_UNRESOLVED
from ragstone.code.symbols import read_facts
from ragstone.types import Symbol
from ragstone.types.code import Binding, FileFacts, Import, Reference
from tests.code.small_projects import facts_of

SONG = """
class Song(Media):
    player: Player

    def play(self) -> Song:
        self.player.start()
        return self
"""
PLAYER = "class Player:\n    def start(self) -> None: ...\n"


def facts(text: str, uri: str = "song.py") -> FileFacts:
    file_facts = read_facts(text, uri)
    assert file_facts is not None
    return file_facts


def test_the_body_of_a_function_is_not_part_of_the_interface() -> None:
    before = interface(facts(SONG))
    assert (
        interface(
            facts(
                SONG.replace(
                    "self.player.start()", "x = 1\n        y = Song()\n        y.play()"
                )
            )
        )
        == before
    )
    assert interface(facts("\n\n# moved\n" + SONG)) == before


@pytest.mark.parametrize(
    "change",
    [
        ("class Song", "class Tune"),
        ("(Media)", "(Other)"),
        ("player: Player", "player: Other"),
        ("-> Song", "-> Media"),
        ("def play", "def run"),
        ("class Song", "from x import y\nclass Song"),
        ("class Song", "current = Song()\nclass Song"),
    ],
)
def test_a_visible_change_changes_the_interface(change: tuple[str, str]) -> None:
    assert interface(facts(SONG.replace(*change))) != interface(facts(SONG))


def test_a_file_with_changed_function_bodies_is_resolved_with_the_same_index() -> None:
    text = "import player\n" + SONG.replace("Player", "player.Player")
    index = ProjectIndex([facts(text), facts(PLAYER, "player.py")])
    changed = facts(
        text.replace(
            "        self.player.start()\n", "        first = 1\n        self.player.start()\n"
        )
    )
    expected = resolve(changed, ProjectIndex([changed, facts(PLAYER, "player.py")]))
    assert resolve(changed, index) == expected
    assert [(link.kind, link.target, link.line) for link in expected.links] == [
        ("CALLS", "method:player.Player.start", 8)
    ]


def test_facts_with_another_interface_are_refused() -> None:
    index = ProjectIndex([facts(SONG)])
    with pytest.raises(ValueError, match="other facts about song.py"):
        resolve(facts(SONG.replace("play", "run")), index)
    with pytest.raises(ValueError, match="other facts about new.py"):
        resolve(facts(SONG, "new.py"), index)


def test_the_order_of_files_does_not_matter() -> None:
    files = facts_of(
        {
            "a.php": "<?php class Song {}",
            "b.php": "<?php class Song { function play() {} }",
            "c.php": "<?php (new Song)->play();",
        }
    )
    index, reversed_index = ProjectIndex(files), ProjectIndex(reversed(files))
    for file in files:
        assert resolve(file, index) == resolve(file, reversed_index)


def test_each_line_of_an_unresolved_call_has_a_row_and_their_number_is_limited() -> None:
    same = resolve(
        only := facts("def run(it):\n    it.go(); it.go()\n    it.go()\n    it.stop()\n"),
        ProjectIndex([only]),
    )
    rows = [(row.name, row.line) for row in same.unresolved]
    assert rows == [("go", 2), ("go", 3), ("stop", 4)]
    repeated = "    it.go()\n" * (MAX_UNRESOLVED + 50)
    full = facts(f"def run(it):\n{repeated}    it.stop()\n")
    names = [row.name for row in resolve(full, ProjectIndex([full])).unresolved]
    assert names == ["go"] * (MAX_UNRESOLVED + 1) + ["stop"]
    many = facts(
        "def run(it):\n"
        + "".join(f"    it.go{number}()\n" for number in range(MAX_UNRESOLVED + 50))
    )
    assert len(resolve(many, ProjectIndex([many])).unresolved) == MAX_UNRESOLVED


def test_cyclic_parents_and_imports_end() -> None:
    text = "from b import B\nclass A(B):\n    def go(self):\n        self.x()\n        super().go()\n"
    files = [
        facts(text, "a.py"),
        facts("from a import A\nclass B(A): ...\nclass C(C): ...\n", "b.py"),
    ]
    index = ProjectIndex(files)
    graph = resolve(files[0], index)
    assert {(row.name, row.reason) for row in graph.unresolved} == {
        ("x", "A has no x"),
        ("go", "A has no go"),
    }


NAMES = st.sampled_from(
    [
        "A",
        "B",
        "a",
        "self",
        "super",
        "$x",
        "x.y",
        "A\\B",
        "A::b",
        "",
        ".",
        "(new A)",
        "@v",
        "this.a()",
    ]
)
LANGUAGES = [
    "php",
    "python",
    "typescript",
    "java",
    "kotlin",
    "csharp",
    "go",
    "rust",
    "ruby",
    "swift",
    "c",
    "cpp",
    "new",
]
KINDS = st.sampled_from(
    ["class", "interface", "module", "function", "method", "constructor", "field", "constant"]
)


def symbols() -> st.SearchStrategy[Symbol]:
    def build_symbol(name: str, parent: str, kind: str) -> Symbol:
        qualified = f"{parent}.{name}" if parent else name
        return Symbol(
            name, qualified, kind, 0, 1, 1, 1, signature=f"fn {name}() -> A", parent=parent
        )

    plain = st.sampled_from(["A", "B", "a"])
    return st.builds(build_symbol, plain, st.sampled_from(["", "A", "A.B", "a"]), KINDS)


def files() -> st.SearchStrategy[FileFacts]:
    inside = st.sampled_from(["", "A", "A.a", "a", "gone"])
    line = st.integers(1, 9)
    kinds = st.sampled_from(["call", "new", "extends", "implements", "uses_trait", "type"])
    return st.builds(
        FileFacts,
        uri=st.sampled_from(["a/A.x", "a/b.x", "src/a.rs", "c"]),
        language=st.sampled_from(LANGUAGES),
        namespace=st.sampled_from(["", "a", "A\\B", "a.b"]),
        symbols=st.lists(symbols(), max_size=6).map(tuple),
        imports=st.lists(
            st.builds(
                Import, NAMES, NAMES, line, st.sampled_from(["", "all", "module", "function"])
            ),
            max_size=4,
        ).map(tuple),
        references=st.lists(
            st.builds(Reference, kinds, NAMES, NAMES, line, inside), max_size=8
        ).map(tuple),
        bindings=st.lists(st.builds(Binding, inside, NAMES, NAMES, line), max_size=6).map(
            tuple
        ),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(files(), min_size=1, max_size=4, unique_by=lambda file: file.uri))
def test_any_facts_are_resolved_and_links_lead_to_existing_nodes(
    project: list[FileFacts],
) -> None:
    index = ProjectIndex(project)
    graphs = [resolve(file, index) for file in project]
    keys: set[str] = set()
    for graph in graphs:
        keys.update(node.key for node in graph.nodes)
    for graph in graphs:
        assert {link.target for link in graph.links} <= keys
        assert {alias.key for alias in graph.aliases} <= keys
        assert {link.source for link in graph.links} <= keys
        assert {row.source for row in graph.unresolved} <= keys
    uncalled = tuple(use for use in project[0].references if use.kind not in ("call", "new"))
    again = resolve(replace(project[0], references=uncalled), index)
    assert again.nodes == graphs[0].nodes
    assert not [link for link in again.links if link.kind == "CALLS"]


def test_names_that_many_modules_re_export_to_each_other_end() -> None:
    many = 40
    everything = "".join(f"from .m{other} import *\n" for other in range(many))
    files = [
        facts(f"{everything}\ndef f{number}(): ...\n\nmissing()\n", f"p/m{number}.py")
        for number in range(many)
    ]
    scripts = "".join(f"export * from './m{other}'\n" for other in range(many))
    files += [
        facts(f"{scripts}\nimport {{ gone }} from './m{number}'\ngone()\n", f"p/m{number}.ts")
        for number in range(many)
    ]
    crates = "".join(f"pub use crate::m{other}::*;\n" for other in range(many))
    files += [
        facts(f"{crates}\nfn f() {{ gone(); Gone::new(); }}\n", f"src/m{number}.rs")
        for number in range(many)
    ]
    files.append(facts("use b::a;\nuse a::b;\nfn g() { a::x(); b::new(); }\n", "src/lib.rs"))
    files.append(facts("use b as a;\nuse a as b;\nfn g() { a::x(); b(); }\n", "src/other.rs"))
    index = ProjectIndex(files)
    assert not any(resolve(file, index).links for file in files)
