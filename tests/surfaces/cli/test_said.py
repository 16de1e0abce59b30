"""Things that a user would otherwise not notice are said: skipped files, wrong names, patterns without files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.errors import Conflict
from ragstone.sources.folder.source import FolderSource

Command = Callable[..., Any]


def test_a_search_says_which_files_it_skipped(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "large.md").write_text("stone " * 1000, encoding="utf-8")
    (project / ".env").write_text("PLACE=quarry\n", encoding="utf-8")
    monkeypatch.setenv("RAGSTONE_SOURCES_MAX_FILE_BYTES", "5000")
    notes = quick("search", "upload", "--json").json["notes"]
    sentence = "skipped: 1 file too large, 1 file named like secrets"
    assert f"{sentence}; `ragstone sync --verbose` lists them" in notes
    listed = quick("sync", "--verbose").out
    assert "large.md" in listed
    assert ".env" in listed


def test_files_named_like_secrets_are_counted_after_the_first_sync_only(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".env").write_text("PLACE=quarry\n", encoding="utf-8")
    monkeypatch.setenv("RAGSTONE_SOURCES_MAX_FILE_BYTES", "5000")
    assert "skipped: 1 file named like secrets" in quick("search", "upload").err
    (project / "README.md").write_text("# Quarry\n\nStones are uploaded.\n", encoding="utf-8")
    assert "skipped" not in quick("search", "upload").err
    (project / "large.md").write_text("stone " * 1000, encoding="utf-8")
    (project / "README.md").write_text("# Quarry\n\nStones.\n", encoding="utf-8")
    assert "(skipped: 1 file too large; " in quick("search", "upload").err


@pytest.mark.parametrize(
    ("option", "described"),
    [(("--path", "nothing/*"), "path=nothing/*"), (("--filter", "foo=bar"), "foo=bar")],
)
def test_a_filter_that_no_document_passes_is_named(
    quick: Command, option: tuple[str, str], described: str
) -> None:
    quick("sync")
    ran = quick("search", "upload", *option)
    assert ran.out.startswith("No hits")
    assert f"(no document matches the filter {described})" in ran.err
    assert "no document" not in quick("search", "upload", "--path", "src/*").err


@pytest.mark.parametrize("name", ["docs/picture.png", "docs/a [1].png"])
def test_a_path_whose_file_is_skipped_says_why(
    quick: Command, project: Path, name: str
) -> None:
    (project / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    ran = quick("search", "upload files", name)
    assert f"(no document matches the filter path={name})" in ran.err
    assert f"({name} is skipped: unsupported type .png (image))" in ran.err
    (project / "pictures").mkdir()
    ran = quick("search", "upload files", "pictures/")
    assert "(no document matches the filter path=pictures/**)" in ran.err


@pytest.mark.parametrize(
    "command", [(), ("search",), ("context",), ("retrieve",), ("explain",)]
)
@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_query_has_an_empty_answer_and_a_note(
    quick: Command, command: tuple[str, ...], query: str
) -> None:
    quick("sync")
    ran = quick(*command, query)
    assert ran.code == 0
    assert "the query is empty" in ran.err
    answer = quick(*command, query, "--json").json
    assert answer["success"] is True
    assert not any(answer.get(name) for name in ("results", "chunks", "passages", "text"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--project", "typo"), ("no project 'typo'", "there are default")),
        (("--kind", "nonsense"), ("no document of kind 'nonsense'", "code, doc")),
        (("--collection", "typo"), ("no collection 'typo'", "default")),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    quick: Command, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    quick("sync")
    ran = quick("search", "upload", *arguments)
    assert ran.code == 4
    for word in words:
        assert word in ran.err
    assert quick("search", "upload", "--kind", "code").code == 0


@pytest.mark.parametrize("kind", ["adr", "notebook", "route_group", "turn"])
def test_a_kind_that_no_document_has_is_an_empty_answer(quick: Command, kind: str) -> None:
    quick("sync")
    ran = quick("search", "upload", "--kind", kind)
    assert ran.code == 0
    assert f"(no document matches the filter kind={kind})" in ran.err


@pytest.mark.parametrize("score", ["-0.1", "1.5", "nan"])
def test_a_score_outside_its_range_is_refused(quick: Command, score: str) -> None:
    ran = quick("search", "upload", "--min-score", score)
    assert ran.code == 2
    assert f"--min-score is {float(score)}" in ran.err
    assert "from 0 to 1" in ran.err
    assert "-k is -3" in quick("search", "upload", "-k", "-3").err


def test_include_patterns_that_select_nothing_remove_nothing(
    quick: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick("sync")
    monkeypatch.setenv("RAGSTONE_SOURCES_INCLUDE", "docz/**")
    for command in (("sync",), ("search", "upload")):
        ran = quick(*command)
        assert ran.code == 2
        assert "sources.include selects no file" in ran.err
        assert "docz/**" in ran.err
    monkeypatch.delenv("RAGSTONE_SOURCES_INCLUDE")
    assert quick("status", "--json").json["documents"] == 4


def test_two_folders_that_share_a_home_keep_their_documents(
    command: Command, project: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "granite.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    shared = {"RAGSTONE_STORE_PATH": str(tmp_path / "shared")}
    for _ in range(2):
        first_answer = command("search", "upload", "--mode", "words", "--json", env=shared)
        search = ("search", "granite", "--mode", "words", "--json")
        second_answer = command(*search, cwd=second, env=shared)
        assert first_answer.json["results"]
        assert [hit["source_doc_id"] for hit in second_answer.json["results"]] == ["granite.md"]
    assert command("status", "--json", env=shared).json["documents"] == 4
    with Engine.open(second, config={"store.path": str(tmp_path / "shared")}) as engine:
        with pytest.raises(Conflict, match="quarry"):
            engine.sync()


def test_a_folder_that_can_only_be_read_has_its_index_in_the_users_cache(
    powerless: Command, project: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    project.chmod(0o500)
    try:
        variables = {"XDG_CACHE_HOME": str(cache)}
        ran = powerless("search", "upload", "--mode", "words", "--json", env=variables)
        assert ran.code == 0, ran.err
        assert ran.json["results"]
        home = powerless("status", "--json", env=variables).json["home"]
        again = powerless("search", "upload", "--mode", "words", "--json", env=variables)
    finally:
        project.chmod(0o700)
    assert home.startswith(str(cache))
    notice = f"(this folder can only be read: index and memories are stored in {home})"
    assert notice in ran.err
    assert notice not in again.err
    assert not (project / ".ragstone").exists()


def test_status_scans_the_folder_only_if_it_is_asked(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick("sync")
    (project / "new.md").write_text("Granite.\n", encoding="utf-8")
    assert quick("status", "--changes", "--json").json["waiting"] == 1

    def refuse(source: FolderSource) -> None:
        raise AssertionError("the folder was scanned")

    monkeypatch.setattr(FolderSource, "scan", refuse)
    assert quick("status", "--json").json["waiting"] is None


def test_a_question_without_quotation_marks_gets_a_hint(quick: Command) -> None:
    assert "quotation marks" in quick("status", "of", "the", "stone").err
    assert "`ragstone search staus of the stone`" in quick("staus", "of", "the", "stone").err


def test_no_variable_is_suggested_that_is_only_similar_by_its_prefix(command: Command) -> None:
    ran = command("status", env={"RAGSTONE_FOO": "1"})
    assert "RAGSTONE_FOO is unknown" in ran.err
    assert "did you mean" not in ran.err


def test_a_setting_that_there_is_not_gets_the_nearest_name(quick: Command) -> None:
    ran = quick("config", "rag.chunksize")
    assert ran.code == 2
    assert "There is no setting 'rag.chunksize' (did you mean rag.chunk_size?)" in ran.err


def test_sources_of_an_agent_that_select_nothing_name_its_file(
    quick: Command, project: Path
) -> None:
    (project / "agents.yaml").write_text("shell: {docs: {sources: ['docz/*.md']}}\n")
    ran = quick("agents", "ensure", "shell")
    assert ran.code == 2
    assert "docz/*.md" in ran.err
    assert "agents.yaml, docs.sources of 'shell'" in ran.err


def test_no_events_are_shown_if_none_are_asked_for(quick: Command) -> None:
    quick("search", "upload")
    assert "No events are kept" not in quick("events", "--limit", "0").err


def test_a_file_to_import_that_is_not_there_is_named(quick: Command) -> None:
    ran = quick("import", "gone.jsonl")
    assert ran.code == 2
    assert "there is no file gone.jsonl" in ran.err
    quick("sync")
    assert "(`ragstone sessions` lists them)" in quick("sessions", "export", "gone").err


@pytest.mark.parametrize(
    "command",
    [
        ("search",),
        ("context",),
        ("retrieve",),
        ("explain",),
        ("related",),
        ("impact",),
        ("history",),
    ],
)
@pytest.mark.parametrize("options", [(), ("--no-sync",)])
def test_a_question_in_an_empty_folder_writes_nothing(
    quick: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    options: tuple[str, ...],
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    ran = quick(*command, "upload", *options)
    assert ran.code in (0, 4)
    reason = "has no index yet" if options else "there are no files to index in this folder"
    assert reason in ran.err
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("search", "x", "--min-score", "high"),
            "--min-score is 'high' (give a number from 0 to 1",
        ),
        (
            ("retrieve", "x", "--min-score", "2"),
            "--min-score is 2.0 (give a number from 0 to 1",
        ),
        (("search", "x", "-k", "five"), "-k is 'five' (give a whole number of at least 0"),
        (("recall", "x", "-k", "-3"), "-k is -3 (give a whole number of at least 0"),
        (("context", "x", "--budget", "0"), "--budget is 0 (give a whole number from 1 to"),
        (
            ("context", "x", "--budget", "all"),
            "--budget is 'all' (give a whole number from 1 to",
        ),
        (("recall", "x", "--since", "soon"), "--since 'soon' is not a valid time (for example"),
    ],
)
def test_a_wrong_number_is_refused_with_its_range_and_an_example(
    quick: Command, arguments: tuple[str, ...], message: str
) -> None:
    ran = quick(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "for example" in ran.err
