"""Several processes at once, no network, and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

NO_NETWORK = """
import socket

class Refused(socket.socket):
    def __init__(self, *args, **kwargs):
        raise AssertionError("a socket was asked for")

socket.socket = Refused
socket.create_connection = Refused
socket.getaddrinfo = Refused
"""

# Ctrl-C comes when the first heavy import begins: the moment is met every time, whatever the machine.
EARLY = """
import os, signal, sys

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
"""


def fill(project: Path, files: int) -> None:
    for number in range(files):
        lines = [
            f"# Stone {number}\n",
            *(f"Layer {layer} of stone {number} is granite.\n" for layer in range(40)),
        ]
        (project / f"stone{number:03}.md").write_text("\n".join(lines), encoding="utf-8")


def test_no_command_opens_a_network_connection(
    command: Command, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    source = Path(__file__).resolve().parents[3] / "src"
    blocked = {
        "PYTHONPATH": os.pathsep.join((str(tmp_path / "block"), str(source))),
        "RAGSTONE_RAG_EMBEDDING_PROVIDER": "minilm",
    }
    synced = command("sync", "--json", env=blocked)
    assert synced.code == 0, synced.err
    assert (synced.json["embedded"], synced.json["pending"]) == (4, 0)
    ran = command("search", "how heavy is a rock", "--mode", "vectors", "--json", env=blocked)
    assert ran.code == 0, ran.err
    assert ran.json["results"][0]["path"] == "src/weigh.py"


def test_two_syncs_and_three_searches_can_run_at_the_same_time(
    command: Command, project: Path, environment: dict[str, str]
) -> None:
    fill(project, 120)
    runs = [("sync", "--json")] * 2 + [("search", "granite layer", "--json")] * 3
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "ragstone", *arguments],
            cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for arguments in runs
    ]  # fmt: skip
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert "locked" not in out + err
    state = command("status", "--json").json
    assert state["documents"] == 124
    assert [space["coverage"] for space in state["spaces"]] == [1.0]
    assert command("doctor").code == 0
    again = command("sync", "--json").json
    assert (again["unchanged"], again["indexed"], again["embedded"]) == (124, 0, 0)
    alone = project.parent / "alone"
    alone.mkdir()
    for path in project.rglob("*"):
        if path.is_file() and ".ragstone" not in path.parts:
            (alone / path.relative_to(project)).parent.mkdir(exist_ok=True)
            (alone / path.relative_to(project)).write_bytes(path.read_bytes())
    command("sync", cwd=alone)
    assert command("status", "--json", cwd=alone).json["chunks"] == state["chunks"]


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_a_sync_interrupted_by_ctrl_c_can_be_resumed(
    command: Command, project: Path, environment: dict[str, str]
) -> None:
    fill(project, 1500)
    process = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "sync", "--json"],
        cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    database = project / ".ragstone" / "ragstone.db"
    end = time.monotonic() + 30
    while not database.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    data = json.loads(out)
    assert (data["success"], data["error"]["code"], data["error"]["retryable"]) == (
        False,
        "interrupted",
        True,
    )
    assert "what was stored stays" in err
    assert "Traceback" not in err
    ran = command("sync", "--no-embed", "--json")
    assert (ran.code, ran.json["found"]) == (0, 1504)
    assert command("doctor").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
@pytest.mark.parametrize(
    "start", [["-m", "ragstone"], ["-c", "from ragstone.surfaces.cli import main; main()"]]
)
def test_ctrl_c_during_startup_prints_one_sentence(
    environment: dict[str, str], tmp_path: Path, start: list[str]
) -> None:
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(EARLY, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path / "early"), environment["PYTHONPATH"]))
    ran = subprocess.run(
        [sys.executable, *start, "status", "--json"],
        env=environment | {"PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 130, ran.stderr
    assert ran.stderr == "interrupted: stopped before anything was done\n"
    assert json.loads(ran.stdout)["error"]["code"] == "interrupted"
