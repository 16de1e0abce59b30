"""Secrets on the command line: redactions are listed, and a disabled scan is a warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
TOKEN = "ghp_" + "aB3dE5fG7h" * 3 + "K9mN2p"
WARNING = "warning: secrets are not looked for"


def test_a_sync_lists_redacted_secrets_without_showing_them(
    quick: Command, project: Path
) -> None:
    (project / "src" / "ci.py").write_text(f'# CI\nTOKEN = "{TOKEN}"\n', encoding="utf-8")
    shown = quick("sync", "--no-embed")
    assert "src/ci.py: 1 secret taken out: github-token (line 2)" in shown.err
    assert shown.code == 0
    again = quick("sync", "--no-embed", "--full", "--json")
    assert again.json["remarks"] == [
        {"uri": "src/ci.py", "reason": "1 secret taken out: github-token (line 2)"}
    ]
    found = quick("search", "TOKEN", "--mode", "words", "--json")
    assert "[SECRET:github-token]" in found.out
    assert TOKEN not in shown.out + shown.err + again.out + again.err + found.out + found.err


def test_secrets_in_added_files_are_redacted(quick: Command, project: Path) -> None:
    (project / "note.txt").write_text(f"use {TOKEN}\n", encoding="utf-8")
    shown = quick("add", "note.txt")
    assert "note.txt: 1 secret taken out: github-token (line 1)" in shown.err
    data = quick("add", "note.txt", "--json").json
    assert data["remarks"] == [
        {"uri": "note.txt", "reason": "1 secret taken out: github-token (line 1)"}
    ]


def test_every_sync_warns_if_the_secret_scan_is_off(quick: Command, project: Path) -> None:
    (project / "ragstone.toml").write_text('[sources]\nsecrets = "off"\n', encoding="utf-8")
    assert quick("trust", "--yes").code == 0
    first = quick("search", "upload", "--mode", "words", "--json")
    assert any("secrets are not looked for" in note for note in first.json["notes"])
    for _ in range(2):
        shown = quick("sync", "--no-embed")
        assert WARNING in shown.err
        assert shown.code == 0
    assert (
        "secrets are not looked for"
        in quick("sync", "--no-embed", "--json").json["remarks"][0]["reason"]
    )
    assert WARNING in quick("add", "README.md").err


def test_a_search_says_which_files_secrets_were_taken_out_of(
    quick: Command, project: Path
) -> None:
    (project / "src" / "ci.py").write_text(f'# CI\nTOKEN = "{TOKEN}"\n', encoding="utf-8")
    first = quick("search", "upload", "-k", "1", "--mode", "words")
    assert "secrets were taken out of src/ci.py; `ragstone sync --full` lists them" in first.err
    for command in ("search", "context", "explain"):
        shown = quick(command, "TOKEN", "--mode", "words")
        assert "[SECRET:…] stands where a secret was taken out: src/ci.py" in shown.err
    assert "taken out" not in quick("search", "upload", "-k", "1", "--mode", "words").err


def test_a_sync_counts_the_skipped_files_that_are_named_like_secrets(
    quick: Command, project: Path
) -> None:
    (project / ".env").write_text("PLACE=quarry\n", encoding="utf-8")
    shown = quick("sync", "--no-embed")
    assert "(1 file skipped, named like a secret: --verbose" in shown.err
    (project / "stone.bin").write_bytes(bytes(range(256)))
    shown = quick("sync", "--no-embed")
    assert "(2 files skipped, 1 of them named like a secret: --verbose" in shown.err
