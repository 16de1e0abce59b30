"""Clients that send requests at a fixed rate, whether the server keeps up or not.

They speak HTTP over plain sockets: on two cores a full client library would take a large share of what is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CLIENTS = 64
OK = 200
MakeBody = Callable[[str], Awaitable[bytes]]
"""Returns the JSON body that asks a question."""


@dataclass
class Answers:
    """Statuses and times of one run."""

    statuses: Counter[int | str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    """Of the requests that were answered, from the moment at which they were due."""
    seconds: float = 0.0


async def send_at_rate(
    url: str, make_body: MakeBody, questions: list[str], rate: int, seconds: float
) -> Answers:
    """Send as many questions as are due; each waits for one of the clients."""
    answers = Answers()
    due: asyncio.Queue[tuple[float, str] | None] = asyncio.Queue()
    clients = [
        asyncio.create_task(_client(url, make_body, due, answers)) for _ in range(CLIENTS)
    ]
    started = time.perf_counter()
    count = 0
    while (elapsed := time.perf_counter() - started) < seconds:
        while count < elapsed * rate:
            due.put_nowait((started + count / rate, questions[count % len(questions)]))
            count += 1
        await asyncio.sleep(0.002)
    for _ in clients:
        due.put_nowait(None)
    await asyncio.gather(*clients)
    answers.seconds = time.perf_counter() - started
    return answers


async def _client(
    url: str,
    make_body: MakeBody,
    due: asyncio.Queue[tuple[float, str] | None],
    answers: Answers,
) -> None:
    """Send requests over one connection, one after the other."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    while (item := await due.get()) is not None:
        moment, question = item
        body = await make_body(question)
        head = (
            f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            writer.write(head.encode() + body)
            status = await _read_answer(reader)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            answers.statuses[type(error).__name__] += 1
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            continue
        answers.statuses[status] += 1
        if status == OK:
            answers.milliseconds.append((time.perf_counter() - moment) * 1000)
    writer.close()


async def _read_answer(reader: asyncio.StreamReader) -> int:
    """Read an answer and return its status; both servers send the length of the body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    fields = dict(line.split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
    await reader.readexactly(int(fields["content-length"]))
    return int(head.split()[1])


def processes_of(root: int) -> list[int]:
    """Return a process and those that it started, where the system says."""
    found = [root]
    for process in found:
        children = Path(f"/proc/{process}/task/{process}/children")
        if children.exists():
            found += [int(child) for child in children.read_text().split()]
    return found


def memory_mb(root: int) -> float:
    """Return the resident memory of a process and those that it started; 0 if the system does not say."""
    total = 0
    for process in processes_of(root):
        status = Path(f"/proc/{process}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return round(total / 1000, 1)


def cpu_seconds(root: int) -> float:
    """Return the CPU time of a process and those that it started."""
    ticks = 0
    for process in processes_of(root):
        status = Path(f"/proc/{process}/stat")
        if status.exists():
            fields = status.read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / 100
