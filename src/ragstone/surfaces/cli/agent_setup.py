"""The steps that `install` and `uninstall` share: choose agents, show the changes, ask, write."""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from ragstone.config import search_path
from ragstone.errors import InputError, NotFound
from ragstone.surfaces.cli.options import CommandT, add_options
from ragstone.surfaces.cli.output import (
    print_error,
    print_json,
    print_line,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.install.agents import AGENTS, AgentClient, detect_agents, find_agents
from ragstone.surfaces.install.backups import (
    Backup,
    backup_file,
    missing_folders,
    remove_empty_folders,
    write_change,
)
from ragstone.surfaces.install.plan import FileEdit, InstallPlace, InstallPlan
from ragstone.surfaces.present.failures import completion_code
from ragstone.text.counts import plural

_DIFF_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}

agent_arguments = click.argument("agents", nargs=-1, metavar="[AGENT]...")


@dataclass(frozen=True, slots=True)
class Answers:
    """The choices of the user: whether to ask, and what to print."""

    as_json: bool
    dry_run: bool
    yes: bool


def setup_options(command: CommandT) -> CommandT:
    """Add the options of `install` and `uninstall`."""
    return add_options(
        command,
        (
            click.option(
                "--user",
                "for_user",
                is_flag=True,
                help="Settings of the user, for all projects; default: this project.",
            ),
            click.option("--dry-run", is_flag=True, help="Show the changes, write nothing."),
            click.option("-y", "--yes", is_flag=True, help="Write without asking first."),
        ),
    )


def scope_of(folder: Path | None, *, for_user: bool) -> InstallPlace:
    """Return the place to change: the project around the current folder, or the user's home folder."""
    return InstallPlace(project_folder(folder).resolve(), Path.home(), for_user)


def choose_agents(names: tuple[str, ...], scope: InstallPlace) -> list[AgentClient]:
    """Return the named agents, or all that are found; `NotFound` if there is none."""
    if names:
        return find_agents(names)
    agents = detect_agents(scope.project, scope.home)
    if not agents:
        listed = ", ".join(agent.name for agent in AGENTS)
        raise NotFound("no agent was found here", hint=f"name one of {listed}")
    return agents


def installed_command(command: str | None) -> list[str]:
    """Return the words of the command that starts Ragstone: the given ones, or this installation."""
    if command is not None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"--command {command!r}: {error}") from error
        if not words:
            raise InputError("--command is empty", hint='for example --command "uvx ragstone"')
        return words
    for folder in search_path():
        # A program in a virtual environment is found only while the environment is active.
        if (
            shutil.which("ragstone", path=folder)
            and not (Path(folder).parent / "pyvenv.cfg").exists()
        ):
            return ["ragstone"]
    beside_python = shutil.which("ragstone", path=str(Path(sys.executable).parent))
    return [beside_python] if beside_python else [sys.executable, "-m", "ragstone"]


def describe_path_of_machine(
    words: Sequence[str], scope: InstallPlace, plan: InstallPlan
) -> list[str]:
    """Return a note if the files of a project get a command that is a path of this machine."""
    if not Path(words[0]).is_absolute() or not plan.changes or scope.for_user:
        return []
    return [
        "the command is a path of this machine: for files that a team shares,"
        ' `--command "uvx ragstone"` writes another one'
    ]


def finish(
    plan: InstallPlan, answers: Answers, *, notes: Sequence[str] = (), is_removal: bool = False
) -> int:
    """Show the changes and the notes, ask unless `--yes` is given, write, and return the exit code."""
    if not answers.as_json:
        _show(plan)
    print_notes(notes)
    must_write = bool(plan.changes) and not answers.dry_run
    if must_write:
        _confirm(answers)
        new_folders = [missing_folders(change.path) for change in plan.changes]
        for position, change in enumerate(plan.changes):
            written = plan.changes[:position]
            _write(change, written, new_folders[position], is_removal=is_removal)
    if answers.as_json:
        print_json({**_plan_json(plan, written=must_write), "notes": list(notes)})
    elif must_write:
        count = plural(len(plan.changes), "file")
        if is_removal:
            print_line(f"{count} changed back. Restart the agent.")
        else:
            print_line(f"{count} written. Restart the agent to use it.")
    return completion_code(is_complete=not plan.failures)


def _confirm(answers: Answers) -> None:
    if answers.yes:
        return
    if answers.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            "nothing was written: there is no terminal to ask on",
            hint="--yes writes, --dry-run only shows",
        )
    click.confirm("Write these changes?", abort=True, err=True)


def _write(
    change: FileEdit,
    written: Sequence[FileEdit],
    new_folders: Sequence[str],
    *,
    is_removal: bool,
) -> None:
    """Write a change; `InputError` names the files that were written before it."""
    try:
        if not is_removal:
            _save_backup(change, new_folders)
        write_change(change.path, change.after)
        if is_removal:
            _remove_backup(change)
    except OSError as error:
        raise InputError(
            f"{change.path} cannot be written: {error.strerror or error}",
            hint=_describe_written(written),
        ) from error


def _remove_backup(change: FileEdit) -> None:
    """Remove the backup of a file and, if the file is gone, the folders that the installation made for it."""
    backup = Backup.load(change.path)
    backup_file(change.path).unlink(missing_ok=True)
    if backup is not None and change.after is None:
        remove_empty_folders(backup.new_folders)


def _describe_written(changes: Sequence[FileEdit]) -> str:
    """Return which files were written before a failure."""
    if not changes:
        return "no file was written"
    return f"already written: {', '.join(str(change.path) for change in changes)}"


def _save_backup(change: FileEdit, new_folders: Sequence[str]) -> None:
    """Keep the text before the first installation; a second one changes the text after it only."""
    earlier = Backup.load(change.path)
    before = change.before
    if earlier is not None:
        new_folders = earlier.new_folders
        if earlier.after == change.before:
            before = earlier.before
    Backup(str(change.path), before, change.after, new_folders).save()


def _show(plan: InstallPlan) -> None:
    for change in plan.changes:
        print_line((f"{change.agent}: {printable(str(change.path))}", "bold"))
        for line in _diff(change):
            print_line((printable(line), _DIFF_STYLES.get(line[:1], "")))
        print_line("")
    for failure in plan.failures:
        print_error(f"{failure.agent}: {failure.path} stays as it is: {failure.reason}")
    if not plan.changes and not plan.failures:
        print_line("Nothing to change.")


def _diff(change: FileEdit) -> list[str]:
    if change.after is None:
        return ["- (the file is removed)"]
    before = (change.before or "").splitlines()
    lines = difflib.unified_diff(before, change.after.splitlines(), lineterm="", n=2)
    return list(lines)[2:]


def _plan_json(plan: InstallPlan, *, written: bool) -> dict[str, object]:
    changes = [
        {"agent": change.agent, "path": str(change.path), "removed": change.after is None}
        for change in plan.changes
    ]
    failures = [
        {"agent": failure.agent, "path": str(failure.path), "reason": failure.reason}
        for failure in plan.failures
    ]
    return {
        "success": not failures,
        "written": written,
        "changes": changes,
        "failures": failures,
    }
