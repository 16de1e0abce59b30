"""Readers that call the kernel directly, as native code that a hostile file took over would."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import threading
from pathlib import Path

import numpy as np
import onnxruntime

import ragstone.embed
from ragstone.types import Document

SYSTEM = ctypes.CDLL(None, use_errno=True)
MODEL = (Path(ragstone.embed.__file__).parent / "data" / "minilm-int8.onnx").read_bytes()
COLUMN = 0 if platform.machine() == "x86_64" else 1
CALLS = {
    "fchmodat2": (452, 452),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "utimensat": (280, 88),
    "fchownat": (260, 54),
    "fchown": (93, 55),
    "fchmod": (91, 52),
    "mknodat": (259, 33),
    "mkdirat": (258, 34),
    "unlinkat": (263, 35),
    "renameat2": (316, 276),
    "symlinkat": (266, 36),
    "linkat": (265, 37),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "sendto": (44, 206),
    "io_uring_setup": (425, 425),
    "memfd_create": (319, 279),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "ptrace": (101, 117),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "setrlimit": (160, 164),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "chroot": (161, 51),
    "chdir": (80, 49),
    "umask": (95, 166),
    "setsid": (112, 157),
    "execveat": (322, 281),
    "open_by_handle_at": (304, 265),
    "openat2": (437, 437),
    "name_to_handle_at": (303, 264),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444),
    "seccomp": (317, 277),
    "personality": (135, 92),
    "setuid": (105, 146),
    "capset": (126, 91),
    "sethostname": (170, 161),
    "syslog": (103, 116),
    "reboot": (169, 142),
    "clone3": (435, 435),
}
"""The number of each call on x86_64 and aarch64."""


def refused(data: bytes, uri: str) -> Document:
    """Return the calls that the kernel did not refuse as forbidden or unknown, with their results."""
    path = ctypes.c_char_p(data)
    through = {}
    for name, numbers in CALLS.items():
        ctypes.set_errno(0)
        result = SYSTEM.syscall(numbers[COLUMN], path, path, path, 0, 0, 0)
        if result != -1 or ctypes.get_errno() not in (1, 38):
            through[name] = [result, ctypes.get_errno()]
    return Document(uri, json.dumps(through))


def arguments(data: bytes, uri: str) -> Document:
    """Return the calls with forbidden arguments that the kernel let through."""
    number = {
        "fcntl": (72, 25),
        "ioctl": (16, 29),
        "prctl": (157, 167),
        "prlimit64": (302, 261),
    }
    limits = ctypes.create_string_buffer(bytes(16))
    tries = {
        "write a file": SYSTEM.open(data, os.O_WRONLY),
        "make a file": SYSTEM.open(data + b".new", os.O_CREAT | os.O_RDWR, 0o600),
        "fork": SYSTEM.syscall((56, 220)[COLUMN], 17, 0, 0, 0, 0),
        "own a file": SYSTEM.syscall(number["fcntl"][COLUMN], 0, 8, 1),
        "type into a terminal": SYSTEM.syscall(number["ioctl"][COLUMN], 0, 0x5412, data),
        "be dumpable": SYSTEM.syscall(number["prctl"][COLUMN], 4, 1, 0, 0, 0),
        "set a limit": SYSTEM.syscall(number["prlimit64"][COLUMN], 0, 3, limits, 0),
        "read another's limit": SYSTEM.syscall(number["prlimit64"][COLUMN], 1, 3, 0, limits),
    }
    return Document(uri, " ".join(name for name, result in tries.items() if result != -1))


def threads(data: bytes, uri: str) -> Document:
    """Run threads of Python and of onnxruntime, and multiply matrices of NumPy."""
    results: list[int] = []
    workers = [threading.Thread(target=results.append, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(MODEL, options)
    ids = np.ones((4, 64), np.int64)
    outputs = session.run(None, {each.name: ids for each in session.get_inputs()})
    product = np.ones((256, 256)) @ np.ones((256, 256))
    return Document(uri, f"{sorted(results)} {len(outputs) > 0} {product[0, 0]}")
