"""Questions come from the folder itself, and their wording is taken out of the texts that answer them."""

from __future__ import annotations

from pathlib import Path

from ragstone import Engine
from ragstone.engine.measure.questions import Question, QuestionSet, make_questions
from ragstone.sources.folder.commit_log import ChangedFiles, recent_changes
from tests.security.homes import FAKE, git

PUMP = '''\
def lift(depth: int) -> int:
    """Raise water from a deep well to the surface.

    The result is in litres.
    """
    return depth * 3


def stop() -> None:
    """Stop."""
'''
WELLS = """\
# Wells of the valley

- [Old wells near the mill](#old)

## Old wells near the mill

They were dug before the mill was built, and most of them are dry. Two of them still give water in a wet year, and
the farmers use it.

## Notes

Short.
"""
CHANGES = [
    ChangedFiles("pump: raise the water faster in winter", ("src/pump.py",)),
    ChangedFiles("Rename everything in the whole tree", ("a", "b", "c", "d")),
    ChangedFiles("pump.py", ("src/pump.py",)),
]


def questions(
    folder: Path, seed: int = 1, most: int = 100
) -> tuple[QuestionSet, dict[str, str]]:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "pump.py").write_text(PUMP, encoding="utf-8")
    (folder / "wells.md").write_text(WELLS, encoding="utf-8")
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync(embed=False)
        documents = list(engine.sources())
        texts = {uri: engine.admin.text(uri) or "" for uri in ("src/pump.py", "wells.md")}
    return make_questions(texts, documents, CHANGES, seed=seed, most=most), texts


def test_a_docstring_a_heading_and_a_commit_become_questions(tmp_path: Path) -> None:
    asked, _ = questions(tmp_path)
    assert set(asked.questions) == {
        Question(
            "docstring",
            "Raise water from a deep well to the surface.",
            ("src/pump.py",),
            (1, 6),
        ),
        Question("heading", "Old wells near the mill", ("wells.md",), (5, 8)),
        Question("commit", "raise the water faster in winter", ("src/pump.py",)),
    }


def test_the_wording_of_a_question_is_not_in_the_text_that_answers_it(tmp_path: Path) -> None:
    asked, texts = questions(tmp_path)
    for question in asked.questions:
        if question.kind != "commit":
            assert question.text not in asked.masked[question.uris[0]]
    for uri, masked in asked.masked.items():
        assert masked.count("\n") == texts[uri].count("\n")
    assert "return depth * 3" in asked.masked["src/pump.py"]
    assert "in litres" not in asked.masked["src/pump.py"]


def test_the_same_seed_gives_the_same_questions(tmp_path: Path) -> None:
    first, _ = questions(tmp_path, seed=7, most=2)
    again, _ = questions(tmp_path, seed=7, most=2)
    assert first.questions == again.questions
    assert len(first.questions) == 2


def test_recent_commits_name_the_files_that_they_changed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for name in ("one.md", "two words.md"):
        (tmp_path / name).write_text("text", encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", f"Add a page about {name[:3]}")
    assert recent_changes(tmp_path) == [
        ChangedFiles("Add a page about two", ("two words.md",)),
        ChangedFiles("Add a page about one", ("one.md",)),
    ]


def test_a_folder_without_git_has_no_commits(tmp_path: Path) -> None:
    assert recent_changes(tmp_path) == []
