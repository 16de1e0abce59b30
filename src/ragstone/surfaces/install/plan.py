"""What an installation or its removal changes, file by file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragstone.errors import InputError
from ragstone.surfaces.install.agents import AgentClient, Launch
from ragstone.surfaces.install.backups import Backup, load_text
from ragstone.surfaces.install.edits import (
    add_instructions,
    add_server,
    remove_instructions,
    remove_server,
)


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file with its text before and after; None is a file that does not exist."""

    agent: str
    path: Path
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class InstallFailure:
    """A file that cannot be changed, and the reason."""

    agent: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The changes of all agents, and the files that cannot be changed."""

    changes: tuple[FileEdit, ...]
    failures: tuple[InstallFailure, ...]


@dataclass(frozen=True, slots=True)
class InstallPlace:
    """The place of an installation: a project, or the user's home folder."""

    project: Path
    home: Path
    for_user: bool = False

    def config_file(self, agent: AgentClient) -> Path:
        """Return the settings file; an agent without settings in a project has those of the user."""
        if self.for_user or agent.project_config is None:
            return agent.user_config(self.home)
        return self.project / agent.project_config

    def instruction_file(self, agent: AgentClient) -> Path | None:
        """Return the instruction file; None if the agent has none in this place."""
        if not self.for_user:
            return self.project / agent.project_instructions
        return self.home / agent.user_instructions if agent.user_instructions else None

    def owns(self, file: Path) -> bool:
        """Return whether a file of this place stays in it: a cloned project may hold links to other files."""
        if self.for_user or not file.is_relative_to(self.project):
            return True
        return file.resolve().is_relative_to(self.project.resolve())

    def launch(self, agent: AgentClient, command: Sequence[str]) -> Launch:
        """Return the command that starts the server in the project's folder."""
        folder = agent.folder_argument
        if folder == "absolute":
            folder = str(self.project)
        arguments = (*command[1:], "mcp", *(("-C", folder) if folder else ()))
        return Launch(command[0], arguments)


class _Planner:
    """Collects changes; agents that share a file see the text as the agent before left it."""

    def __init__(self, scope: InstallPlace) -> None:
        self.scope = scope
        self.changes: dict[Path, FileEdit] = {}
        self.failures: list[InstallFailure] = []

    def read(self, agent: AgentClient, file: Path) -> tuple[str | None, bool]:
        """Return the text of a file after the changes so far, and whether it can be changed."""
        if file in self.changes:
            return self.changes[file].after, True
        if not self.scope.owns(file):
            self.failures.append(
                InstallFailure(agent.name, file, "it is a link out of the project")
            )
            return None, False
        try:
            return load_text(file), True
        except InputError as error:
            self.failures.append(InstallFailure(agent.name, file, error.message))
            return None, False

    def write(
        self, agent: AgentClient, file: Path, before: str | None, after: str | None
    ) -> None:
        """Add a change, or extend the one that another agent made to the same file."""
        if file in self.changes:
            before = self.changes[file].before
        self.changes[file] = FileEdit(agent.name, file, before, after)

    def plan(self) -> InstallPlan:
        """Return the changes that have an effect."""
        needed = [change for change in self.changes.values() if change.before != change.after]
        return InstallPlan(tuple(needed), tuple(self.failures))


def plan_install(
    agents: Iterable[AgentClient],
    scope: InstallPlace,
    command: Sequence[str],
    *,
    instructions: bool,
) -> InstallPlan:
    """Return what setting up these agents changes."""
    planner = _Planner(scope)
    for agent in agents:
        file = scope.config_file(agent)
        text, can_change = planner.read(agent, file)
        if can_change:
            try:
                after = add_server(text, agent, scope.launch(agent, command))
            except InputError as error:
                planner.failures.append(InstallFailure(agent.name, file, error.message))
                continue
            planner.write(agent, file, text, after)
        if instructions:
            _plan_instructions(planner, agent)
    return planner.plan()


def _plan_instructions(planner: _Planner, agent: AgentClient) -> None:
    file = planner.scope.instruction_file(agent)
    if file is None:
        return
    text, can_change = planner.read(agent, file)
    if can_change:
        planner.write(agent, file, text, add_instructions(text, agent))


def plan_removal(agents: Iterable[AgentClient], scope: InstallPlace) -> InstallPlan:
    """Return what removing our entries changes; a file without other edits gets back the bytes it had before."""
    planner = _Planner(scope)
    for agent in agents:
        file = scope.config_file(agent)
        text, can_change = planner.read(agent, file)
        if can_change and text is not None:
            try:
                after = remove_server(text, agent)
            except InputError as error:
                planner.failures.append(InstallFailure(agent.name, file, error.message))
                continue
            planner.write(agent, file, text, after)
        instruction_file = scope.instruction_file(agent)
        if instruction_file is not None:
            text, can_change = planner.read(agent, instruction_file)
            if can_change and text is not None:
                after = remove_instructions(text, agent)
                planner.write(agent, instruction_file, text, after)
    plan = planner.plan()
    return replace(plan, changes=tuple(_restore(change) for change in plan.changes))


def _restore(change: FileEdit) -> FileEdit:
    """Return the change back to the text before the installation, if the file was not edited since."""
    backup = Backup.load(change.path)
    if backup is None or backup.after != change.before:
        return change
    return replace(change, after=backup.before)
