"""A question without a command, paths after a query, and other forms of output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def paths_of(ran: Any) -> set[str]:  # noqa: ANN401 - the fixture's own class
    assert ran.code == 0, ran.err
    return {hit["path"] for hit in ran.json["results"]}


@pytest.mark.parametrize(
    "words",
    [
        ("waiting longer after each failure",),
        ("upload_with_backoff",),
        ("what", "waits", "longer"),
        ("search the stones",),
        ("sync the uploads", "src/"),
    ],
)
def test_a_question_without_a_command_is_a_search(
    quick: Command, words: tuple[str, ...]
) -> None:
    quick("sync")
    ran = quick(*words, "--json", "-k", "2")
    assert ran.code == 0, ran.err
    assert ran.json["results"] == quick("search", *words, "--json", "-k", "2").json["results"]
    assert ran.json["results"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("serch", "search"),
        ("stauts", "status"),
        ("syncc", "sync"),
        ("index", "sync"),
        ("query", "search"),
        ("ls", "sources"),
    ],
)
def test_a_mistyped_command_is_refused_and_not_searched(
    quick: Command, project: Path, word: str, meant: str
) -> None:
    for arguments in ((word,), (word, "upload", "stones")):
        ran = quick(*arguments)
        assert ran.code == 2
        assert f"did you mean `ragstone {meant}`" in ran.err
        assert f"`ragstone search {' '.join(arguments)}`" in ran.err
    assert not (project / ".ragstone").exists()


def test_paths_after_the_query_limit_the_hits(quick: Command, project: Path) -> None:
    quick("sync")
    assert paths_of(quick("search", "the weight of an upload", "src/", "--json")) == {
        "src/upload.py",
        "src/weigh.py",
    }
    assert paths_of(quick("search", "upload", "file", "README.md", "docs", "--json")) == {
        "README.md",
        "docs/storage.md",
    }
    assert paths_of(quick("search", "a failed upload", "src/up*.py", "--json")) == {
        "src/upload.py"
    }
    everywhere = quick("search", "upload", "--json").json["results"]
    assert quick("search", "upload", ".", "--json").json["results"] == everywhere
    for name in ("context", "explain"):
        ran = quick(name, "upload waiting longer", "docs/")
        assert ran.code == 0
        assert "src/upload.py" not in ran.out


def test_paths_are_relative_to_the_current_folder(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick("sync")
    (project / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    monkeypatch.chdir(project / "src")
    assert paths_of(quick("search", "upload stones", "upload.py", "--json")) == {
        "src/upload.py"
    }
    assert paths_of(quick("search", "upload on disk", "../docs", "--json")) == {
        "docs/storage.md"
    }
    assert set(quick("search", "upload stones", "-l", "-k", "9").out.splitlines()) >= {
        "upload.py",
        "../README.md",
    }


def test_special_characters_of_a_path_are_no_wildcards(quick: Command, project: Path) -> None:
    for name in ("[id].md", "i.md"):
        (project / name).write_text("Granite is harder than marble.\n", encoding="utf-8")
    assert paths_of(quick("search", "granite", "[id].md", "--json")) == {"[id].md"}


def test_a_path_that_does_not_exist_or_is_outside_is_refused(
    quick: Command, project: Path
) -> None:
    for arguments in (("a failed upload", "sorc"), ("upload", "sorc/")):
        ran = quick("search", *arguments)
        assert (ran.code, "sorc" in ran.err) == (4, True)
    ran = quick("search", "a failed upload", "..")
    assert (ran.code, "outside" in ran.err) == (2, True)
    ran = quick("search", "a failed upload", "src", "--path", "*.py")
    assert (ran.code, "--path" in ran.err) == (2, True)


def test_words_without_quotation_marks_stay_words(quick: Command) -> None:
    quick("sync")
    assert quick("search", "a", "failed", "upload", "--json").json["query"] == "a failed upload"


def test_files_are_listed_once_without_passages(quick: Command) -> None:
    quick("sync")
    ran = quick("search", "upload", "-l", "-k", "20")
    lines = ran.out.splitlines()
    assert {"README.md", "src/upload.py"} <= set(lines)
    assert len(lines) == len(set(lines))
    assert quick("search", "upload", "-l", "-k", "20", "--json").json["files"] == lines
    json_lines = quick("search", "upload", "-l", "-k", "20", "--jsonl").out.splitlines()
    assert [json.loads(line)["path"] for line in json_lines] == lines
    assert quick("search", "upload", "-l", "--full-text").code == 2


def test_no_file_prints_nothing_to_a_pipe(quick: Command) -> None:
    ran = quick("search", "xyzzy-plugh", "--mode", "words", "-l")
    assert (ran.code, ran.out) == (0, "")
    assert "no hits" in ran.err


def test_json_lines_have_one_result_each(quick: Command) -> None:
    quick("sync")
    whole = quick("search", "upload", "--json").json["results"]
    lines = quick("search", "upload", "--jsonl").out.splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == [hit["doc_id"] for hit in whole]
    uris = [json.loads(line)["uri"] for line in quick("sources", "--jsonl").out.splitlines()]
    assert "src/upload.py" in uris
    quick("remember", "We upload three stones.")
    lines = quick("recall", "stones", "--jsonl").out.splitlines()
    assert "three stones" in json.loads(lines[0])["content"]
    chunks = quick("retrieve", "upload_with_backoff", "--jsonl").out.splitlines()
    assert json.loads(chunks[0])["path"]


def test_a_failure_is_one_line_of_json_too(quick: Command) -> None:
    ran = quick("search", "x", "--jsonl", "--collection", "nope")
    assert len(ran.out.splitlines()) == 1
    assert json.loads(ran.out)["success"] is False
    assert quick("search", "x", "--json", "--jsonl").code == 2


def test_a_gap_between_shown_lines_is_marked(quick: Command, project: Path) -> None:
    others = ["slate is flat", "chalk is soft", "sand is fine", "clay is wet", "loam is rich"]
    text = "\n".join(["granite is old", *others, "granite is hard"])
    (project / "rocks.txt").write_text(text + "\n", encoding="utf-8")
    out = quick("search", "granite", "--mode", "words").out.splitlines()
    assert out[1:4] == ["  1  granite is old", "  …", "  7  granite is hard"]
    assert "  …" not in quick("search", "granite", "--mode", "words", "--full-text").out


def test_a_hit_shows_its_kind_and_language(quick: Command) -> None:
    first_line = quick("search", "upload_with_backoff", "--mode", "words").out.splitlines()[0]
    assert first_line.endswith("  code, python")


def test_passages_left_out_of_a_context_are_listed_only_if_asked(quick: Command) -> None:
    quick("sync")
    arguments = ("context", "upload waiting longer", "--budget", "160")
    short, long = quick(*arguments), quick(*arguments, "--verbose")
    assert "(left out: " not in long.out
    assert "(left out: " not in short.err
    assert "--verbose lists them" in short.err
    assert "(left out: " in long.err


def test_force_color_colours_a_pipe(quick: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    quick("sync")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;36m" in quick("search", "upload", "--mode", "words").out
    assert "\x1b[" in quick("sources").out
    assert "\x1b" not in quick("search", "upload", "--json").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in quick("search", "upload", "--mode", "words").out
