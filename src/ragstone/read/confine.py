"""Confining a process that reads untrusted files.

An audit hook refuses dangerous calls of Python code on every system. Linux and macOS also limit
memory, open files and written bytes. On Linux the kernel refuses network, programs, signals and
other files to native code, by seccomp and Landlock. If a kernel lacks seccomp, the process gets an
empty network instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

if sys.platform != "win32":
    import resource

MEMORY_BYTES: Final = 1 << 30
"""Of address space."""
_LIMITS: Final = {
    "RLIMIT_AS": MEMORY_BYTES,
    "RLIMIT_CORE": 0,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_NPROC": 0,
    "RLIMIT_NOFILE": 32,
}


def confine(folders: Iterable[str]) -> None:
    """Give up, for good, every right that reading does not need; modules in these folders can be imported."""
    allowed = tuple(
        os.path.join(os.path.realpath(folder), "")
        for folder in folders
        if os.path.isdir(folder)
    )
    set_limits()
    if sys.platform == "linux":
        _confine_by_kernel(allowed)
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
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _check_event(event: str, arguments: Sequence[object], folders: tuple[str, ...]) -> None:
    """Raise `PermissionError` for a call that a reader does not need."""
    if event == "open" or event in _LISTING_EVENTS:
        path = arguments[0]
        flags = arguments[2] if event == "open" else 0
        is_write = isinstance(flags, int) and flags & _WRITE_FLAGS
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


def set_limits() -> None:
    """Set the limits of the system; Windows has none of them."""
    if sys.platform == "win32":
        return
    for name, limit in _LIMITS.items():
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
_CLONE_NEWUSER_AND_NEWNET: Final = 0x10000000 | 0x40000000
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT_SELF: Final = 446
_LANDLOCK_RULE_PATH_BENEATH: Final = 1
_LANDLOCK_READ_RIGHTS: Final = 0b1100
_LANDLOCK_ALL_RIGHTS: Final = 0x1FFF
"""All rights that the first version of Landlock can refuse."""

_ARCHITECTURES: Final = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
"""The column of an architecture in the tables below, and its number in the kernel."""
_REFUSED_CALLS: Final = """
socket 41 198, connect 42 203, accept 43 202, sendto 44 206, sendmsg 46 211, bind 49 200, listen 50 201
clone 56 220, fork 57 -, vfork 58 -, clone3 435 435, execve 59 221, execveat 322 281, ptrace 101 117
kill 62 129, tkill 200 130, tgkill 234 131, pidfd_send_signal 424 424, prlimit64 302 261
process_vm_readv 310 270, process_vm_writev 311 271, bpf 321 280, unshare 272 97, setns 308 268, mount 165 40
io_uring_setup 425 425, openat2 437 437, open_by_handle_at 304 265, creat 85 -, truncate 76 45
rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37
unlink 87 -, unlinkat 263 35, symlink 88 -, symlinkat 266 36, chmod 90 -, fchmodat 268 53, chown 92 -, fchownat 260 54
"""
"""System calls that reach out of the process, and those that open files without flags to check."""
_OPEN_CALLS: Final = "open 2 -, openat 257 56"
_FLAG_ARGUMENT: Final = {"open": 1, "openat": 2}

# Instructions and results of the filter program.
_LOAD: Final = 0x20
_JUMP_IF_EQUAL: Final = 0x15
_JUMP_IF_AT_LEAST: Final = 0x35
_JUMP_IF_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | 1
_CALL_OFFSET: Final = 0
_ARCHITECTURE_OFFSET: Final = 4
_ARGUMENTS_OFFSET: Final = 16
_FOREIGN_CALLS: Final = 0x40000000

Instruction = tuple[int, int, int, int]


def _confine_by_kernel(folders: Sequence[str]) -> None:
    """Let the kernel refuse as much as it can."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return
    libraries = [os.path.join(prefix, "lib") for prefix in {sys.prefix, sys.base_prefix}]
    _restrict_folders(
        libc,
        [*folders, *libraries, "/lib", "/lib64", "/usr/lib", "/usr/lib64"],
    )
    if not _restrict_calls(libc):
        libc.unshare(_CLONE_NEWUSER_AND_NEWNET)


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
    """Refuse system calls that reach out of the process; return whether the kernel and the machine can."""
    column, architecture = _ARCHITECTURES.get(os.uname().machine, (0, 0))
    if not architecture or sys.maxsize < 1 << 32:
        return False
    refused = list(_call_numbers(_REFUSED_CALLS, column).values())
    opening = {
        number: _FLAG_ARGUMENT[name]
        for name, number in _call_numbers(_OPEN_CALLS, column).items()
    }
    program = _build_filter(architecture, refused, opening)
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    )
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0)


def _call_numbers(table: str, column: int) -> dict[str, int]:
    """Return the numbers of system calls on an architecture, without those that it lacks."""
    numbers: dict[str, int] = {}
    for row in table.replace("\n", ",").split(","):
        name, *columns = row.split() or [""]
        if name and columns[column] != "-":
            numbers[name] = int(columns[column])
    return numbers


def _build_filter(
    architecture: int, refused: Iterable[int], opening: Mapping[int, int]
) -> bytes:
    """Return the filter program: it refuses calls of foreign modes, refused calls, and opening to write."""
    steps: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _CALL_OFFSET),
        (_JUMP_IF_AT_LEAST, 0, 1, _FOREIGN_CALLS),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in refused:
        steps += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for number, flag_argument in opening.items():
        steps += [
            (_JUMP_IF_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _ARGUMENTS_OFFSET + 8 * flag_argument),
            (_JUMP_IF_ANY_BIT, 0, 1, _WRITE_FLAGS),
            (_RETURN, 0, 0, _REFUSE),
            (_RETURN, 0, 0, _ALLOW),
        ]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
