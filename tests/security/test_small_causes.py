"""Small files and poor machines have small effects: bounded time, typed errors, and nothing left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import Engine, InputError, ReadError, StoreError
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.sources.folder.ignore_rules import MAX_EXPRESSIONS, IgnoreRules
from ragstone.store.failures import explain
from ragstone.store.lock import FileLock
from ragstone.store.unfinished_copies import new_draft
from ragstone.store.words import derived_index
from ragstone.surfaces.cli import app
from ragstone.surfaces.present.failures import system_failure
from tests.read.hostile_pdf import many_kids
from tests.security.homes import FAKE

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs signals and locks of Linux")


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_pdf_that_lists_one_page_half_a_million_times_is_refused_at_once() -> None:
    with pytest.raises(ReadError, match="500,000 pages") as caught:
        CONFINED_READER.read("pdf", many_kids(500_000), "often.pdf")
    assert caught.value.reason == "too-big"


def test_a_file_of_one_repeated_word_leaves_room_for_other_documents(tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text("zebra " * 200_000, encoding="utf-8")
    for number in range(6):
        page = f"# Park {number}\n\nA zebra lives beside lake {number} and eats grass.\n"
        (tmp_path / f"park{number}.md").write_text(page, encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync(embed=False)
        hits = engine.search("zebra", top_k=5, mode="words")
    assert len({hit.source_doc_id for hit in hits}) == 5


# ── ignore rules ──────────────────────────────────────────────────────────────────────────────────


def test_sixty_thousand_rules_take_no_longer_than_a_few(tmp_path: Path) -> None:
    lines = [f"name{number}.txt" for number in range(20_000)]
    lines += [f"folder/name{number}" for number in range(20_000)]
    lines += [f"*.ending{number}" for number in range(20_000)]
    rules = IgnoreRules([*lines, "!name7.txt"])
    assert (rules._names, rules._paths) == (
        None,
        None,
    )  # no expression that grows with the rules
    assert rules.verdict("a/b/name19999.txt") is True
    assert rules.verdict("name7.txt") is False
    assert rules.verdict("folder/name5") is True
    assert rules.verdict("other/name5") is None
    assert rules.verdict("a/x.ending123") is True
    assert rules.verdict("a/x.ending12345678") is None


def test_too_many_patterns_with_wildcards_are_an_error_and_no_file_is_taken_in(
    tmp_path: Path,
) -> None:
    lines = "\n".join(f"a*b{number}*c" for number in range(MAX_EXPRESSIONS + 1))
    (tmp_path / "a.md").write_text("The quagga sleeps.", encoding="utf-8")
    below = tmp_path / "below"
    below.mkdir()
    (below / "b.md").write_text("The quagga eats.", encoding="utf-8")
    (below / ".ragstoneignore").write_text(lines, encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        report = engine.sync()
        assert [document.uri for document in engine.sources()] == ["a.md"]
        assert "patterns with wildcards" in report.skipped[0].reason
        (tmp_path / ".ragstoneignore").write_text(lines, encoding="utf-8")
        with pytest.raises(InputError, match="patterns with wildcards"):
            engine.sync()
        assert [document.uri for document in engine.sources()] == ["a.md"]


# ── the machine ───────────────────────────────────────────────────────────────────────────────────


def test_too_little_memory_is_not_called_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(app.commands, "invoke", fail)
    assert app.run(["status"]) == 1
    printed = capsys.readouterr().err
    assert "not enough memory" in printed and "bug" not in printed
    assert system_failure(ValueError()) is None


@linux
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_is_named_with_a_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(StoreError, match="has no locks") as caught, FileLock(tmp_path / "lock"):
        pass
    assert "local disk" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "cure"),
    [
        (sqlite3.SQLITE_FULL, "free some disk space"),
        (sqlite3.SQLITE_IOERR_LOCK, "local disk"),
        (sqlite3.SQLITE_IOERR_FSYNC, "check the disk"),
        (sqlite3.SQLITE_READONLY, "writable"),
        (sqlite3.SQLITE_CORRUPT, "restore a backup"),
        (sqlite3.SQLITE_BUSY, "try again"),
        (sqlite3.SQLITE_INTERRUPT, "ragstone doctor"),
    ],
)
def test_each_fault_of_a_database_names_its_own_cure(code: int, cure: str) -> None:
    error = sqlite3.OperationalError("fault")
    error.sqlite_errorcode = code
    assert cure in explain(error, "nowhere/ragstone.db").hint


@linux
def test_the_next_backup_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.md").write_text("The quagga sleeps.", encoding="utf-8")
    script = (
        "import os, signal, sys\n"
        "from ragstone import Engine\n"
        "from ragstone.store import maintenance\n"
        "maintenance._verify = lambda path: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with Engine.open(sys.argv[1], config={'rag.embedding_provider': 'fake'}) as engine:\n"
        "    engine.sync()\n"
        "    engine.admin.backup(sys.argv[2])\n"
    )
    target = tmp_path / "copies" / "one.db"
    target.parent.mkdir()
    command = [sys.executable, "-c", script, str(folder), str(target)]
    killed = subprocess.run(command, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert len(os.listdir(target.parent)) == 1  # the draft
    foreign = target.parent / f".ragstone-{0:08x}-1-{0:08x}.part"
    foreign.write_bytes(b"the draft of another host")
    running = new_draft(target.parent)
    running.write_bytes(b"the draft of a running process")
    with Engine.open(folder, config=FAKE) as engine:
        engine.admin.backup(target)
    assert sorted(os.listdir(target.parent)) == sorted([foreign.name, running.name, "one.db"])


# ── panics ────────────────────────────────────────────────────────────────────────────────────────


def test_a_panic_of_the_word_index_is_neither_printed_nor_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(derived_index, "LEAST_CHUNKS", 10)
    monkeypatch.setattr(derived_index, "EXTEND_AT", 10)
    for number in range(40):
        (tmp_path / f"{number}.md").write_text(f"zebra number {number}", encoding="utf-8")
    chance = random.Random(11)
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync(embed=False)
    files = [path for path in (tmp_path / ".ragstone" / "words").rglob("*.*") if path.is_file()]
    assert files
    intact = {path: path.read_bytes() for path in files}
    damages = [
        (path, chance.randbytes(len(intact[path]))) for path in chance.choices(files, k=8)
    ]
    fast = next(path for path in files if path.suffix == ".fast")
    for position in range(12, 52, 4):  # without checksums, tantivy panics at most of these
        flipped = bytearray(intact[fast])
        flipped[position] ^= 1 << position % 8
        damages.append((fast, bytes(flipped)))
    for path, damaged in damages:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(damaged)
        with Engine.open(tmp_path, config=FAKE) as engine:
            assert engine.search("zebra", mode="words")
        for name, data in intact.items():
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes(data)
    assert "panicked" not in capfd.readouterr().err
