"""Completion on Tab, in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def shell_environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `ragstone` is a program on the search path."""
    if os.name != "posix":
        pytest.skip("these shells need a POSIX system")
    program = tmp_path / "bin" / "ragstone"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ragstone "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return environment | {"PATH": f"{program.parent}{os.pathsep}{environment['PATH']}"}


def run_shell(shell: str, script: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a script in a shell and return its output."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    ran = subprocess.run(
        [program, *flags, "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert not ran.stderr, ran.stderr
    return ran.stdout


BASH = """
eval "$(ragstone completion bash)"
complete_line() {
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
    compopt() { echo "compopt $2"; }
    _ragstone_completion ragstone
    echo "${COMPREPLY[*]}"
}
"""


def test_bash_completes_commands_options_and_values(
    command: Command, project: Path, shell_environment: dict[str, str]
) -> None:
    command("sync")
    script = f"""{BASH}
complete_line ragstone re
complete_line ragstone search --no
complete_line ragstone search x --mode ""
complete_line ragstone search x --kind ""
complete_line ragstone search x --collection d
complete_line ragstone sessions ex
complete_line ragstone config search.t
complete_line ragstone search x sr
"""
    lines = run_shell("bash", script, project, shell_environment).splitlines()
    assert lines == [
        "remove remember recall retrieve related record-run reembed",
        "--no-sync",
        "hybrid words vectors",
        "code doc readme",
        "default",
        "export",
        "search.top_k",
        "compopt default",
        "",
    ]


ZSH = """
autoload -U compinit && compinit -D
eval "$(ragstone completion zsh)"
print $_comps[ragstone]
_describe() { print -l -- ${(P)3} }
compadd() { print -l -- ${(P)5} }
words=(ragstone sy); CURRENT=2; _ragstone_completion
words=(ragstone search x --mode v); CURRENT=5; _ragstone_completion
"""


def test_zsh_completes_commands_with_their_descriptions(
    project: Path, shell_environment: dict[str, str]
) -> None:
    assert run_shell("zsh", ZSH, project, shell_environment).splitlines() == [
        "_ragstone_completion",
        "sync:Make the index match the folder.",
        "vectors",
    ]


def test_fish_completes_commands_with_their_descriptions(
    project: Path, shell_environment: dict[str, str]
) -> None:
    script = 'ragstone completion fish | source; complete -C "ragstone sy"'
    out = run_shell("fish", script, project, shell_environment)
    assert out == "sync\tMake the index match the folder.\n"


@pytest.mark.parametrize(
    ("shell", "registration", "answer"),
    [
        ("zsh", "compdef _ragstone_completion ragstone", "plain\nsync\nMake the index match the folder.\n"),
        ("fish", "complete --no-files --command ragstone", "plain,sync\tMake the index match the folder.\n"),
    ],
)  # fmt: skip
def test_the_script_of_a_shell_asks_for_completions_that_ragstone_answers(
    command: Command, shell: str, registration: str, answer: str
) -> None:
    script = command("completion", shell).out
    assert registration in script
    assert f"_RAGSTONE_COMPLETE={shell}_complete" in script
    request = {"_RAGSTONE_COMPLETE": f"{shell}_complete", "COMP_WORDS": "ragstone sy"}
    last_word = {"zsh": "1", "fish": "sy"}[shell]
    assert command(env={**request, "COMP_CWORD": last_word}).out == answer


def test_completion_makes_no_index_and_prints_no_error(
    project: Path, shell_environment: dict[str, str]
) -> None:
    script = (
        f'{BASH}\ncomplete_line ragstone search x --kind ""\ncomplete_line ragstone serch x ""'
    )
    assert run_shell("bash", script, project, shell_environment).strip() in (
        "",
        "compopt default",
    )
    assert not (project / ".ragstone").exists()


def test_an_unknown_shell_is_refused_with_the_known_ones(quick: Command) -> None:
    ran = quick("completion", "tcsh")
    assert ran.code == 2
    assert all(shell in ran.err for shell in ("bash", "zsh", "fish"))
