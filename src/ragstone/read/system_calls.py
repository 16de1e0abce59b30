"""The system calls that a confined process may use on Linux, and the filter program that refuses all others.

The list was found with `strace -f` on all readers and on threads of NumPy and onnxruntime. If a reader
needs another call, add its row to `_ALLOWED_CALLS`. If only some arguments are harmless, add the row to
`_CHECKED_CALLS` and a condition to `_CONDITIONS`.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from typing import Final, Literal

_ARCHITECTURES: Final = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
"""The column of an architecture in the tables below, and its number in the kernel."""
_ALLOWED_CALLS: Final = """
read 0 63, write 1 64, pread64 17 67, readv 19 65, writev 20 66, lseek 8 62, close 3 57
mmap 9 222, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, brk 12 214
futex 202 98, sched_yield 24 124, clock_gettime 228 113, alarm 37 -, setitimer 38 103
newfstatat 262 79, fstat 5 80, stat 4 -, lstat 6 -, statx 332 291, getdents64 217 61, fadvise64 221 223
access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getcwd 79 17
dup 32 23, dup2 33 -, dup3 292 24, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72
set_robust_list 273 99, rseq 334 293, set_tid_address 218 96, gettid 186 178, membarrier 324 283
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120, getcpu 309 168
sched_get_priority_max 146 125, sched_get_priority_min 147 126, get_mempolicy 239 236
getpid 39 172, getppid 110 173, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177
uname 63 160, sysinfo 99 179, getrusage 98 165, times 100 153, getrlimit 97 163, getrandom 318 278
clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169, time 201 -, getitimer 36 102
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, sigaltstack 131 132, restart_syscall 219 128
exit 60 93, exit_group 231 94
"""
"""Each call with its number on x86_64 and on aarch64. Calls that readers use often come first."""
_CHECKED_CALLS: Final = """
open 2 -, openat 257 56, clone 56 220, fcntl 72 25, ioctl 16 29, prctl 157 167, prlimit64 302 261
"""
"""Calls that are allowed with some arguments only."""
_FILTER_CALL: Final = "seccomp 317 277"
_MISSING_CALLS: Final = "clone3 435 435"
"""Its arguments cannot be checked; if the kernel seems to lack it, the C library uses `clone`."""

WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD: Final = 0x10000
_FCNTL_COMMANDS: Final = (0, 1, 2, 3, 1030)
"""To duplicate a descriptor and to read or set its flags."""
_IOCTL_REQUESTS: Final = (0x5401, 0x541B, 0x5450, 0x5451)
"""TCGETS and FIONREAD, FIONCLEX, FIOCLEX: Python asks them about every file that it opens."""
_PRCTL_OPTIONS: Final = (15, 16, 0x53564D41)
"""To name a thread or a range of memory."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """A test of one 32-bit word of the arguments: `word` 2 is the lower half of the second argument."""

    word: int
    test: Literal["has no bit of", "has a bit of", "is one of"]
    values: tuple[int, ...]


_CONDITIONS: Final = {
    "open": (_Condition(2, "has no bit of", (WRITE_FLAGS,)),),
    "openat": (_Condition(4, "has no bit of", (WRITE_FLAGS,)),),
    "clone": (_Condition(0, "has a bit of", (_CLONE_THREAD,)),),
    "fcntl": (_Condition(2, "is one of", _FCNTL_COMMANDS),),
    "ioctl": (_Condition(2, "is one of", _IOCTL_REQUESTS),),
    "prctl": (_Condition(0, "is one of", _PRCTL_OPTIONS),),
    "prlimit64": (  # only to read its own limits: the address of the new limits is 0
        _Condition(0, "is one of", (0,)),
        _Condition(4, "is one of", (0,)),
        _Condition(5, "is one of", (0,)),
    ),
}

# Instructions and results of the filter program.
_LOAD: Final = 0x20
_JUMP_IF_EQUAL: Final = 0x15
_JUMP_IF_AT_LEAST: Final = 0x35
_JUMP_IF_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | 1
_SEEM_MISSING: Final = 0x00050000 | 38
_CALL_OFFSET: Final = 0
_ARCHITECTURE_OFFSET: Final = 4
_ARGUMENTS_OFFSET: Final = 16
_FOREIGN_CALLS: Final = 0x40000000
"""The calls of the x32 mode of x86_64 have this bit."""

Instruction = tuple[int, int, int, int]


def seccomp_call() -> int:
    """Return the number of the call that sets a filter; `build_call_filter` has checked the machine."""
    column, _ = _find_architecture()
    return _call_numbers(_FILTER_CALL, column)["seccomp"]


def _find_architecture() -> tuple[int, int]:
    """Return the column of this machine and its number in the kernel; 0 if it is not in the tables."""
    if sys.platform == "win32" or sys.maxsize < 1 << 32:
        return 0, 0
    return _ARCHITECTURES.get(os.uname().machine, (0, 0))


def build_call_filter() -> bytes:
    """Return the filter program for this machine; empty if its calls are not in the table."""
    column, architecture = _find_architecture()
    if not architecture:
        return b""
    steps: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _CALL_OFFSET),
        (_JUMP_IF_AT_LEAST, 0, 1, _FOREIGN_CALLS),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in _call_numbers(_ALLOWED_CALLS, column).values():
        steps += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for name, number in _call_numbers(_CHECKED_CALLS, column).items():
        block = _check_arguments(_CONDITIONS[name])
        steps += [(_JUMP_IF_EQUAL, 0, len(block), number), *block]
    for number in _call_numbers(_MISSING_CALLS, column).values():
        steps += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _SEEM_MISSING)]
    steps.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _check_arguments(conditions: tuple[_Condition, ...]) -> list[Instruction]:
    """Return the steps that allow a call if all conditions hold, and refuse it otherwise."""
    steps: list[Instruction] = []
    for condition in conditions:
        steps.append((_LOAD, 0, 0, _ARGUMENTS_OFFSET + 4 * condition.word))
        if condition.test == "is one of":
            remaining = len(condition.values)
            for value in condition.values:
                steps.append((_JUMP_IF_EQUAL, remaining, 0, value))
                remaining -= 1
        elif condition.test == "has a bit of":
            steps.append((_JUMP_IF_ANY_BIT, 1, 0, condition.values[0]))
        else:
            steps.append((_JUMP_IF_ANY_BIT, 0, 1, condition.values[0]))
        steps.append((_RETURN, 0, 0, _REFUSE))
    steps.append((_RETURN, 0, 0, _ALLOW))
    return steps


def _call_numbers(table: str, column: int) -> dict[str, int]:
    """Return the numbers of system calls on an architecture, without those that it lacks."""
    numbers: dict[str, int] = {}
    for row in table.replace("\n", ",").split(","):
        name, *columns = row.split() or [""]
        if name and columns[column] != "-":
            numbers[name] = int(columns[column])
    return numbers
