"""The instruments: time, memory, cores, and child processes that report in JSON."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.provenance import ROOT

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LANCE_CPU_THREADS",
    "TOKIO_WORKER_THREADS",
)
"""Peers count the machine's cores and not those they may use: told by name as well."""

CACHE = ROOT / ".cache" / "bench"


class Absent(Exception):
    """Something a measurement needs that is not here, with a sentence on how to get it."""


class Failed(Exception):
    """A child process that did not report, with the end of what it said."""


def tell(line: str) -> None:
    """Show progress where it does not mix with the result."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def pin(cores: int) -> None:
    """Keep this process on a number of cores, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def rss_mb() -> float:
    """Return this process's resident memory now, or its peak where the system tells only that."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    return peak_mb()


def peak_mb() -> float:
    """Return the most resident memory that this process has had."""
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 1024), 1)


def code_mb() -> float:
    """Return how much of the resident memory is code of libraries, 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    kilobytes, code = 0, False
    for line in lines:
        name, _, value = line.partition(" ")
        if not name.endswith(":"):  # a mapping: addresses, rights, and the file it is of
            code = ".so" in line.rpartition("/")[2]
        elif code and name == "Rss:":
            kilobytes += int(value.split()[0])
    return round(kilobytes / 1024, 1)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else float("nan")


def milliseconds(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return how long each call took."""
    taken: list[float] = []
    for call in calls:
        started = time.perf_counter()
        call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def median(values: Sequence[float]) -> float:
    """Return the median, rounded to what a clock can tell."""
    return round(statistics.median(values), 4) if values else float("nan")


def folder_bytes(folder: Path) -> int:
    """Return how much room the files in a folder take, links not followed."""
    return sum(
        path.lstat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


def ratios(
    ours: Mapping[str, Any], peer: Mapping[str, Any], pairs: Mapping[str, str]
) -> dict[str, float]:
    """Return name → peer divided by ours, for the keys both have."""
    found: dict[str, float] = {}
    for name, key in pairs.items():
        one, other = ours.get(key), peer.get(key)
        if isinstance(one, int | float) and isinstance(other, int | float) and one > 0:
            found[name] = round(other / one, 3)
    return found


def as_installed() -> dict[str, str]:
    """Return an environment where our code is found and its byte code is kept, as an installed package's is."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(CACHE / "bytecode")
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return environment


def child(
    module: str,
    spec: Mapping[str, Any],
    *,
    python: str | None = None,
    cores: int = 1,
    timeout: float = 3600,
) -> dict[str, Any]:
    """Return what a module said about a spec, run in a process of its own on so many cores.

    Where the spec says `shown`, what it tells on the way is seen at once.
    """
    environment = as_installed()
    environment.update({name: str(cores) for name in THREAD_VARIABLES})
    environment.update(
        TOKENIZERS_PARALLELISM="false", ANONYMIZED_TELEMETRY="False", HF_HUB_OFFLINE="1"
    )
    done = subprocess.run(
        [python or sys.executable, "-m", module],
        input=json.dumps({"cores": cores, **spec}),
        stdout=subprocess.PIPE,
        stderr=None if spec.get("shown") else subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
        timeout=timeout,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        said = (done.stderr or "").strip().splitlines()
        raise Failed(f"{module}: {said[-1][:400] if said else f'exit code {done.returncode}'}")
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def answer(work: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Read a spec, stay on its cores, do the work and report: the other end of `child`."""
    spec = json.load(sys.stdin)
    pin(int(spec.get("cores", 1)))
    sys.stdout.write("\n" + json.dumps(work(spec)) + "\n")
