"""The first answer beside the quick-starts of peers: who is not there is skipped, who is there is timed and scaled."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import first_answer, measure, peers, quick_start

FAKE = """
import sys, types

class Collection:
    def __init__(self, embed):
        self.embed, self.rows = embed, []

    def add(self, ids, documents):
        assert self.embed(documents).shape == (len(ids), 384)
        self.rows += ids

    def count(self):
        return len(self.rows)

    def query(self, query_texts, n_results):
        assert self.embed(query_texts).shape == (1, 384)
        return {"ids": [self.rows[:n_results]]}

class PersistentClient:
    def __init__(self, path, settings):
        self.path = path

    def create_collection(self, name, embedding_function):
        return Collection(embedding_function)

    def get_max_batch_size(self):
        return 2

class EmbeddingFunction: ...

class Settings:
    def __init__(self, **said): ...
"""


def options(**said: object) -> argparse.Namespace:
    return argparse.Namespace(**{"files": 3, "peers": None, "cores": 1, **said})


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Give figures of ours without starting a process for each."""
    monkeypatch.setattr(first_answer, "command", lambda folder, *words: (0.5, 5))
    monkeypatch.setattr(first_answer, "counts", lambda folder: (40, 40))
    return {}


def test_a_peer_that_is_not_installed_is_skipped_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: dict[str, object]
) -> None:
    monkeypatch.setattr(peers, "installed", lambda name: False)
    told = first_answer.beside(tmp_path, ours, options())
    assert told["chroma"] == {"skipped": "not installed: python -m bench peers chroma"}
    assert told["llama-index"]["skipped"].endswith("peers llama-index")
    assert told["ratios"] == {"chroma": {}, "llama-index": {}}
    assert (ours["same_files"], ours["same_files_words_s"], ours["same_files_vectors_s"]) == (
        3,
        0.5,
        1.0,
    )


def test_a_quick_start_is_timed_as_a_whole_process_and_scaled_by_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: dict[str, object]
) -> None:
    monkeypatch.setattr(peers, "installed", lambda name: True)
    monkeypatch.setattr(peers, "version", lambda package: f"{package} 9")
    told = {"pieces": 3, "hits": 3}
    taken = iter([9.0, 2.0, 2.6])  # compiling, one file, all of them
    monkeypatch.setattr(first_answer, "run_quick_start", lambda spec: (next(taken), told))
    found = first_answer.beside(tmp_path, ours, options(peers=["chroma"]))
    assert set(found) == {"chroma", "ratios"}
    one = found["chroma"]
    assert (one["version"], one["files"], one["pieces"]) == (
        "chromadb 9",
        3,
        3,
    ) and "cut off at 256 tokens" in one["note"]
    assert (one["one_file_s"], one["first_answer_s"]) == (2.0, 2.6)
    assert one["scaled_to_1000_files_s"] == 202.0
    assert set(found["ratios"]["chroma"]) == {"by_words", "by_vectors"}


def test_a_peers_first_answer_is_compared_with_ours_by_words_and_with_all_vectors() -> None:
    ours = {"same_files_words_s": 0.5, "same_files_vectors_s": 10.0, "same_files_pieces": 100}
    peer = {"first_answer_s": 4.0, "pieces": 20}
    assert first_answer.compared(ours, peer) == {"by_words": 8.0, "by_vectors": 0.4}


def test_a_quick_start_that_fails_says_so_and_has_no_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: dict[str, object]
) -> None:
    def broken(module: str, spec: object, **where: object) -> dict[str, object]:
        raise measure.Failed("no room")

    monkeypatch.setattr(peers, "installed", lambda name: True)
    monkeypatch.setattr(first_answer, "child", broken)
    found = first_answer.beside(tmp_path, ours, options(peers=["llama-index"]))
    assert found == {"llama-index": {"failed": "no room"}, "ratios": {"llama-index": {}}}


def test_the_quick_start_of_chroma_adds_every_file_and_asks_once(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / ".ragstone").mkdir()
    for name in ("a.txt", "below/b.txt", "c.txt", ".ragstone/ours.db"):
        (folder / name).write_text(f"words of {name}\n" * 500, encoding="utf-8")
    (tmp_path / "chromadb.py").write_text(FAKE, encoding="utf-8")
    spec = {
        "name": "chroma",
        "folder": str(folder),
        "kept": str(tmp_path / "kept"),
        "query": "words",
        "cores": 1,
    }
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path + [str(tmp_path)]}; import runpy; "
         "runpy.run_module('bench.quick_start', run_name='__main__')"],
        input=json.dumps(spec), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert json.loads(ran.stdout) == {"pieces": 3, "hits": 3}


def test_every_peer_of_the_first_answer_can_be_installed_and_says_how_it_is_used() -> None:
    for name in first_answer.PEERS:
        assert peers.named(name).packages
        assert name in quick_start.STARTS and quick_start.NOTES[name]
