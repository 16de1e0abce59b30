"""The confined reader: if its process crashes or hangs, the parent survives and reads the next file."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.errors import ReadError
from ragstone.read.choose_reader import reader_for
from ragstone.read.confined_reader import ConfinedReader
from ragstone.read.python_command import build_command
from ragstone.types import Document, Mark
from tests.read import bad_readers
from tests.read.pdf_files import lines, pdf
from tests.support.formats import get_format
from tests.support.processes import is_gone

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.extend(sys.argv[1:])
import ragstone.read.confined_main as confined_main
from ragstone.read.file_formats import Format
from tests.read import bad_readers
names = [name for name in dir(bad_readers) if name.islower() and not name.startswith("_")]
confined_main.FORMATS = tuple(Format(name, (name,), f"tests.read.bad_readers:{name}") for name in names)
confined_main.main()
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has no limits of this kind")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what the Linux kernel refuses")


def command() -> list[str]:
    usual = build_command("ragstone.read.confined_main")
    return [*usual[:5], PROGRAM, *usual[6:], str(ROOT)]


Make = Callable[..., ConfinedReader]


@pytest.fixture
def make() -> Iterator[Make]:
    readers: list[ConfinedReader] = []

    def make_reader(
        program: list[str] | None = None, *, deadline: float = 20.0, idle: float = 20.0
    ) -> ConfinedReader:
        reader = ConfinedReader(program or command(), deadline=deadline, idle=idle)
        readers.append(reader)
        return reader

    yield make_reader
    for reader in readers:
        reader.close()


# ── what comes through ────────────────────────────────────────────────────────────────────────────


def test_the_process_returns_the_document_of_the_reading_function(make: Make) -> None:
    found = make().read("good", "Grüße 😀\n".encode(), "a.odd")
    assert found == bad_readers.good("Grüße 😀\n".encode(), "a.odd")
    assert found.marks == (Mark(0, 1, "i"),)


def test_a_pdf_gives_the_same_document_in_the_process_and_here() -> None:
    data = pdf([lines("One line here."), lines("And one there.")])
    assert reader_for("a.pdf").read(data, "a.pdf") == get_format("pdf").load()(data, "a.pdf")


def test_one_process_reads_several_files(make: Make) -> None:
    reader = make()
    assert len({reader.read("pid", b"", "a").text for _ in range(5)}) == 1


def test_the_memory_of_the_parent_does_not_count_for_the_process(make: Make) -> None:
    ballast = b"x" * (450 << 20)
    reader = make()
    assert len({reader.read("pid", b"", "a").text for _ in range(3)}) == 1
    assert ballast[-1:] == b"x"


@LINUX
def test_a_process_that_used_much_memory_is_replaced(make: Make) -> None:
    reader = make()
    first = reader.read("pid", b"", "a").text
    reader.read("swells", b"", "a")
    assert reader.read("pid", b"", "a").text != first


def test_lone_surrogates_become_question_marks(make: Make) -> None:
    found = make().read("surrogates", b"", "a")
    assert found == Document("a", "a?b", title="t?", metadata={"k?": "v?"}, remarks=("r?",))


def test_output_printed_by_a_library_is_ignored(make: Make) -> None:
    assert make().read("prints", b"", "a").text == "said"


def test_a_module_can_be_imported_after_confinement(make: Make) -> None:
    assert (
        make().read("imports_late", "ψ".encode("cp1253"), "a").text
        == "colorsys html.entities ψ"
    )


# ── trouble ───────────────────────────────────────────────────────────────────────────────────────

TROUBLES = [
    ("segfaults", "crash"),
    ("leaves", "crash"),
    ("loops", "timeout"),
    ("loops_in_c", "timeout"),
    ("sleeps", "timeout"),
    pytest.param("takes_memory", "memory", marks=POSIX),
    pytest.param("takes_native_memory", "memory", marks=LINUX),
    ("says_much", "too-big"),
    ("recurses", "damaged"),
    ("raises", "damaged"),
    ("refuses", "password"),
    ("lies_about_marks", "crash"),
    ("no_such_format", "unsupported"),
]


@pytest.mark.parametrize(("name", "reason"), TROUBLES)
@pytest.mark.parametrize("used", [False, True], ids=["at first", "later"])
def test_a_failure_has_a_reason_and_the_next_file_is_read(
    make: Make, name: str, reason: str, used: bool
) -> None:
    reader = make(deadline=1.5 if reason == "timeout" else 20.0)
    if used:
        reader.read("good", b"before", "a")
    with pytest.raises(ReadError) as failed:
        reader.read(name, b"", "a")
    assert failed.value.reason == reason
    assert failed.value.message
    assert reader.read("good", b"next", "b").text == "next"


@LINUX
def test_a_reader_gets_at_most_a_gigabyte(make: Make) -> None:
    with pytest.raises(ReadError, match="MB") as failed:
        make().read("takes_native_memory", b"", "a")
    assert 500 < int(failed.value.message.split()[0]) < 1100


NONSENSE = [
    "raise SystemExit(3)",
    "import sys; sys.stdout.buffer.write(bytes(range(256)) * 99)",
    "import sys, struct; sys.stdout.buffer.write(struct.pack('>QQ', 2**31, 2**31))",
    "import time; time.sleep(600)",
]
TALK = """
import sys, struct, json
def reply(header, payload=b"", status=(1, False)):
    text = json.dumps([*status, header]).encode()
    sys.stdout.buffer.write(struct.pack('>QQ', len(text), len(payload)) + text + payload); sys.stdout.buffer.flush()
sys.stdin.buffer.read(16)
"""
ANSWERS = [
    "reply([['a', '', 'doc'], None], b'text')",
    "reply([['a', '', '', '', '', {}, [], '', [], None], None], b'text', (2, False))",
    "reply([['a', '', '', '', '', {}, [], '', [], None], None], bytes([255]))",
    "reply([['a', '', '', '', '', {'a': {}}, [], '', [], None], None])",
    "reply([['a', '', '', '', 't\\ud83d', {}, [], '', [], None], None])",
    "reply([None, ['no such reason', 'message']])",
    "reply([None, None])",
    "reply(7)",
    "reply([[]] * 9)",
    "reply([None, None], status=())",
    "sys.stdout.buffer.write(struct.pack('>QQ', 9, 0) + b'[' * 9)",
    "t = b'[' * 9 ** 5; sys.stdout.buffer.write(struct.pack('>QQ', len(t), 0) + t)",
]


@pytest.mark.parametrize("program", [*NONSENSE, *(TALK + answer for answer in ANSWERS)])
def test_an_invalid_reply_is_rejected_and_ends_the_process(make: Make, program: str) -> None:
    reader = make([sys.executable, "-I", "-c", program], deadline=3.0)
    with pytest.raises(ReadError) as failed:
        reader.read("good", b"text", "a")
    assert failed.value.reason in ("crash", "timeout")
    assert reader.pid is None


def test_a_process_killed_between_files_is_replaced(make: Make) -> None:
    reader = make()
    for _ in range(3):
        pid = int(reader.read("pid", b"", "a").text)
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        assert reader.read("good", b"still read", "b").text == "still read"


def test_a_frozen_program_gets_an_error_with_a_hint(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/app/server")
    with pytest.raises(ReadError) as failed:
        make().read("good", b"", "a")
    assert failed.value.reason == "unsupported"
    assert "Python" in failed.value.hint


def test_a_command_that_does_not_exist_is_reported(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no process could be started"):
        make([str(tmp_path / "none")]).read("good", b"", "a")


@POSIX
def test_after_an_interrupt_the_next_file_gets_its_own_reply(make: Make) -> None:
    reader = make()
    reader.read("good", b"reader", "a")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            reader.read("sleeps", b"", "a")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert reader.read("good", b"mine", "b").text == "mine"


def test_concurrent_threads_each_get_their_own_document(make: Make) -> None:
    reader = make()

    def one(number: int) -> bool:
        if number % 7 == 0:
            with pytest.raises(ReadError):
                reader.read("leaves", b"", "a")
            return True
        return reader.read("good", f"text {number}".encode(), "a").text == f"text {number}"

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(1, 60)))


def test_waiting_for_other_threads_does_not_count_for_the_deadline(make: Make) -> None:
    reader = make(deadline=1.5)
    with ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(reader.read, "sleeps", b"", "a") for _ in range(2)]
        time.sleep(0.2)
        assert pool.submit(reader.read, "good", b"mine", "b").result().text == "mine"
        assert [one.exception().reason for one in slow] == ["timeout"] * 2  # type: ignore[union-attr]  # ReadError


def test_kill_ends_a_reading_in_progress(make: Make) -> None:
    reader = make()
    with ThreadPoolExecutor(1) as pool:
        reader.read("good", b"", "a")
        slow = pool.submit(reader.read, "sleeps", b"", "a")
        time.sleep(0.3)
        reader.kill()
        assert isinstance(slow.exception(10), ReadError)


# ── reaching out ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("a secret")
    return path


@pytest.mark.parametrize("name", ["opens", "writes", "lists", "removes", "starts", "forks"])
def test_a_reader_reaches_no_file_and_no_program(make: Make, secret: Path, name: str) -> None:
    given = secret.parent if name == "lists" else secret
    with pytest.raises(ReadError, match="PermissionError") as failed:
        make().read(name, bytes(given), "a")
    assert failed.value.reason == "damaged"
    assert secret.read_text() == "a secret"


def test_a_reader_makes_no_file(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="PermissionError"):
        make().read("writes", bytes(tmp_path / "new"), "a")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_reaches_no_network(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        with pytest.raises(ReadError, match="PermissionError"):
            make().read("connects", str(server.getsockname()[1]).encode(), "a")
        with pytest.raises(TimeoutError):
            server.accept()


@LINUX
def test_native_code_reaches_no_further(make: Make, secret: Path) -> None:
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("no list of system calls for this machine")
    through = make().read("natively", bytes(secret), "a").text.split()
    assert set(through) <= {"open"}  # files are kept away by Landlock, which older kernels lack
    assert secret.read_text() == "a secret"


# ── when it ends ──────────────────────────────────────────────────────────────────────────────────


@POSIX
def test_close_ends_the_process(make: Make) -> None:
    reader = make()
    reader.read("good", b"", "a")
    pid = reader.pid
    reader.close()
    assert is_gone(pid)
    assert reader.pid is None
    assert reader.read("good", b"again", "a").text == "again"


@POSIX
def test_an_idle_process_ends_by_itself_and_leaks_no_thread(make: Make) -> None:
    reader, threads = make(idle=0.2), threading.active_count()
    reader.read("good", b"", "a")
    assert is_gone(reader.pid)
    assert reader.pid is None
    for _ in range(100):
        if threading.active_count() <= threads:
            break
        time.sleep(0.05)
    assert threading.active_count() <= threads
    assert reader.read("good", b"again", "a").text == "again"
