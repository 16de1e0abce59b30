"""Vectors: processes take turns, and adding a note waits for no other process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ragstone import Document, Engine
from ragstone.store.lock import FileLock

FAKE = {"rag.embedding_provider": "fake"}

SLOW_EMBEDDER = """
import sys
from ragstone import Engine
from ragstone.embed.fake import FakeEmbedder
embed = FakeEmbedder.embed
def wait_and_embed(self, texts, role="document", progress=None):
    print("embedding", flush=True)
    sys.stdin.readline()
    return embed(self, texts, role)
FakeEmbedder.embed = wait_and_embed
with Engine.open(sys.argv[1], config={"rag.embedding_provider": "fake"}) as engine:
    print(engine.sync().embedded, flush=True)
"""
ADD_A_NOTE = """
import sys
from ragstone import Document, Engine
with Engine.open(sys.argv[1], config={"rag.embedding_provider": "fake"}) as engine:
    print(engine.add(Document(uri="note", text="a gondola")).embedded, flush=True)
"""


def test_a_note_is_added_with_its_vector_while_another_process_embeds(folder: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", SLOW_EMBEDDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == "embedding\n"
        adding = subprocess.run(
            [sys.executable, "-c", ADD_A_NOTE, str(folder)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert adding.stdout == "1\n"
        other.communicate("\n" * 10, timeout=60)
    assert other.returncode == 0


def test_adding_a_document_embeds_its_own_texts_only(engine: Engine) -> None:
    engine.sync(embed=False)
    report = engine.add(Document(uri="note", text="a gondola"))
    assert report.embedded == 1
    assert report.pending > 0


def test_a_long_document_is_embedded_completely(engine: Engine) -> None:
    sections = [f"# Part {number}\n\n{'word ' * 300}{number}\n" for number in range(300)]
    report = engine.add(Document(uri="long.md", text="\n".join(sections)))
    assert report.embedded > 128
    assert report.pending == 0


def test_the_lock_is_free_between_two_batches(engine: Engine, folder: Path) -> None:
    (folder / "many.md").write_text(
        "\n".join(f"# Part {number}\n\n{'word ' * 300}{number}\n" for number in range(300)),
        encoding="utf-8",
    )
    engine.sync(embed=False)
    taken = []

    def take_lock(stage: str, done: int, total: int) -> None:
        with FileLock(engine.home / "embed.lock", wait=0):
            taken.append(done)

    engine.admin.embed(progress=take_lock)
    assert len(taken) > 2
