"""The process that reads: whatever becomes of it, the parent lives, says why, and reads the next file."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.errors import ReadError
from ragstone.read import process
from ragstone.read.child import Warm
from ragstone.read.choose import reader_for
from ragstone.read.formats import named
from ragstone.types import Document, Mark
from tests.read import bad_readers
from tests.read.pdf_files import lines, pdf

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.extend(sys.argv[1:])
import ragstone.read.child_main as child
from ragstone.read.formats import Format
from tests.read import bad_readers
names = [name for name in dir(bad_readers) if name.islower() and not name.startswith("_")]
child.FORMATS = tuple(Format(name, (name,), f"tests.read.bad_readers:{name}") for name in names)
child.main()
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has no limits of this kind")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what the Linux kernel refuses")


def command() -> list[str]:
    usual = process.command("ragstone.read.child_main")
    return [*usual[:5], PROGRAM, *usual[6:], str(ROOT)]


Make = Callable[..., Warm]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Warm] = []

    def one(given: list[str] | None = None, *, deadline: float = 20.0, idle: float = 20.0) -> Warm:
        made.append(Warm(command() if given is None else given, deadline=deadline, idle=idle))
        return made[-1]

    yield one
    for warm in made:
        warm.close()


def gone(pid: int | None) -> bool:
    """Return whether a process is neither running nor waiting to be forgotten."""
    for _ in range(200):
        try:
            os.kill(pid or 0, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


# ── what comes through ────────────────────────────────────────────────────────────────────────────


def test_a_document_comes_through_the_process_as_it_was_made(make: Make) -> None:
    found = make().read("good", "Grüße 😀\n".encode(), "a.odd")
    expected = bad_readers.good("Grüße 😀\n".encode(), "a.odd")
    assert found == expected
    assert found.marks == (Mark(0, 1, "i"),)


def test_a_pdf_is_read_by_the_real_process_as_it_would_be_here() -> None:
    data = pdf([lines("One line here."), lines("And one there.")])
    assert reader_for("a.pdf").read(data, "a.pdf") == named("pdf").load()(data, "a.pdf")


def test_files_one_after_another_are_read_by_one_process(make: Make) -> None:
    warm = make()
    assert len({warm.read("pid", b"", "a").text for _ in range(5)}) == 1


def test_a_big_program_has_its_files_read_by_one_process_too(make: Make) -> None:
    ballast = b"x" * (450 << 20)
    warm = make()
    assert len({warm.read("pid", b"", "a").text for _ in range(3)}) == 1
    assert ballast[-1:] == b"x"


@LINUX
def test_a_process_that_took_much_memory_is_not_used_again(make: Make) -> None:
    warm = make()
    first = warm.read("pid", b"", "a").text
    warm.read("swells", b"", "a")
    assert warm.read("pid", b"", "a").text != first


def test_halves_of_characters_do_not_come_through(make: Make) -> None:
    found = make().read("surrogates", b"", "a")
    assert found == Document("a", "a?b", title="t?", metadata={"k?": "v?"}, remarks=("r?",))


def test_what_a_library_prints_is_no_answer(make: Make) -> None:
    assert make().read("prints", b"", "a").text == "said"


def test_a_module_that_is_needed_late_can_still_be_imported(make: Make) -> None:
    assert make().read("imports_late", "ψ".encode("cp1253"), "a").text == "colorsys html.entities ψ"


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
def test_trouble_is_a_reason_and_the_next_file_is_read(make: Make, name: str, reason: str, used: bool) -> None:
    warm = make(deadline=1.5 if reason == "timeout" else 20.0)
    if used:
        warm.read("good", b"before", "a")
    with pytest.raises(ReadError) as failed:
        warm.read(name, b"", "a")
    assert failed.value.reason == reason
    assert failed.value.message
    assert warm.read("good", b"next", "b").text == "next"


@LINUX
def test_no_reader_gets_more_than_a_gigabyte(make: Make) -> None:
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
def say(told, blob=b""):
    text = json.dumps(told).encode()
    sys.stdout.buffer.write(struct.pack('>QQ', len(text), len(blob)) + text + blob); sys.stdout.buffer.flush()
say("ragstone read 1")
sys.stdin.buffer.read(16)
"""
ANSWERS = [
    "say([1, False, 'read', 'doc'], b'text')",
    "say([2, False, 'read', '', '', '', {}, [], '', []], b'text')",
    "say([1, False, 'read', '', '', '', {}, [], '', []], bytes([255]))",
    "say([1, False, 'read', '', '', '', {'a': {}}, [], '', []])",
    "say([1, False, 'no such reason', 'message'])",
    "say(7)",
    "say([[]] * 9)",
    "sys.stdout.buffer.write(struct.pack('>QQ', 9, 0) + b'[' * 9)",
    "t = b'[' * 9 ** 5; sys.stdout.buffer.write(struct.pack('>QQ', len(t), 0) + t)",
]


@pytest.mark.parametrize("program", [*NONSENSE, *(TALK + answer for answer in ANSWERS)])
def test_a_process_that_talks_nonsense_is_not_believed(make: Make, program: str) -> None:
    warm = make([sys.executable, "-I", "-c", program], deadline=3.0)
    with pytest.raises(ReadError) as failed:
        warm.read("good", b"text", "a")
    assert failed.value.reason in ("crash", "timeout")
    assert warm.pid is None


def test_a_process_that_was_killed_between_files_costs_no_file(make: Make) -> None:
    warm = make()
    for _ in range(3):
        pid = int(warm.read("pid", b"", "a").text)
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        assert warm.read("good", b"still read", "b").text == "still read"


def test_without_a_python_to_start_the_error_says_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/app/server")
    with pytest.raises(ReadError) as failed:
        make().read("good", b"", "a")
    assert failed.value.reason == "unsupported"
    assert "Python" in failed.value.hint


def test_a_program_that_is_not_there_is_a_reason_too(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no process could be started"):
        make([str(tmp_path / "none")]).read("good", b"", "a")


@POSIX
def test_an_answer_never_meets_another_question(make: Make) -> None:
    warm = make()
    warm.read("good", b"warm", "a")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            warm.read("sleeps", b"", "a")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert warm.read("good", b"mine", "b").text == "mine"


def test_threads_that_read_at_once_each_get_their_own(make: Make) -> None:
    warm = make()

    def one(number: int) -> bool:
        if number % 7 == 0:
            with pytest.raises(ReadError):
                warm.read("leaves", b"", "a")
            return True
        return warm.read("good", f"text {number}".encode(), "a").text == f"text {number}"

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(1, 60)))


def test_waiting_for_others_takes_nothing_of_a_files_own_time(make: Make) -> None:
    warm = make(deadline=1.5)
    with ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(warm.read, "sleeps", b"", "a") for _ in range(2)]
        time.sleep(0.2)
        assert pool.submit(warm.read, "good", b"mine", "b").result().text == "mine"
        assert [one.exception().reason for one in slow] == ["timeout"] * 2  # type: ignore[union-attr]  # ReadError


def test_a_program_that_ends_does_not_wait_for_a_file(make: Make) -> None:
    warm = make()
    with ThreadPoolExecutor(1) as pool:
        warm.read("good", b"", "a")
        slow = pool.submit(warm.read, "sleeps", b"", "a")
        time.sleep(0.3)
        warm.end()
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
def test_a_process_that_is_closed_is_gone(make: Make) -> None:
    warm = make()
    warm.read("good", b"", "a")
    pid = warm.pid
    warm.close()
    assert gone(pid)
    assert warm.pid is None
    assert warm.read("good", b"again", "a").text == "again"


@POSIX
def test_a_process_that_nobody_needs_ends_by_itself(make: Make) -> None:
    warm, threads = make(idle=0.2), threading.active_count()
    warm.read("good", b"", "a")
    assert gone(warm.pid)
    assert warm.pid is None
    for _ in range(100):
        if threading.active_count() <= threads:
            break
        time.sleep(0.05)
    assert threading.active_count() <= threads
    assert warm.read("good", b"again", "a").text == "again"


READS = """
import sys, time
from ragstone.read import child
from ragstone.read.choose import reader_for
reader_for("a.pdf").read(open(sys.argv[1], "rb").read(), "a.pdf")
print(child._WARM.pid, flush=True)
if sys.argv[2] == "wait":
    time.sleep(600)
"""


@POSIX
@pytest.mark.parametrize("how", ["leave", "wait"], ids=["ends", "is killed"])
def test_no_process_is_left_behind_when_the_program(tmp_path: Path, how: str) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([lines("A line.")]))
    with subprocess.Popen(
        [sys.executable, "-c", READS, str(tmp_path / "a.pdf"), how],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "src")},
    ) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        if how == "wait":
            program.kill()
        program.wait(30)
    assert gone(pid)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_forked_copy_of_the_program_gets_a_process_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(FORKS)
    ran = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": f"{ROOT}:{ROOT}/src"},
    )
    assert ran.stdout.split() == ["copy", "True", "original", "True"], ran.stderr


FORKS = """
import os
from ragstone.read import child
from ragstone.read.choose import reader_for
from tests.read.pdf_files import lines, pdf
def read(word):
    return reader_for("a.pdf").read(pdf([lines(word)]), "a.pdf").text == word
read("before")
before = child._WARM.pid
copy = os.fork()
if copy == 0:
    print("copy", read("copied") and child._WARM.pid != before, flush=True)
    os._exit(0)
os.waitpid(copy, 0)
print("original", read("after") and child._WARM.pid == before, flush=True)
"""
