"""Programs that hang, flood, fork, read and crash: heard out within bounds, and ended with all they started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.config import child_environment, search_path
from ragstone.errors import AccessError, InputError
from ragstone.sources.command_help.program import clean_output, find_program, run_program

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="programs are asked on Linux and macOS only"
)
NOWHERE = Path("/nonexistent")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of programs that is first in PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, source: str, *, shell: bool = False) -> Path:
    path = folder / name
    path.write_text(f"#!{'/bin/sh' if shell else sys.executable}\n{source}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # a zombie counts as dead
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return Path("/proc").is_dir() is False


def dead_soon(pid: int) -> bool:
    end = time.monotonic() + 5
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


def test_output_is_read_from_both_streams(here: Path) -> None:
    out = program(here, "out", "echo to output", shell=True)
    err = program(here, "err", "echo to errors >&2; exit 3", shell=True)
    both = program(here, "both", "echo noise >&2; echo help", shell=True)
    assert (
        run_program([str(out)], seconds=5).text,
        run_program([str(out)], seconds=5).code,
    ) == (
        "to output",
        0,
    )
    assert (
        run_program([str(err)], seconds=5).text,
        run_program([str(err)], seconds=5).code,
    ) == (
        "to errors",
        3,
    )
    assert run_program([str(both)], seconds=5).text == "help"


def test_a_program_that_hangs_is_ended(here: Path) -> None:
    hanging = program(here, "hang", "echo $$; exec sleep 600", shell=True)
    result = run_program([str(hanging)], seconds=0.5)
    assert result.problem == "it did not end in time"
    assert result.code is None
    assert dead_soon(int(result.text))


def test_a_program_that_ignores_signals_is_ended_too(here: Path) -> None:
    stubborn = program(
        here, "stubborn", "trap '' HUP INT QUIT TERM; echo $$; exec sleep 600", shell=True
    )
    assert dead_soon(int(run_program([str(stubborn)], seconds=0.5).text))


def test_a_program_that_floods_is_ended(here: Path) -> None:
    flooding = program(
        here,
        "flood",
        "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
        shell=True,
    )
    result = run_program([str(flooding)], seconds=30)
    assert result.problem == "it says too much"
    assert len(result.text) < 2_000_000


def test_a_program_gets_no_input_and_no_terminal(here: Path) -> None:
    source = "import sys\nprint(repr(sys.stdin.read()), sys.stdout.isatty())\nopen('/dev/tty')"
    reading = program(here, "reads", source)
    result = run_program([str(reading)], seconds=10)
    assert result.text == "'' False"
    assert result.code == 1


def test_background_processes_end_with_the_program(here: Path) -> None:
    leaving = program(
        here, "leave", "sleep 600 & echo $!; sleep 601 & echo $!; echo done", shell=True
    )
    result = run_program([str(leaving)], seconds=20)
    *pids, last = result.text.split()
    assert (result.code, last) == (0, "done")
    assert all(dead_soon(int(pid)) for pid in pids)


def test_a_family_of_forks_ends_with_it(here: Path) -> None:
    source = (
        "import os, sys, time\n"
        "for _ in range(4):\n    os.fork()\n"
        "os.write(1, f'{os.getpid()}\\n'.encode())\ntime.sleep(600)"
    )
    result = run_program([str(program(here, "forks", source))], seconds=3.0)
    pids = [int(pid) for pid in result.text.split()]
    assert len(pids) == 16
    assert all(dead_soon(pid) for pid in pids)


def test_one_that_escaped_its_group_is_not_waited_for(here: Path) -> None:
    source = (
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.write(1, f'{os.getpid()}\\n'.encode())\n    time.sleep(600)\n"
        "else:\n    time.sleep(0.5)\n"
    )
    result = run_program([str(program(here, "escapes", source))], seconds=60)
    assert result.code == 0
    assert alive(int(result.text))  # it holds the output open and was left behind
    os.kill(int(result.text), 9)


def test_a_crash_is_reported_with_its_signal(here: Path) -> None:
    crashing = program(here, "crash", "import os\nos.kill(os.getpid(), 11)")
    assert run_program([str(crashing)], seconds=10).code == -11


def test_a_program_gets_few_variables_and_an_empty_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    source = "import os\nprint(dict(os.environ))\nprint(os.listdir(), os.getcwd())\nopen('litter', 'w')"
    result = run_program([str(program(here, "looks", source))], seconds=10)
    environment, _, rest = result.text.partition("\n")
    assert "hunter2" not in environment
    assert "GIT_DIR" not in environment
    assert all(
        variable in environment
        for variable in (
            "'PAGER': 'cat'",
            "'TERM': 'dumb'",
            "'NO_COLOR': '1'",
            "'HOME'",
            "'PATH'",
        )
    )
    assert rest.startswith("[] ")
    assert not Path(rest.removeprefix("[] ")).exists()


def test_a_program_that_cannot_be_started_is_a_problem(here: Path) -> None:
    broken = here / "broken"
    broken.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    broken.chmod(0o755)
    assert "cannot be started" in run_program([str(broken)], seconds=5).problem
    (here / "garbage").write_bytes(b"\x00\x01\x02")
    (here / "garbage").chmod(0o755)
    assert "cannot be started" in run_program([str(here / "garbage")], seconds=5).problem
    assert "cannot be started" in run_program(["/bin/ls", "a\0b"], seconds=5).problem


def test_a_name_is_looked_for_in_absolute_folders_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "bin"):
        program(folder, "sly", "echo sly", shell=True)
    for path in (".", "", "bin", "./bin:.", f":{tmp_path / 'empty'}:"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(InputError, match="there is no program"):
            find_program("sly", project=NOWHERE)
    monkeypatch.setenv("PATH", f".:{here}")
    assert find_program("sly", project=NOWHERE) == here / "sly"


def test_a_program_in_the_project_is_run_only_by_its_path(tmp_path: Path, here: Path) -> None:
    mine = program(here, "mine", "echo mine", shell=True)
    with pytest.raises(AccessError, match="lies in the project"):
        find_program("mine", project=tmp_path)
    assert find_program(str(mine), project=tmp_path) == mine
    elsewhere = tmp_path / "project"
    elsewhere.mkdir()
    (here / "linked").symlink_to(program(elsewhere, "linked", "echo linked", shell=True))
    with pytest.raises(AccessError):
        find_program("linked", project=elsewhere)


def test_a_name_without_a_program_is_refused(tmp_path: Path, here: Path) -> None:
    (here / "text").write_text("not executable", encoding="utf-8")
    (here / "folder").mkdir()
    for name in (
        "text",
        "folder",
        "no-such-program",
        "",
        "-rf",
        "a b",
        "a;b",
        "..",
        "a\0b",
        "$(id)",
        str(here),
        "./x",
    ):
        with pytest.raises(InputError):
            find_program(name, project=NOWHERE)


def test_output_becomes_plain_text() -> None:
    assert (
        clean_output(b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x1b[K")
        == "red link"
    )
    assert clean_output(b"N\x08NA\x08AM\x08ME\x08E\n_\x08u_\x08s_\x08e") == "NAME\nuse"
    assert clean_output(b"a\tb  \r\nc\x00\x07\xff") == "a       b\nc\ufffd"
    assert clean_output(b"a" * 5 + b"\x08" * 500_000) == "aa"


@given(st.binary(max_size=300))
def test_any_output_becomes_text_without_control_characters(data: bytes) -> None:
    text = clean_output(data)
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    assert not any(line.endswith(" ") for line in text.split("\n"))


def test_a_program_gets_only_a_part_of_the_environment() -> None:
    inherited = {
        "PATH": "/usr/bin:bin::/bin:/usr/bin",
        "HOME": "/home/me",
        "TOKEN": "x",
        "USER": "",
    }
    assert search_path(inherited) == ["/usr/bin", "/bin"]
    assert child_environment(inherited) == {"HOME": "/home/me", "PATH": "/usr/bin:/bin"}
    assert all(os.path.isabs(folder) for folder in search_path({}))
