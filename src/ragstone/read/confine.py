"""Confining a process that reads untrusted files.

An audit hook refuses dangerous calls of Python code on every system. Linux and macOS also limit
memory, open files and written bytes. On Linux the kernel refuses other files to native code by
Landlock, and all system calls that reading does not need by seccomp (`system_calls.py`). If a kernel
lacks seccomp, the process gets an empty network and no threads instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.read.system_calls import WRITE_FLAGS, build_call_filter, seccomp_call

if sys.platform != "win32":
    import resource

MEMORY_BYTES: Final = 1 << 30
"""Of address space."""
_LIMITS: Final = {
    "RLIMIT_CORE": 0,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_NOFILE": 32,
}
_LIMITS_WITHOUT_FILTER: Final = {"RLIMIT_NPROC": 0}
"""A limit of processes also refuses threads, so it is only for systems that cannot filter calls."""


def confine(folders: Iterable[str], *, memory: int = MEMORY_BYTES) -> None:
    """Give up, for good, every right that reading does not need; modules in these folders can be imported."""
    allowed = tuple(
        os.path.join(os.path.realpath(folder), "")
        for folder in folders
        if os.path.isdir(folder)
    )
    _set_limits({**_LIMITS, "RLIMIT_AS": memory})
    if sys.platform != "linux" or not _confine_by_kernel(allowed):
        _set_limits(_LIMITS_WITHOUT_FILTER)
    sys.addaudithook(lambda event, arguments: _check_event(event, arguments, allowed))


# ── the audit hook ────────────────────────────────────────────────────────────────────────────────

_LISTING_EVENTS: Final = ("os.listdir", "os.scandir")
_REFUSED_MODULES: Final = (
    *(
        "os.",
        "socket.",
        "subprocess.",
        "shutil.",
        "tempfile.",
        "urllib.",
        "http.",
        "ftplib.",
    ),
    "winreg.",
)
_REFUSED_EVENTS: Final = (
    "ctypes.dlopen",
    "_winapi.CreateProcess",
    "webbrowser.open",
    "pty.spawn",
)


def _check_event(event: str, arguments: Sequence[object], folders: tuple[str, ...]) -> None:
    """Raise `PermissionError` for a call that a reader does not need."""
    if event == "open" or event in _LISTING_EVENTS:
        path = arguments[0]
        flags = arguments[2] if event == "open" else 0
        is_write = isinstance(flags, int) and flags & WRITE_FLAGS
        if is_write or not _is_below(path, folders):
            raise PermissionError(f"a reader may not open {path!r}")
    elif event.startswith(_REFUSED_MODULES) or event in _REFUSED_EVENTS:
        raise PermissionError(f"a reader may not do {event}")


def _is_below(path: object, folders: tuple[str, ...]) -> bool:
    if not isinstance(path, (str, bytes)):  # an open descriptor, or None
        return False
    real_path = os.path.realpath(os.fsdecode(path))
    return os.path.join(real_path, "").startswith(folders)


# ── limits ────────────────────────────────────────────────────────────────────────────────────────


def _set_limits(limits: Mapping[str, int]) -> None:
    """Set limits of the system; Windows has none of them."""
    if sys.platform == "win32":
        return
    for name, limit in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some
            hard_limit = resource.getrlimit(kind)[1]
            if hard_limit != resource.RLIM_INFINITY:
                limit = min(limit, hard_limit)
            resource.setrlimit(kind, (limit, limit))


# ── Linux: numbers of the kernel's interface ──────────────────────────────────────────────────────

_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
_SECCOMP_SET_FILTER: Final = 1
_SECCOMP_ALL_THREADS: Final = 1
_CLONE_NEWUSER_AND_NEWNET: Final = 0x10000000 | 0x40000000
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT_SELF: Final = 446
_LANDLOCK_RULE_PATH_BENEATH: Final = 1
_LANDLOCK_READ_RIGHTS: Final = 0b1100
_LANDLOCK_ALL_RIGHTS: Final = 0x1FFF
"""All rights that the first version of Landlock can refuse."""


def _confine_by_kernel(folders: Sequence[str]) -> bool:
    """Let the kernel refuse as much as it can; return whether it filters system calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    libraries = [os.path.join(prefix, "lib") for prefix in {sys.prefix, sys.base_prefix}]
    _restrict_folders(
        libc,
        [*folders, *libraries, "/lib", "/lib64", "/usr/lib", "/usr/lib64"],
    )
    is_filtered = _restrict_calls(libc)
    if not is_filtered:
        libc.unshare(_CLONE_NEWUSER_AND_NEWNET)
    return is_filtered


def _restrict_folders(libc: ctypes.CDLL, folders: Iterable[str]) -> None:
    """Allow reading files below these folders and nowhere else."""
    attributes = ctypes.create_string_buffer(struct.pack("=Q", _LANDLOCK_ALL_RIGHTS), 8)
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return
    for folder in folders:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            rule = ctypes.create_string_buffer(
                struct.pack("=Qi", _LANDLOCK_READ_RIGHTS, descriptor), 12
            )
            libc.syscall(
                _LANDLOCK_ADD_RULE,
                ruleset,
                _LANDLOCK_RULE_PATH_BENEATH,
                rule,
                0,
            )
            os.close(descriptor)
    libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _restrict_calls(libc: ctypes.CDLL) -> bool:
    """Refuse system calls that reading does not need; return whether the kernel and the machine can."""
    program = build_call_filter()
    if not program:
        return False
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    )
    # A library may have started threads at its import, and `prctl` would leave them out.
    if libc.syscall(seccomp_call(), _SECCOMP_SET_FILTER, _SECCOMP_ALL_THREADS, header) == 0:
        return True
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0)
