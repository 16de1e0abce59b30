from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_the_counts_of_a_sync_add_up(quick: Command, project: Path) -> None:
    (project / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\0")
    ran = quick("sync", "--verbose")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("5 found = 4 indexed + 0 unchanged + 1 skipped + 0 failed\n")
    assert "skipped picture.png: " in ran.out
    ledger = quick("sync", "--json").json
    assert ledger["found"] == ledger["indexed"] + ledger["unchanged"] + len(
        ledger["skipped"]
    ) + len(ledger["failed"])
    assert (ledger["unchanged"], ledger["pending"]) == (4, 0)


def test_a_partial_sync_exits_with_3_and_names_the_failed_files(
    powerless: Command, project: Path
) -> None:
    (project / "README.md").chmod(0)
    ran = powerless("sync")
    assert ran.code == 3, ran.err
    assert "4 found = 3 indexed + 0 unchanged + 0 skipped + 1 failed" in ran.out
    assert "failed: README.md: " in ran.err
    ran_json = powerless("sync", "--json")
    assert (ran_json.code, ran_json.json["success"], ran_json.json["failed"][0]["uri"]) == (
        3,
        False,
        "README.md",
    )
    (project / "README.md").chmod(0o600)
    assert powerless("sync").code == 0


def test_sync_of_some_paths_ignores_the_others(quick: Command, project: Path) -> None:
    assert quick("sync", "src").code == 0
    assert {document["uri"] for document in quick("sources", "--json").json["documents"]} == {
        "src/upload.py",
        "src/weigh.py",
    }
    (project / "src" / "weigh.py").unlink()
    assert quick("sync", "src/weigh.py", "--json").json["removed"] == 1


def test_a_missing_path_fails_and_the_others_are_indexed(quick: Command, project: Path) -> None:
    ran = quick("sync", "README.md", "missing.md", "--json")
    assert (ran.code, ran.json["indexed"], ran.json["success"]) == (3, 1, False)
    assert ran.json["failed"] == [{"uri": "missing.md", "reason": "no such file or folder"}]
    assert "failed: missing.md: no such file" in quick("sync", "missing.md").err


def test_a_deleted_path_is_removed_from_the_index(quick: Command, project: Path) -> None:
    quick("sync")
    (project / "README.md").unlink()
    shutil.rmtree(project / "src")
    ran = quick("sync", "README.md", "src", "--json")
    assert (ran.code, ran.json["removed"], ran.json["failed"]) == (0, 3, []), ran.out


def test_add_prints_chunks_for_each_file_and_continues_after_an_unreadable_one(
    quick: Command, project: Path
) -> None:
    (project / "blob.bin").write_bytes(bytes(range(256)) * 8)
    ran = quick("add", "README.md", "blob.bin", "nope.txt", "docs", "docs/storage.md")
    assert ran.code == 3
    assert ran.out == "README.md: 1 chunk\ndocs/storage.md: 1 chunk\n"
    assert [line.split(":")[1] for line in ran.err.splitlines()] == [
        " blob.bin",
        " nope.txt",
        " docs",
    ]
    ran_json = quick("add", "README.md", "nope.txt", "--json")
    assert (ran_json.code, ran_json.json["success"], ran_json.json["failed"][0]["uri"]) == (
        3,
        False,
        "nope.txt",
    )


def test_a_file_larger_than_the_limit_is_not_added(quick: Command, project: Path) -> None:
    (project / "huge.txt").write_bytes(b"granite " * 700_000)
    ran = quick("add", "huge.txt")
    assert ran.code == 3
    assert "too large: 5.6 MB" in ran.err
    assert "sources.max_file_bytes" in ran.err


def test_text_from_a_pipe_is_added_under_its_name(command: Command, quick: Command) -> None:
    ran = command(
        "add",
        "-",
        "--name",
        "notes/today",
        "--metadata",
        "by=ada",
        stdin="Der Meißel ist stumpf.".encode(),
    )
    assert ran.out == "notes/today: 1 chunk\n", ran.err
    found = quick("search", "Meißel", "--no-sync", "--json").json["results"]
    assert [(hit["path"], hit["metadata"]["by"]) for hit in found] == [("notes/today", "ada")]
    assert quick("add", "-").code == 2
    assert quick("add", "README.md", "docs/storage.md", "--name", "x").code == 2


def test_files_of_the_same_name_elsewhere_do_not_collide(
    quick: Command, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(f"in folder {folder}\n", encoding="utf-8")
    assert (
        quick(
            "add", str(tmp_path / "one" / "same.txt"), str(tmp_path / "two" / "same.txt")
        ).code
        == 0
    )
    assert len(quick("sources", "--json").json["documents"]) == 2


def test_sources_are_listed_narrowed_and_limited(quick: Command) -> None:
    quick("sync")
    assert quick("sources").out.splitlines()[1].split() == [
        "docs/storage.md",
        "doc",
        "1",
        "chunk",
    ]
    assert len(quick("sources", "--path", "src/*", "--json").json["documents"]) == 2
    limited = quick("sources", "--limit", "1", "--json").json
    assert (len(limited["documents"]), limited["more"]) == (1, True)
    assert quick("sources", "--path", "nowhere/*").out == "No documents.\n"


def test_remove_prints_the_count_and_accepts_ids_of_hits(quick: Command) -> None:
    quick("sync")
    assert (
        quick("remove", "README.md", "src/weigh.py__chunk_0").out
        == "2 documents removed from the index.\n"
    )
    assert len(quick("sources", "--json").json["documents"]) == 2


def test_status_describes_an_index_and_an_empty_folder(quick: Command) -> None:
    assert quick("status").out.startswith("Empty")
    assert quick("status", "--json").json["empty"] is True
    quick("sync")
    shown = quick("status").out
    assert shown.startswith("Indexed 4 chunks of 4 documents")
    assert "4 of 4 different texts (100%)" in shown
    assert quick("status", "--json").json["last_sync"]


def test_doctor_reports_a_sound_index(quick: Command) -> None:
    assert quick("doctor").code == 0
    quick("sync")
    ran = quick("doctor", "--json")
    assert (ran.code, ran.json["success"]) == (0, True), ran.out
    named = {finding["name"] for finding in ran.json["findings"]}
    assert {"Python", "writable", "disk", "model"} < named
    assert "SQLite" in ran.out


def test_doctor_and_status_name_missing_vectors(quick: Command) -> None:
    quick("sync", "--no-embed")
    assert "vectors  none yet" in quick("status").out
    ran = quick("doctor")
    missing = (
        "not every text has a vector (no text has a vector yet; `ragstone sync` makes them)"
    )
    assert (ran.code, f"care  meaning: {missing}" in ran.out) == (0, True), ran.out
    quick("sync")
    assert "4 of 4 different texts (100%)" in quick("status").out
    assert "meaning" not in quick("doctor").out


def test_the_settings_file_is_not_indexed(quick: Command) -> None:
    quick("init")
    report = quick("sync", "--json").json
    assert {"uri": "ragstone.toml", "reason": "settings of Ragstone"} in report["skipped"]
    found = quick("search", "largest chunk in characters", "--mode", "words", "-l").out
    assert "ragstone.toml" not in found


def test_little_disk_space_is_a_warning_not_a_fault(
    quick: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda place: shutil._ntuple_diskusage(10**12, 10**12, 150_000_000),
    )
    ran = quick("doctor")
    assert (ran.code, "care  disk: 150.0 MB free (" in ran.out) == (0, True), ran.out
    levels = {
        finding["name"]: finding["level"]
        for finding in quick("doctor", "--json").json["findings"]
    }
    assert (levels["disk"], levels["Python"]) == ("warning", "ok")


def test_init_writes_valid_settings_and_overwrites_nothing(
    quick: Command, project: Path
) -> None:
    before = quick("config", "--json").json
    ran = quick("init")
    assert ran.code == 0
    assert "ragstone sync" in ran.out
    assert quick("config", "--json").json == before
    file = project / "ragstone.toml"
    uncommented = [
        line.removeprefix("# ") for line in file.read_text(encoding="utf-8").splitlines()
    ]
    lines = [
        line
        for line in uncommented
        if line.startswith("[") or (" = " in line and not line.startswith("An "))
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    loaded = quick("config", "--json").json["settings"]
    assert {key: row["value"] for key, row in loaded.items()} == {
        key: row["value"] for key, row in before["settings"].items()
    } | {"rag.embedding_provider": "fake"}
    assert quick("init", "--json").json["config_made"] is False
    assert file.read_text(encoding="utf-8") == "\n".join(lines)


def test_config_shows_where_each_value_came_from(quick: Command, project: Path) -> None:
    (project / "ragstone.toml").write_text("[search]\ntop_k = 7\n", encoding="utf-8")
    shown = quick("config", "--json").json["settings"]
    assert shown["search.top_k"]["value"] == 7
    assert "ragstone.toml" in shown["search.top_k"]["origin"]
    assert "RAGSTONE_RAG_EMBEDDING_PROVIDER" in shown["rag.embedding_provider"]["origin"]
    assert shown["sources.max_files"] == {"value": 50_000, "origin": "default"}
    assert list(quick("config", "search.top_k", "--json").json["settings"]) == ["search.top_k"]
    assert "RAGSTONE_SEARCH_TOP_K" in quick("config", "--describe").out


def test_models_are_listed_and_described(quick: Command) -> None:
    names = {
        model["name"]: model["used"]
        for model in quick("model", "list", "--json").json["models"]
    }
    assert (names["minilm"], names["fake"]) == (False, True)
    assert quick("model", "info", "--json").json["embedder"] == "fake"
    assert quick("model", "info", "nope").code == 2


def test_an_export_can_be_imported_in_another_folder(
    quick: Command, project: Path, tmp_path: Path
) -> None:
    quick("sync")
    file = tmp_path / "quarry.jsonl"
    exported = quick("export", str(file), "--json").json
    assert exported["lines"] == len(file.read_text(encoding="utf-8").splitlines())
    assert quick("export").out == file.read_text(encoding="utf-8")
    assert json.loads(quick("export", "--no-vectors").out.splitlines()[-1])["document"]
    other = tmp_path / "other"
    other.mkdir()
    assert quick("import", str(file), "-C", str(other), "--json").json["documents"] == 4
    found = quick(
        "search", "durability", "--mode", "words", "-C", str(other), "--no-sync", "--json"
    ).json["results"]
    assert found[0]["path"] == "docs/storage.md"
    assert [one.name for one in tmp_path.glob(".quarry*")] == []


def test_maintenance_does_not_change_answers(quick: Command, tmp_path: Path) -> None:
    quick("sync")
    before = quick("search", "upload", "--json").json["results"]
    assert quick("compact", "--secure", "--json").json["success"]
    assert quick("reembed", "--json").json["success"]
    assert quick("backup", str(tmp_path / "copy.db"), "--json").json["bytes"] > 0
    assert quick("search", "upload", "--json").json["results"] == before


def test_an_explanation_ends_with_a_legend_of_its_figures(quick: Command) -> None:
    quick("sync", "--no-embed")
    shown = quick("explain", "upload", "--mode", "words").out
    legend = shown.partition("how to read it")[2]
    for word in ("rank, score", "a × b = c", "× 1.20", "fused", "confidence"):
        assert word in legend
    assert "a            words: at most 1, for the best match; a model: 0 for an" in legend
    assert "how to read it" not in quick("explain", "xyzzy-plugh", "--mode", "words").out


def test_the_help_of_serve_says_the_default_port_in_a_sentence(quick: Command) -> None:
    shown = " ".join(quick("serve", "--help").out.split())
    assert "The port: 8377 if you name none; 0 takes a free one." in shown
