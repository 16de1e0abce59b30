"""Files that came in by `add`, also from outside of the folder, are checked like files of the folder."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.errors import InputError
from ragstone.surfaces.tools import ALL_TOOLS
from tests.surfaces.conftest import command, environment, project, quick

__all__ = ["command", "environment", "project", "quick"]

FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}
SEARCH_TOOL = {tool.name: tool for tool in ALL_TOOLS}["rag_search"]
Command = Callable[..., Any]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def report(elsewhere: Path) -> Path:
    path = elsewhere / "report.md"
    path.write_text("# Report\n\nThe gondola costs nine crowns.\n", encoding="utf-8")
    return path


@pytest.fixture
def engine(tmp_path: Path, report: Path) -> Iterator[Engine]:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "notes.md").write_text("# Notes\n\nA barge.\n", encoding="utf-8")
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        added = engine.external.add_files(report, metadata={"year": 2026})
        assert (added.documents, added.failed) == (1, ())
        yield engine


def freshness(engine: Engine, query: str) -> dict[str, str]:
    hits = engine.search(query, mode="words")
    return {hit.source_doc_id: hit.freshness for hit in hits}


def test_an_added_file_is_fresh_and_a_changed_one_is_read_again_in_the_same_call(
    engine: Engine, report: Path
) -> None:
    uri = report.resolve().as_posix()
    assert freshness(engine, "gondola") == {uri: "fresh"}
    report.write_text("# Report\n\nThe gondola costs ten ducats.\n", encoding="utf-8")
    hits = engine.search("gondola", mode="words")
    assert [(hit.freshness, "ten ducats" in hit.text) for hit in hits] == [("refreshed", True)]
    assert hits[0].metadata["year"] == 2026
    report.write_text("# Report\n\nNothing of the kind.\n", encoding="utf-8")
    assert freshness(engine, "gondola") == {}


def test_an_added_file_that_is_gone_is_dropped_and_the_answer_says_so(
    engine: Engine, report: Path
) -> None:
    report.unlink()
    explanation = engine.explain("gondola")
    assert all(hit.source_doc_id != report.as_posix() for hit in explanation.hits)
    assert any(
        "report.md: the file is gone, so its text was removed" in note
        for note in explanation.notes
    )
    assert engine.admin.text(report.as_posix()) is None


@pytest.mark.parametrize("problem", ["folder", "drive", "link", "permission"])
def test_an_added_file_that_cannot_be_reached_is_unverifiable_with_the_reason(
    engine: Engine, report: Path, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if problem == "folder":
        report.parent.rename(report.parent.with_name("moved"))
        reason = f"the folder {report.parent} is not there now"
    elif problem == "drive":
        report.unlink()
        stat = os.stat

        def on_another_drive(path: str, **options: Any) -> os.stat_result:
            fields = list(stat(path, **options))
            fields[2] += 1
            return os.stat_result(fields)

        monkeypatch.setattr(os, "stat", on_another_drive)
        reason = f"the drive of {report.parent} is not there now"
    elif problem == "link":
        (report.parent / "secret.md").write_text("The gondola of another.", encoding="utf-8")
        report.unlink()
        try:
            report.symlink_to(report.parent / "secret.md")
        except OSError:
            pytest.skip("links need rights here")
        reason = "not opened: it is a link"
    else:
        if sys.platform == "win32" or os.geteuid() == 0:
            pytest.skip("nothing is unreadable here")
        report.chmod(0)
        os.utime(report, (1, 1))
        reason = "permission denied"
    explanation = engine.explain("gondola")
    assert explanation.hits[0].freshness == "unverifiable"
    assert f"{report.as_posix()} was not checked: {reason}" in explanation.notes
    ledger = engine.sync()
    reasons = [skip.reason for skip in (*ledger.skipped, *ledger.failed)]
    assert (ledger.removed, reasons) == (0, [reason])


def test_a_sync_checks_added_files_of_every_collection_and_counts_them(
    engine: Engine, report: Path, elsewhere: Path
) -> None:
    other = elsewhere / "letter.md"
    other.write_text("# Letter\n\nThe ferry is late.\n", encoding="utf-8")
    engine.external.add_files([other], collection="letters")
    ledger = engine.sync()
    assert (ledger.found, ledger.unchanged, ledger.closes) == (3, 3, True)
    report.write_text("# Report\n\nThe gondola sank.\n", encoding="utf-8")
    other.unlink()
    ledger = engine.sync()
    assert (ledger.found, ledger.indexed, ledger.unchanged) == (2, 1, 1)
    assert (ledger.removed, ledger.gone) == (1, (other.as_posix(),))
    assert [(skip.uri, skip.reason) for skip in ledger.remarks] == [
        (other.as_posix(), "the file is gone, so its text was removed")
    ]
    assert ledger.closes
    assert "sank" in (engine.admin.text(report.as_posix()) or "")


def test_a_file_that_only_the_user_took_in_is_checked_although_a_sync_skips_it(
    engine: Engine,
) -> None:
    ignored = engine.folder / "draft.md"
    (engine.folder / ".ragstoneignore").write_text("draft.md\n", encoding="utf-8")
    ignored.write_text("# Draft\n\nA heron.\n", encoding="utf-8")
    engine.sync()
    engine.external.add_files(ignored, uri="birds/heron")
    assert freshness(engine, "heron") == {"birds/heron": "fresh"}
    ignored.write_text("# Draft\n\nA heron and a stork.\n", encoding="utf-8")
    assert freshness(engine, "heron stork") == {"birds/heron": "refreshed"}
    ignored.unlink()
    assert freshness(engine, "heron stork") == {}


def test_a_relative_path_and_a_linked_folder_name_the_same_document(
    engine: Engine, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(report.parent)
    engine.external.add_files(["report.md", "./../elsewhere/report.md"])
    way = report.parent.with_name("way")
    try:
        way.symlink_to(report.parent)
    except OSError:
        pytest.skip("links need rights here")
    engine.external.add_files(way / "report.md")
    assert [document.uri for document in engine.sources()] == [report.as_posix(), "notes.md"]


def test_a_path_that_is_no_file_is_a_failure_with_a_reason(
    engine: Engine, elsewhere: Path
) -> None:
    (elsewhere / "raw.md").write_bytes(b"\x00\x01\x02" * 100)
    (elsewhere / "photo.png").write_bytes(b"text")
    names = ("gone.md", "raw.md", "photo.png", "")
    added = engine.external.add_files([elsewhere / name for name in names])
    assert added.documents == 0
    reasons = {os.path.basename(skip.uri): skip.reason for skip in added.failed}
    assert "no such file" in reasons["gone.md"]
    assert "binary" in reasons["raw.md"]
    assert "unsupported type" in reasons["photo.png"]
    assert "folder" in reasons["elsewhere"]
    with pytest.raises(InputError, match="single file"):
        engine.external.add_files(["a.md", "b.md"], uri="x")


def test_an_imported_document_never_opens_the_file_that_its_metadata_names(
    engine: Engine, report: Path
) -> None:
    lines = list(engine.admin.export())
    report.write_text("# Report\n\nThe gondola is a secret.\n", encoding="utf-8")
    engine.admin.load(lines, collection="copy")
    hits = engine.search("gondola", mode="words", collection="copy")
    assert [(hit.freshness, "nine crowns" in hit.text) for hit in hits] == [
        ("unverifiable", True)
    ]


def test_an_agent_gets_the_present_text_of_an_added_file(engine: Engine, report: Path) -> None:
    report.write_text("# Report\n\nThe gondola is green.\n", encoding="utf-8")
    answer = SEARCH_TOOL(engine, {"query": "gondola"})
    assert "The gondola is green." in answer.text
    report.unlink()
    answer = SEARCH_TOOL(engine, {"query": "gondola"})
    assert "green" not in answer.text
    assert "the file is gone" in json.dumps(answer.data)


def test_the_command_line_checks_added_files(
    quick: Command, project: Path, elsewhere: Path
) -> None:
    path = elsewhere / "report.md"
    path.write_text("# Report\n\nThe gondola costs nine crowns.\n", encoding="utf-8")
    assert quick("add", str(path)).code == 0
    quick("sync")
    path.write_text("# Report\n\nThe gondola costs ten ducats.\n", encoding="utf-8")
    first = quick("search", "gondola", "--json").json["results"][0]
    assert (first["freshness"], "ten ducats" in first["text"]) == ("refreshed", True)
    path.unlink()
    ran = quick("search", "gondola", "--json")
    assert all("gondola" not in hit["text"] for hit in ran.json["results"])
    assert "the file is gone" in ran.err
