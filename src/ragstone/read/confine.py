"""What a process that reads strangers' files may still do once it has loaded its readers: think, and little else.

Everywhere an audit hook refuses what Python code could try. On Linux and macOS the system limits memory (where it can),
open files and written bytes; on Linux it also refuses network, programs, signals, and files beyond Python's own folders
to native code (seccomp, Landlock; where a kernel lacks these, a network of its own with nothing in it).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

MEMORY_BYTES: Final = 1 << 30
"""Of address space."""
_MOST_OPEN: Final = 32

# ── the audit hook ────────────────────────────────────────────────────────────────────────────────

_READING: Final = frozenset({"os.listdir", "os.scandir"})
_REFUSED: Final = ("os.", "socket.", "subprocess.", "shutil.", "tempfile.", "urllib.", "http.", "ftplib.", "winreg.")
_REFUSED_TOO: Final = frozenset({"ctypes.dlopen", "_winapi.CreateProcess", "webbrowser.open", "pty.spawn"})
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine(folders: Sequence[str]) -> None:
    """Give up, for good, all that reading does not need; modules may still be imported from these folders."""
    known = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders if os.path.isdir(folder))
    limit()
    if sys.platform == "linux":
        _by_the_kernel(known)
    sys.addaudithook(lambda event, arguments: _judge(event, arguments, known))


def _judge(event: str, arguments: tuple[Any, ...], folders: tuple[str, ...]) -> None:
    """Raise `PermissionError` for what a reader has no business doing."""
    if event == "open" or event in _READING:
        path, flags = arguments[0], arguments[2] if event == "open" else 0
        if isinstance(flags, int) and flags & _WRITING or not _below(path, folders):
            raise PermissionError(f"a reader may not open {path!r}")
    elif event.startswith(_REFUSED) or event in _REFUSED_TOO:
        raise PermissionError(f"a reader may not do {event}")


def _below(path: object, folders: tuple[str, ...]) -> bool:
    if not isinstance(path, (str, bytes)):  # a descriptor that is open already, or nothing at all
        return False
    return os.path.join(os.path.realpath(os.fsdecode(path)), "").startswith(folders)


# ── limits ────────────────────────────────────────────────────────────────────────────────────────


def limit() -> None:
    """Set the limits that the system has; Windows has none of them."""
    try:
        import resource
    except ImportError:
        return
    for name, most in (
        ("RLIMIT_AS", MEMORY_BYTES),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_NOFILE", _MOST_OPEN),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            # A lower limit that was set before stays; macOS refuses some.
            with contextlib.suppress(OSError, ValueError):
                hard = resource.getrlimit(kind)[1]
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (most, most))


# ── Linux ─────────────────────────────────────────────────────────────────────────────────────────

_NO_NEW_PRIVILEGES: Final = 38
_SET_SECCOMP, _FILTER = 22, 2
_USER_AND_NETWORK: Final = 0x10000000 | 0x40000000
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ: Final = 0b1100
_ALL: Final = 0x1FFF
"""Everything that the first Landlock knows to refuse."""
_BENEATH: Final = 1

_MACHINES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Columns of the tables below, and the mark that the kernel knows the machine by."""
_CALLS: Final = """
socket 41 198, connect 42 203, accept 43 202, sendto 44 206, sendmsg 46 211, bind 49 200, listen 50 201
clone 56 220, fork 57 -, vfork 58 -, clone3 435 435, execve 59 221, execveat 322 281, ptrace 101 117
kill 62 129, tkill 200 130, tgkill 234 131, pidfd_send_signal 424 424, prlimit64 302 261
process_vm_readv 310 270, process_vm_writev 311 271, bpf 321 280, unshare 272 97, setns 308 268, mount 165 40
io_uring_setup 425 425, openat2 437 437, open_by_handle_at 304 265, creat 85 -, truncate 76 45
rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37
unlink 87 -, unlinkat 263 35, symlink 88 -, symlinkat 266 36, chmod 90 -, fchmodat 268 53, chown 92 -, fchownat 260 54
"""
"""System calls that reach out of the process, and opening files by ways that leave no flags to look at."""
_OPENING: Final = "open 2 -, openat 257 56"
_FLAGS_AT: Final = {"open": 1, "openat": 2}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1


def _by_the_kernel(folders: Sequence[str]) -> None:
    """Have the kernel refuse, to native code too, as much as this kernel can."""
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return
    libraries = [os.path.join(base, "lib") for base in {sys.prefix, sys.base_prefix}]
    _only_these_folders(system, [*folders, *libraries, "/lib", "/lib64", "/usr/lib", "/usr/lib64"])
    if not _only_these_calls(system):
        system.unshare(_USER_AND_NETWORK)


def _only_these_folders(system: ctypes.CDLL, folders: Sequence[str]) -> None:
    """Let files be read below these folders and nowhere else."""
    handled = ctypes.create_string_buffer(struct.pack("=Q", _ALL), 8)
    rules = system.syscall(_CREATE_RULES, handled, ctypes.c_size_t(8), 0)
    if rules < 0:
        return
    for folder in folders:
        with contextlib.suppress(OSError):
            place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            rule = ctypes.create_string_buffer(struct.pack("=Qi", _READ, place), 12)
            system.syscall(_ADD_RULE, rules, _BENEATH, rule, 0)
            os.close(place)
    system.syscall(_RESTRICT, rules, 0)
    os.close(rules)


def _only_these_calls(system: ctypes.CDLL) -> bool:
    """Refuse system calls that reach out of the process; return whether the kernel and this machine can."""
    column, mark = _MACHINES.get(os.uname().machine, (0, 0))
    if not mark or sys.maxsize < 1 << 32:
        return False
    opening = {number: _FLAGS_AT[name] for name, number in _numbers(_OPENING, column).items()}
    program = _program(mark, list(_numbers(_CALLS, column).values()), opening)
    steps = ctypes.create_string_buffer(program, len(program))
    told = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(steps)))
    return bool(system.prctl(_SET_SECCOMP, _FILTER, told, 0, 0) == 0)


def _numbers(table: str, column: int) -> dict[str, int]:
    """Return the numbers that a machine knows calls by; some it does not have."""
    rows = (row.split() for row in table.replace("\n", ",").split(",") if row.strip())
    return {name: int(numbers[column]) for name, *numbers in rows if numbers[column] != "-"}


def _program(mark: int, refused: Sequence[int], opening: Mapping[int, int]) -> bytes:
    """Return the filter: foreign machine modes and refused calls fail, opening fails where it would write."""
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, mark), (_RETURN, 0, 0, _REFUSE), (_LOAD, 0, 0, 0)]
    steps += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _REFUSE)]
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for number, flags_at in opening.items():
        steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, 16 + 8 * flags_at)]
        steps += [(_ANY_BIT, 0, 1, _WRITING), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
