"""Only `sources/web/client.py` fetches pages and only `embed/http_client.py` asks services."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ragstone

PACKAGE = Path(ragstone.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
NETWORK = {
    *(
        "socket",
        "ssl",
        "http",
        "socketserver",
        "asyncio",
        "ftplib",
        "smtplib",
        "poplib",
        "imaplib",
        "telnetlib",
    ),
    *(
        "xmlrpc",
        "urllib",
        "urllib3",
        "requests",
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "aiohttp",
        "websockets",
        "pycurl",
    ),
}
ALLOWED = {
    "store/home_folder.py": {"socket"},  # the name of this machine
    "surfaces/mcp/remote_session.py": {"asyncio", "httpx2"},  # MCP servers that the user set
    "surfaces/server/running_server.py": {"asyncio"},  # the type of the server
    "surfaces/web/addresses.py": {"urllib.parse"},  # puts texts together
    "vectors/file_index.py": {"urllib.parse"},  # names of files
    "surfaces/web/events_view.py": {"urllib.parse"},  # puts texts together
    "vectors/milvus_index.py": {"urllib.parse"},  # takes texts apart
    "surfaces/message_bus.py": {"urllib.parse"},  # takes texts apart
    "read/epub.py": {"urllib.parse"},  # takes texts apart
    "integrations/openai_agents.py": {"asyncio"},  # threads, as the SDK awaits its tools
    "retrieval/ask/chat.py": {"httpx2"},  # the types of its failures
    "sources/web/client.py": {"socket", "ssl", "httpcore2"},
    "embed/http_client.py": {"httpx2"},  # services whose address the user set
    "sources/web/urls.py": {"urllib.parse"},  # takes texts apart
    "sources/web/pages.py": {"http"},  # the names of statuses
    "sources/web/source.py": {"http"},  # as above
    "engine/async_engine.py": {"asyncio"},  # threads only
    "surfaces/mcp/resources.py": {"urllib.parse"},  # takes texts apart
    "surfaces/rest/guard.py": {"urllib.parse"},  # takes texts apart
    "surfaces/rest/back_pressure.py": {"asyncio"},  # the server's own queue
    "surfaces/rest/authorised_route.py": {"asyncio"},  # the server's own tasks
    "surfaces/rest/streams.py": {"asyncio"},  # the server's own queue
    "surfaces/rest/jobs_reply.py": {"asyncio"},  # waits for a job
    "surfaces/server/serve.py": {"asyncio", "socket"},  # the types of its sockets
    "surfaces/server/listeners.py": {"socket"},  # listens; it does not connect
    "surfaces/server/worker_group.py": {"socket"},  # hands sockets on
    "surfaces/server/worker_main.py": {"asyncio", "socket"},  # listens; it does not connect
    "surfaces/server/request_relay.py": {
        "asyncio",
        "httpx2",
        "socket",
    },  # sockets in a private folder
    "vectors/chroma_index.py": {
        "httpx",
        "urllib.parse",
    },  # the time limit of Chroma's own client
    "surfaces/client/connection.py": {"httpx2"},  # the server whose address the user gave
}
PARSING = {"urllib.parse"}
CONNECTING = {
    "connect",
    "connect_ex",
    "create_connection",
    "urlopen",
    "HTTPConnection",
    "HTTPSConnection",
    "getaddrinfo",
}


def imported(tree: ast.AST) -> set[str]:
    """Return the network packages that a module imports, by whatever statement or call."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Call) and getattr(
            node.func, "attr", getattr(node.func, "id", "")
        ) in (
            "import_module",
            "__import__",
        ):
            names |= {
                arg.value
                for arg in node.args
                if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            }
    return {
        name if name in PARSING else top
        for name in names
        if (top := name.partition(".")[0]) in NETWORK
    }


@pytest.mark.parametrize(
    "module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_only_one_module_connects_to_the_network(module: Path) -> None:
    name = module.relative_to(PACKAGE).as_posix()
    tree = ast.parse(module.read_text("utf-8"))
    assert imported(tree) <= ALLOWED.get(name, set())
    called = {
        getattr(node.func, "attr", "") for node in ast.walk(tree) if isinstance(node, ast.Call)
    }
    if name == "sources/web/client.py":
        return
    # SQLite's `connect`, and that of the message bus to a broker that the user named.
    allowed = (
        {"connect"} if name.startswith("store/") or name == "surfaces/message_bus.py" else set()
    )
    if name == "surfaces/server/listeners.py":
        allowed = {"getaddrinfo"}  # the address to listen on
    assert not called & CONNECTING - allowed
