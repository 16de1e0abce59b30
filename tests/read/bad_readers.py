"""Readers that a hostile file has taken over; the confined process must withstand them."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import time

from ragstone.errors import ReadError
from ragstone.types import Document, Mark

SYSTEM = ctypes.CDLL(None) if os.name == "posix" else None


def good(data: bytes, uri: str) -> Document:
    return Document(
        uri,
        data.decode(),
        "doc",
        "odd",
        "A title",
        {"n": 1, "list": ["a", None]},
        (Mark(0, 1, "i"),),
    )


def pid(data: bytes, uri: str) -> Document:
    return Document(uri, str(os.getpid()))


def surrogates(data: bytes, uri: str) -> Document:
    return Document(
        uri, "a\ud83db", title="t\udc00", metadata={"k\ud83d": "v\ud83d"}, remarks=("r\ud83d",)
    )


def prints(data: bytes, uri: str) -> Document:
    print("noise " * 1000, flush=True)
    os.write(1, b"noise")
    return Document(uri, "said")


def segfaults(data: bytes, uri: str) -> Document:
    ctypes.string_at(0)
    raise AssertionError


def leaves(data: bytes, uri: str) -> Document:
    os._exit(0)


def loops(data: bytes, uri: str) -> Document:
    while True:
        pass


def loops_in_c(data: bytes, uri: str) -> Document:
    return Document(uri, str(9 ** (9**9)))


def sleeps(data: bytes, uri: str) -> Document:
    time.sleep(600)
    raise AssertionError


def takes_memory(data: bytes, uri: str) -> Document:
    held = []
    while True:
        held.append(bytes(10_000_000))


def takes_native_memory(data: bytes, uri: str) -> Document:
    assert SYSTEM is not None
    SYSTEM.malloc.restype = ctypes.c_void_p
    SYSTEM.malloc.argtypes = [ctypes.c_size_t]
    got = 0
    while SYSTEM.malloc(50_000_000):
        got += 1
    raise ReadError(f"{got * 50} MB", reason="memory")


def swells(data: bytes, uri: str) -> Document:
    return Document(uri, str(len(b"x" * (450 << 20))))


def says_much(data: bytes, uri: str) -> Document:
    return Document(uri, "x" * (70 << 20))


def recurses(data: bytes, uri: str) -> Document:
    return recurses(data, uri)


def raises(data: bytes, uri: str) -> Document:
    raise KeyError("what no reader should raise")


def refuses(data: bytes, uri: str) -> Document:
    raise ReadError("it is locked", reason="password")


def lies_about_marks(data: bytes, uri: str) -> Document:
    return Document(uri, "short", marks=(Mark(99, 1),))


# ── reaching out: each returns what it got, which should be nothing ───────────────────────────────


def opens(data: bytes, uri: str) -> Document:
    with open(data.decode()) as file:
        return Document(uri, file.read())


def writes(data: bytes, uri: str) -> Document:
    with open(data.decode(), "w") as file:
        return Document(uri, str(file.write("was here")))


def lists(data: bytes, uri: str) -> Document:
    return Document(uri, str(os.listdir(data.decode())))


def removes(data: bytes, uri: str) -> Document:
    os.remove(data.decode())
    return Document(uri, "removed")


def connects(data: bytes, uri: str) -> Document:
    socket.create_connection(("127.0.0.1", int(data)), timeout=1)
    return Document(uri, "connected")


def starts(data: bytes, uri: str) -> Document:
    return Document(uri, subprocess.run(["true"]).args[0])


def forks(data: bytes, uri: str) -> Document:
    return Document(uri, str(os.fork()))


def natively(data: bytes, uri: str) -> Document:
    """Do behind Python's back what the audit hook cannot see; say what the kernel let through."""
    assert SYSTEM is not None
    path = data
    tried = {
        "socket": SYSTEM.socket(2, 1, 0),
        "fork": _forked(),
        "kill": SYSTEM.kill(os.getppid(), 0),
        "open": SYSTEM.open(path, 0),
        "write": SYSTEM.open(path, os.O_WRONLY),
        "truncate": SYSTEM.truncate(path, 0),
        "unlink": SYSTEM.unlink(path),
    }
    return Document(uri, " ".join(name for name, got in tried.items() if got >= 0))


def _forked() -> int:
    assert SYSTEM is not None
    child: int = SYSTEM.fork()
    if child == 0:
        os._exit(0)
    return child


def imports_late(data: bytes, uri: str) -> Document:
    import colorsys
    import html.entities

    return Document(
        uri, f"{colorsys.__name__} {html.entities.__name__} {data.decode('cp1253')}"
    )
