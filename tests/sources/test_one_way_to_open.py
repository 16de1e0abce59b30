"""Only `safe_open` opens files of a user, so no module can bypass its checks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ragstone

PACKAGE = Path(ragstone.__file__).parent
PACKAGES = ("sources", "read", "indexing", "surfaces", "chunk")
MODULES = sorted(
    [path for package in PACKAGES for path in (PACKAGE / package).rglob("*.py")]
    + list(PACKAGE.glob("*.py"))
)
OPENING = {"open", "fdopen", "read_text", "read_bytes", "copyfile", "copy", "copy2", "mmap"}
ALLOWED = {
    "read/ocr.py": {"open"},  # a picture that is in memory
    "folder/limited_process.py": {"read_text"},  # the state of a process in /proc
    "commands/ui.py": {"open"},  # a browser, no file
    "mcp/other_servers.py": {"open"},  # the null device
    "mcp/remote_session.py": {"open"},  # the null device
    "rest/upload_spool.py": {"open", "fdopen", "read_bytes"},  # uploads in the home folder
    "server/serve.py": {"open"},  # the queue of jobs, no file
    "server/running_server.py": {
        "open",
        "read_text",
    },  # the address of the server, in the home folder
    "web/static_files.py": {"read_bytes"},  # files of the package
    "sources/files.py": {"open", "fdopen"},
    "secrets/rules.py": {"read_text"},  # the rules in the package
    "read/confine.py": {"open"},  # folders that the sandbox allows
    "read/office_package.py": {"open"},  # a member of an archive that is in memory
    "indexing/events.py": {"open", "fdopen"},  # the log of events in the home folder
    "indexing/event_erasure.py": {"open", "fdopen"},  # the log of events too
    "indexing/background_embedding.py": {"open", "fdopen"},  # the log of the process
    "indexing/ownership.py": {"open", "fdopen"},  # the seal of the home folder
    "routes/session.py": {"open"},  # a browser's session, no file
    "indexing/query_vectors.py": {"open", "read_bytes"},  # a cache in the home folder
    "read/worker_loop.py": {
        "open",
        "fdopen",
    },  # the status of the process, and the pipe for its replies
    "cli/__init__.py": {"open", "fdopen"},  # the null device
    "cli/output.py": {"open"},  # the null device
    "install/backups.py": {
        "open",
        "fdopen",
        "read_text",
    },  # settings of agents, which are not indexed
    "commands/init.py": {"open"},  # a settings file that was not there
    "cli/json_lines.py": {"fdopen"},  # a file made for the export
}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_module_opens_a_file_by_itself(module: Path) -> None:
    calls = [
        node.func
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    named = [
        call for call in calls if ast.unparse(call) not in ("Engine.open", "McpSession.open")
    ]
    names = {
        call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in named
    }
    assert names & OPENING == ALLOWED.get(f"{module.parent.name}/{module.name}", set())
