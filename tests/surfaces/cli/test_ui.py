"""`ragstone ui`: it uses a running server, or starts one."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import httpx2

from tests.support.browser import command_environment, ragstone, serve_folder


def run_ui(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ragstone(folder, "ui", "--no-browser", *arguments),
        env=command_environment(folder.parent),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def test_a_running_server_of_the_folder_is_used(folder: Path) -> None:
    environment = {"RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"}
    with serve_folder(folder, environment=environment) as served:
        for _ in range(200):  # the first sync makes the home, then the record is written
            if (folder / ".ragstone/server.json").exists():
                break
            time.sleep(0.1)
        found = json.loads(run_ui(folder, "--json").stdout)
        assert found == {
            "success": True,
            "url": served.url,
            "project": "default",
            "started": False,
        }
        assert run_ui(folder).stdout == f"The dashboard is at {served.url}.\n"
    assert not (folder / ".ragstone/server.json").exists()


def test_without_a_server_one_is_started_and_a_signal_stops_it(folder: Path) -> None:
    process = subprocess.Popen(
        ragstone(folder, "ui", "--no-browser", "--json", "--port", "0"),
        env=command_environment(folder.parent, {"RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"}),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        shown = json.loads(process.stdout.readline())
        assert shown["started"] is True
        page = httpx2.get(shown["url"], timeout=30)
        assert page.status_code == 200 and "Ragstone" in page.text
    finally:
        process.terminate()
        assert process.wait(20) == 0
        if process.stdout is not None:
            process.stdout.close()
