"""Notes about an answer, on stderr and in `notes` and `sync` of the JSON."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.store.lock import FileLock

Command = Callable[..., Any]

SYNC_MAKES_THEM = "texts have a vector; `ragstone sync` makes the others"
PARTLY = f"answered by words and partly by meaning: 4 of 5 {SYNC_MAKES_THEM}"


def test_json_contains_the_summary_of_the_refresh(quick: Command, project: Path) -> None:
    first = quick("search", "upload", "--mode", "words", "--json").json
    assert (first["sync"]["indexed"], first["sync"]["skipped"], first["sync"]["failed"]) == (
        4,
        0,
        0,
    )
    assert first["notes"] == []
    again = quick("search", "upload", "--mode", "words", "--json").json
    assert (again["sync"], again["notes"]) == (None, [])
    (project / "new.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    assert quick("explain", "granite", "--json").json["sync"]["indexed"] == 1


def test_a_search_during_another_write_answers_with_a_note(
    command: Command, quick: Command, project: Path
) -> None:
    quick("sync")
    (project / "new.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    with FileLock(project / ".ragstone" / "ragstone.db.lock"):
        ran = command("search", "granite", "--mode", "words", "--json")
        shown = command("explain", "durability", "--mode", "words")
    assert (ran.code, ran.json["results"], ran.json["sync"]) == (0, [], None), ran.err
    assert [
        note
        for note in ran.json["notes"]
        if "not brought up to date" in note and "another process" in note
    ]
    assert "(not brought up to date: " in shown.err
    assert "docs/storage.md" in shown.out
    assert quick("search", "granite", "--mode", "words", "--json").json["results"]


def test_unreadable_files_are_noted_in_the_answer(powerless: Command, project: Path) -> None:
    (project / "README.md").chmod(0)
    ran = powerless("search", "durability", "--mode", "words", "--json")
    assert (ran.code, ran.json["sync"]["failed"], ran.json["sync"]["success"]) == (
        0,
        1,
        False,
    ), ran.err
    assert [note for note in ran.json["notes"] if note.startswith("1 file could not be read")]
    assert ran.json["results"]


def test_a_file_that_can_no_longer_be_opened_is_counted_once(
    powerless: Command, project: Path
) -> None:
    powerless("search", "durability", "--mode", "words")
    page = project / "docs" / "storage.md"
    page.write_text(page.read_text() + "\nMore about durability.\n")
    page.chmod(0)
    ran = powerless("search", "durability", "--mode", "words")
    assert "(1 file could not be read: `ragstone sync` lists them)" in ran.err
    synced = powerless("sync")
    assert "1 failed" in synced.out and "permission denied" in synced.err
    assert "without text" not in synced.err


def test_the_share_of_texts_with_vectors_is_noted(quick: Command, project: Path) -> None:
    quick("sync", "--no-embed")
    none = quick("search", "upload", "--no-sync", "--json").json["notes"]
    assert none == [
        "answered by words only: no text has a vector yet; `ragstone sync` makes them"
    ]
    quick("sync")
    (project / "new.md").write_text("Granite uploads are heavier.\n", encoding="utf-8")
    quick("sync", "--no-embed")
    some = quick("search", "upload", "--no-sync", "--json").json["notes"]
    assert some[0] == PARTLY
    assert len([note for note in some if "cover" in note or "meaning" in note]) == 1
    retrieved = quick("retrieve", "what calls upload", "--no-sync", "--json").json["notes"]
    assert f"4 of 5 {SYNC_MAKES_THEM}" in retrieved
    assert not [note for note in retrieved if "cover" in note]
    quick("sync")
    assert quick("search", "upload", "--no-sync", "--json").json["notes"] == []


def test_sync_makes_the_vectors_of_every_collection(quick: Command, project: Path) -> None:
    quick("sync")
    with Engine.open(project) as engine:
        engine.add(Document("note", "Granite uploads."), collection="notes", embed=False)
    search = ("search", "upload", "--no-sync", "--json")
    assert quick(*search).json["notes"] == [PARTLY]
    assert quick("sync", "--json").json["embedded"] == 1
    assert quick(*search).json["notes"] == []


def test_every_command_notes_vectors_of_another_model(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick("sync")
    monkeypatch.setenv("RAGSTONE_EMBED_STORAGE", "compact")
    for number, arguments in enumerate((("sync",), ("search", "granite"), ("add", "new.md"))):
        (project / "new.md").write_text(
            f"Granite {number} is harder than marble.\n", encoding="utf-8"
        )
        plain = quick(*arguments)
        assert plain.code == (0 if arguments[0] == "search" else 3), plain.err
        assert "ragstone reembed" in plain.err, arguments
        (project / "new.md").write_text(
            f"Granite {number} is softer than diamond.\n", encoding="utf-8"
        )
        ran_json = quick(*arguments, "--json")
        assert ran_json.code == plain.code
        assert [note for note in ran_json.json["notes"] if "ragstone reembed" in note], (
            arguments
        )
        assert not [note for note in ran_json.json["notes"] if "completes" in note], (
            "a sync would not make them"
        )
    assert quick("reembed").code == 0
    assert quick("sync", "--json").json["notes"] == []


def test_disabled_retrieval_is_noted_in_json(command: Command, project: Path) -> None:
    off = {"RAGSTONE_RAG_ENABLED": "false"}
    for arguments in (("sync",), ("add", "README.md"), ("search", "upload")):
        ran = command(*arguments, "--json", env=off)
        assert ran.code == 0, ran.err
        assert [
            note for note in ran.json["notes"] if "rag.enabled" in note or "no index" in note
        ], arguments
    assert not (project / ".ragstone").exists()


FULL = 'mount -t tmpfs -o size=2m none .ragstone && cp -a ../kept/. .ragstone && ! cat /dev/zero >.ragstone/rest && "$@"'


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is made in Linux's way")
def test_a_search_on_a_full_disk_answers_with_a_note(command: Command, project: Path) -> None:
    small = ("unshare", "-rm", "sh", "-c", FULL, "sh")
    command("sync")
    (project / ".ragstone").rename(project.parent / "kept")
    (project / ".ragstone").mkdir()
    try:
        subprocess.run([*small, "true"], cwd=project, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system may be mounted here")
    (project / "new.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    ran = command("search", "durability", "--mode", "words", "--json", before=small)
    assert ran.code == 0, ran.err
    assert [hit["path"] for hit in ran.json["results"]] == ["docs/storage.md"]
    assert [
        note for note in ran.json["notes"] if "not brought up to date: no room left" in note
    ]
    assert command("sync", before=small).code == 5
