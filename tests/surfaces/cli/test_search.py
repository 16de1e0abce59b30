from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_a_search_in_a_new_folder_indexes_it_first(command: Command, project: Path) -> None:
    ran = command("search", "upload_with_backoff")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("src/upload.py:")
    assert "  4  def upload_with_backoff(data: bytes) -> int:" in ran.out
    assert "indexing" in ran.err
    assert "4 files indexed" in ran.err
    assert (
        (project / ".ragstone" / ".gitignore")
        .read_text(encoding="utf-8")
        .rstrip()
        .endswith("*")
    )


def test_a_search_in_an_indexed_folder_prints_no_note_about_indexing(command: Command) -> None:
    command("sync")
    ran = command("search", "durability")
    assert ran.out.startswith("docs/storage.md:")
    assert ran.err == ""


def test_a_search_in_a_subfolder_uses_the_index_of_the_project(
    command: Command, project: Path
) -> None:
    (project / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    ran = command("search", "durability", cwd=project / "src")
    assert ran.out.startswith("docs/storage.md:"), ran.err
    assert (project / ".ragstone").is_dir()
    assert not (project / "src" / ".ragstone").exists()


def test_a_search_indexes_changed_files_first(quick: Command, project: Path) -> None:
    quick("sync")
    (project / "docs" / "storage.md").unlink()
    (project / "new.md").write_text(
        "# Granite\n\nGranite is harder than marble.\n", encoding="utf-8"
    )
    ran = quick("search", "granite", "--mode", "words")
    assert ran.out.startswith("new.md:")
    assert "1 file indexed, 1 file removed" in ran.err
    assert "docs/storage.md" not in quick("search", "durability", "--mode", "words").out


def test_no_sync_answers_without_reading_changed_files(quick: Command, project: Path) -> None:
    quick("sync")
    (project / "new.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    ran = quick("search", "granite", "--mode", "words", "--no-sync")
    assert (ran.code, ran.out) == (0, "No hits for “granite”.\n")


def test_no_sync_creates_no_index_in_a_new_folder(quick: Command, project: Path) -> None:
    ran = quick("search", "granite", "--no-sync", "--json")
    assert (ran.code, ran.json["results"]) == (0, [])
    assert not (project / ".ragstone").exists()


def test_documents_added_by_hand_do_not_start_a_sync(quick: Command, project: Path) -> None:
    assert quick("add", "README.md").code == 0
    found = quick("search", "upload", "--mode", "words", "--json").json["results"]
    assert {hit["path"] for hit in found} == {"README.md"}


def test_a_search_without_hits_succeeds(quick: Command) -> None:
    ran = quick("search", "xyzzy-plugh", "--mode", "words")
    assert (ran.code, ran.out) == (0, "No hits for “xyzzy-plugh”.\n")


def test_a_suggestion_is_shown_whatever_letters_are_in_it(
    quick: Command, project: Path
) -> None:
    (project / "recovery.md").write_text("# Recovery\n\nRecovery starts the server again.\n")
    ran = quick("search", "recvoery", "--mode", "words")
    assert "Did you mean: recovery?" in ran.err


def test_a_word_that_starts_like_a_path_is_a_path(quick: Command) -> None:
    ran = quick("search", "upload", "./nosuch.md")
    assert ran.code != 0
    assert "there is no file or folder './nosuch.md'" in ran.err


def test_a_search_in_an_empty_folder_notes_that_there_are_no_files(
    quick: Command, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = quick("search", "anything", "-C", str(empty))
    assert (ran.code, ran.out) == (0, "No hits for “anything”.\n")
    assert "no files to index" in ran.err


@pytest.mark.parametrize(
    "query",
    [
        "🪨🔨",
        '"',
        "a AND b OR (c NEAR d)",
        "col:x*",
        "^",
        "--",
        "NOT",
        "' ; DROP TABLE chunks; --",
        "\x00",
        "\ud800",
    ],
)
def test_any_text_is_a_legal_query(quick: Command, query: str) -> None:
    ran = quick("search", "--json", "--", query)
    assert ran.code == 0, ran.err
    assert ran.json["query"] == query


def test_a_query_of_a_megabyte_is_read_from_stdin(command: Command) -> None:
    ran = command("search", "-", "--json", stdin=b"upload stones " * 75_000)
    assert ran.code == 0, ran.err
    assert ran.json["results"]


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are text there")
def test_a_query_that_is_not_utf_8_is_legal_too(command: Command) -> None:
    assert command("search", b"upload \xff\xfe".decode("utf-8", "surrogateescape")).code == 0


def test_top_k_accepts_zero_and_very_large_numbers(quick: Command) -> None:
    assert quick("search", "upload", "--top-k", "0", "--json").json["results"] == []
    assert (
        1 <= len(quick("search", "upload", "--top-k", "1000000", "--json").json["results"]) <= 4
    )
    refused = quick("search", "upload", "--top-k", "-1")
    assert refused.code == 2
    assert refused.err.startswith("error: ")


def test_filters_narrow_a_search(quick: Command) -> None:
    quick("sync")
    assert (
        quick(
            "add",
            "README.md",
            "--name",
            "notes/x",
            "--metadata",
            "year=2024",
            "--metadata",
            "team=red",
        ).code
        == 0
    )
    for flags in (("--filter", "team=red"), ("--filter", "year=2024"), ("--path", "notes/*")):
        found = quick("search", "upload", *flags, "--json").json["results"]
        assert {hit["path"] for hit in found} == {"notes/x"}, flags
    refused = quick("search", "upload", "--filter", "team")
    assert (refused.code, "KEY=VALUE" in refused.err) == (2, True)


def test_full_text_shows_whole_passages_instead_of_matching_lines(
    quick: Command, project: Path
) -> None:
    lines = ["granite is old", *(f"slate {number} is flat" for number in range(7))]
    (project / "rocks.txt").write_text("\n".join(lines), encoding="utf-8")
    search = ("search", "granite", "--mode", "words")
    assert "slate 6 is flat" not in quick(*search).out
    assert "slate 6 is flat" in quick(*search, "--full-text").out


def test_nothing_in_a_file_or_its_name_can_drive_a_terminal(
    quick: Command, project: Path
) -> None:
    nasty = "a\x1b[31mred.md" if sys.platform != "win32" else "red.md"
    (project / nasty).write_text(
        "granite \x1b]0;owned\x07 \x9b31m \u202e evil\r\x08\n", encoding="utf-8"
    )
    for arguments in (
        ("search", "granite", "--mode", "words"),
        ("sources",),
        ("explain", "granite", "--mode", "words"),
    ):
        ran = quick(*arguments)
        assert ran.code == 0
        assert "red.md" in ran.out
        assert not set(ran.out + ran.err) & set("\x1b\x07\x08\x9b\r\u202e")


def test_missing_vectors_are_noted_until_all_are_made(quick: Command) -> None:
    quick("sync", "--no-embed")
    ran = quick("search", "upload", "--no-sync")
    assert "answered by words only: no text has a vector yet" in ran.err
    assert "`ragstone sync`" in ran.err
    quick("sync")
    assert quick("search", "upload", "--no-sync").err == ""


def test_explain_shows_rankings_weights_and_dropped_candidates(quick: Command) -> None:
    quick("sync")
    ran = quick("explain", "upload", "--top-k", "1")
    assert ran.code == 0
    for word in ("terms", "weights", "rank 1", "fused", "left out"):
        assert word in ran.out
    data = quick("explain", "upload", "--json").json
    assert data["results"][0]["trace"]["lists"]
    assert quick("explain", "upload", "--hit", "99").code == 4


def test_the_memory_store_works_under_its_name_and_its_alias(
    quick: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("memory", "mock"):
        monkeypatch.setenv("RAGSTONE_RAG_STORE", name)
        assert quick("search", "durability", "--mode", "words", "--json").json["results"], name
