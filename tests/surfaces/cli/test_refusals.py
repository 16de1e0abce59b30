"""Wrong input gives one sentence with a hint and the right exit code, never a traceback."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.app import COMMANDS

Command = Callable[..., Any]
Ran = Any


def refused(ran: Ran, code: int, *words: str) -> None:
    """Check that a run ended in one sentence on stderr."""
    assert ran.code == code, ran.err
    lines = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, ran.err
    assert "Traceback" not in ran.err
    assert all(word in lines[0] for word in words), lines[0]


def test_the_users_home_folder_is_refused_in_a_pipe(command: Command, project: Path) -> None:
    home = project.parent
    for arguments in (("search", "x"), ("sync",)):
        refused(command(*arguments, cwd=home), 2, "home folder", "--yes")
    assert not (home / ".ragstone").exists()
    assert command("search", "upload", "--yes", cwd=home).code == 0


def test_added_documents_can_be_searched_in_the_home_folder(
    command: Command, project: Path
) -> None:
    home = project.parent
    assert command("add", "quarry/README.md", cwd=home).code == 0
    ran = command("search", "upload", "--mode", "words", "--json", cwd=home)
    assert (ran.code, ran.json["sync"]) == (0, None), ran.err
    assert {hit["path"] for hit in ran.json["results"]} == {"quarry/README.md"}
    refused(command("sync", cwd=home), 2, "home folder", "--yes")


def test_a_root_of_the_file_system_is_refused(quick: Command, project: Path) -> None:
    refused(quick("sync", "-C", project.anchor), 2, "root", "--yes")


def test_more_files_than_the_limit_are_refused_once(quick: Command, project: Path) -> None:
    (project / "ragstone.toml").write_text("[sources]\nmax_files = 3\n", encoding="utf-8")
    refused(quick("search", "upload"), 2, "more than 3 files", "--yes")
    assert not (project / ".ragstone").exists()
    assert quick("sync", "--yes").code == 0
    assert quick("search", "upload").code == 0
    assert quick("sync").code == 0


def test_a_missing_folder_is_named(quick: Command) -> None:
    words = (
        "search x",
        "sync",
        "status",
        "config",
        "init",
        "model list",
        "model info",
        "collections list",
    )
    for command_line in words:
        refused(quick(*command_line.split(), "-C", "no-such-folder"), 2, "no-such-folder")


def test_a_path_outside_the_folder_is_refused(quick: Command, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("x", encoding="utf-8")
    refused(quick("sync", str(tmp_path / "outside.txt")), 2, "outside.txt")


def test_an_unknown_command_gets_the_nearest_name(quick: Command) -> None:
    refused(quick("serch", "x"), 2, "ragstone search")


def test_wrong_flags_and_missing_arguments_get_suggestions(quick: Command) -> None:
    refused(quick("search", "x", "--colour"), 2, "--colour", "--collection")
    refused(quick("search"), 2, "QUERY", "ragstone search --help")
    refused(quick("model", "lst"), 2, "lst")
    refused(quick("collections", "--colour"), 2, "--colour")
    refused(quick("-C", "docs"), 2, "ragstone --help")
    refused(quick("status", "--project", " "), 2, "--project")


def test_an_unknown_setting_gets_the_nearest_name(quick: Command, project: Path) -> None:
    refused(quick("config", "rag.chunk_siz"), 2, "rag.chunk_siz")
    (project / "ragstone.toml").write_text("[rag]\nchunk_siz = 3\n", encoding="utf-8")
    refused(quick("status"), 2, "chunk_size")


def test_an_overlap_as_large_as_the_chunk_is_refused(quick: Command, project: Path) -> None:
    (project / "ragstone.toml").write_text(
        "[rag]\nchunk_size = 100\nchunk_overlap = 100\n", encoding="utf-8"
    )
    refused(quick("search", "upload"), 2, "chunk_overlap")


def test_an_unknown_document_gets_similar_names(quick: Command) -> None:
    quick("sync")
    refused(quick("remove", "docs/storge.md"), 4, "docs/storage.md")
    refused(quick("remove", "storage.md"), 4, "docs/storage.md")


def test_commands_that_need_an_index_do_not_create_one(quick: Command, project: Path) -> None:
    for arguments in (
        ("remove", "x"),
        ("export",),
        ("compact",),
        ("backup", "copy.db"),
        ("reembed",),
    ):
        refused(quick(*arguments), 4, "ragstone sync")
    assert quick("status").out.startswith("Empty")
    assert quick("sources").out.startswith("Empty")
    assert not (project / ".ragstone").exists()


def test_a_damaged_database_is_reported(quick: Command, project: Path) -> None:
    quick("sync")
    for name in ("ragstone.db-wal", "ragstone.db-shm"):
        (project / ".ragstone" / name).unlink(missing_ok=True)
    (project / ".ragstone" / "ragstone.db").write_bytes(
        b"this is not a database, whatever its name says" * 200
    )
    refused(quick("search", "upload"), 5, "damaged")
    refused(quick("status"), 5, "damaged")
    ran = quick("doctor")
    assert ran.code == 1
    assert "WRONG" in ran.out


def test_a_database_of_a_newer_version_is_refused(quick: Command, project: Path) -> None:
    quick("sync")
    database = sqlite3.connect(project / ".ragstone" / "ragstone.db")
    database.execute("UPDATE meta SET value = 999 WHERE key = 'schema_version'")
    database.commit()
    database.close()
    refused(quick("search", "upload"), 5, "999", "update Ragstone")


def test_a_read_only_folder_is_reported_where_it_must_be_written(
    powerless: Command, project: Path
) -> None:
    project.chmod(0o500)
    try:
        refused(powerless("init"), 5, "Permission denied")
        refused(powerless("export", "x"), 4)
    finally:
        project.chmod(0o700)


def test_a_read_only_index_answers_with_one_note(powerless: Command, project: Path) -> None:
    powerless("sync")
    (project / "new.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    home = project / ".ragstone"
    for path in (*home.iterdir(), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        ran = powerless("search", "durability", "--mode", "words")
        assert (ran.code, ran.out.startswith("docs/storage.md:")) == (0, True), ran.err
        assert "not brought up to date" in ran.err
        assert len(ran.err.splitlines()) == 1
        for arguments in (("sync",), ("add", "new.md"), ("remove", "README.md")):
            refused(powerless(*arguments), 5, "RAGSTONE_RAG_STORE_PATH")
        for arguments in (
            ("status",),
            ("sources",),
            ("export",),
            ("explain", "durability"),
            ("collections", "list"),
        ):
            assert powerless(*arguments).code == 0, arguments
    finally:
        home.chmod(0o700)


def test_a_file_in_place_of_the_index_folder_is_reported(quick: Command, project: Path) -> None:
    (project / ".ragstone").write_text("", encoding="utf-8")
    refused(quick("sync"), 5, "not a folder")


def test_an_export_does_not_overwrite_a_file(quick: Command, project: Path) -> None:
    quick("sync")
    refused(quick("export", "README.md"), 2, "--force")
    refused(quick("export", "no/such/folder/out.jsonl"), 2, "cannot write")
    refused(quick("import", "README.md"), 2, "export")
    refused(quick("import", "no-such-file"), 2, "no-such-file")


def test_an_export_to_stdout_refuses_the_option_json(quick: Command) -> None:
    quick("sync")
    ran = quick("export", "--json")
    refused(ran, 2, "--json", "FILE")
    assert ran.json["error"]["code"] == "input"


def test_a_failure_is_json_with_the_option_json(quick: Command) -> None:
    ran = quick("remove", "nope", "--json")
    assert ran.json["error"]["code"] == "not_found"
    assert ran.json["success"] is False
    assert quick("search", "--json").json["error"]["code"] == "usage"


def test_a_bug_is_reported_and_traced_only_with_debug(
    command: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    about = tmp_path / "plug" / "pebble-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: pebble\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(
        "[ragstone.embedder]\npebble = pebble:Pebble\n", encoding="utf-8"
    )
    broken = "class Pebble:\n    def __init__(self, settings):\n        raise ZeroDivisionError('a pebble in the works')\n"
    (about.parent / "pebble.py").write_text(broken, encoding="utf-8")
    plugged = {
        "PYTHONPATH": os.pathsep.join((str(about.parent), environment["PYTHONPATH"])),
        "RAGSTONE_RAG_EMBEDDING_PROVIDER": "pebble",
    }
    refused(
        command("sync", env=plugged),
        70,
        "bug",
        "ZeroDivisionError",
        "a pebble in the works",
        "--debug",
    )
    assert "Traceback" in command("sync", "--debug", env=plugged).err
    assert command(
        "search", "upload", "--no-sync", "--mode", "words", env=plugged
    ).out.startswith("src/upload.py:")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_a_closed_pipe_prints_no_error(
    command: Command, project: Path, environment: dict[str, str]
) -> None:
    for number in range(300):
        (project / f"{'long' * 20}{number}.txt").write_text("granite\n", encoding="utf-8")
    command("sync", "--no-embed")
    ran = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "sources", "--json"],
        cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert ran.stdout is not None
    assert ran.stderr is not None
    ran.stdout.read(10)
    ran.stdout.close()
    assert ran.stderr.read() == b""
    ran.stderr.close()
    assert ran.wait(30) == 141


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no disk that is always full here"
)
def test_a_full_output_device_is_reported(project: Path, environment: dict[str, str]) -> None:
    for flags in ((), ("--json",)):
        with open("/dev/full", "wb") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "ragstone", "sync", *flags],
                cwd=project, env=environment, stdout=full, stderr=subprocess.PIPE, check=False,
            )  # fmt: skip
        assert ran.returncode == 5
        assert ran.stderr.decode("utf-8").count("\n") == 1, ran.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_the_common_options(quick: Command, name: str) -> None:
    ran = quick(name, *(["list"] if name in ("model", "collections") else []), "--help")
    assert ran.code == 0
    for option in ("--json", "--folder", "--project", "--debug"):
        assert option in ran.out


@pytest.mark.skipif(os.name != "posix", reason="links need a right there")
def test_a_linked_index_folder_is_not_followed(
    quick: Command, project: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    victim.chmod(0o755)
    (project / ".ragstone").symlink_to("../victim")
    for arguments in (("search", "upload"), ("sync",), ("init",), ("add", "README.md")):
        refused(quick(*arguments), 5, "symbolic link", "RAGSTONE_RAG_STORE_PATH")
    assert (victim.stat().st_mode & 0o777, list(victim.iterdir())) == (0o755, [])


@pytest.mark.skipif(os.name != "posix", reason="links need a right there")
def test_a_linked_folder_in_the_users_settings_is_followed(
    quick: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("RAGSTONE_RAG_STORE_PATH", str(tmp_path / "link"))
    assert quick("search", "upload", "--mode", "words", "--json").json["results"]
    assert (tmp_path / "disk" / "ragstone.db").exists()
    assert not (project / ".ragstone").exists()
