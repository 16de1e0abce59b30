"""`ragstone keys`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ragstone.access.identity import KEY_SCOPES
from ragstone.access.keys import is_active
from ragstone.access.plans import PLAN_NAMES
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_result,
    print_table,
    printable,
)
from ragstone.surfaces.present.access import key_json, usage_json
from ragstone.types import StoredKey

_DAY = 86_400


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=("ragstone keys", "ragstone keys create --name laptop"),
)
@common_options
@click.pass_context
def keys(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """Make, list and revoke the keys of a server; show a project's plan and usage.

    From the first key on, every caller of the server needs one, also after the last one is revoked. This machine needs none
    for `ragstone keys create --scope admin`, which makes a key for everything. Only a new index is a server without keys.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_keys, folder=folder, as_json=as_json)


@keys.command(
    "create",
    examples=(
        "ragstone keys create --name laptop",
        "ragstone keys create --project website --name laptop --scope read",
        "ragstone keys create --scope read --days 30",
    ),
)
@click.option("--name", default="", show_default=False, help="A name to recognise the key by.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(KEY_SCOPES),
    default=("read", "write"),
    help="What the key may do; may be repeated.",
)
@click.option(
    "--days", type=click.FloatRange(min=0, min_open=True), help="Days until it expires."
)
@common_options
def create_key(
    folder: Path | None,
    as_json: bool,
    name: str,
    scopes: tuple[str, ...],
    days: float | None,
) -> None:
    """Make a key for a project and print it; it is shown only once."""
    expires_at = None if days is None else time.time() + days * _DAY
    with open_engine(folder) as engine:
        new = engine.admin.keys.create(name, scopes=scopes, expires_at=expires_at)
    if as_json:
        print_json({"success": True, "key": key_json(new.key), "token": new.token})
        return
    print_line(new.token)
    print_note("keep it: it is not shown again; `ragstone keys revoke` ends it")


@keys.command("list", examples=("ragstone keys list --json",))
@common_options
def list_keys(folder: Path | None, as_json: bool) -> None:
    """List the keys of a project, revoked ones included."""
    with open_engine(folder) as engine:
        listed = engine.admin.keys.list() if engine.exists else []
    if as_json:
        print_json({"success": True, "keys": [key_json(key) for key in listed]})
    elif listed:
        print_table([_row(key) for key in listed], ("cyan", "", "", "dim"))
    else:
        print_line("No keys yet (`ragstone keys create` makes one).")


@keys.command("revoke", examples=("ragstone keys revoke KEY_ID",))
@click.argument("key_id")
@common_options
def revoke_key(key_id: str, folder: Path | None, as_json: bool) -> None:
    """Revoke the key KEY_ID of a project; running servers refuse it at once."""
    with open_engine(folder) as engine:
        key = engine.admin.keys.revoke(key_id)
    print_result(
        {"success": True, "key": key_json(key)}, f"Key {key.id} is revoked.", as_json=as_json
    )


@keys.command("plan", examples=("ragstone keys plan enterprise --project website",))
@click.argument("name")
@common_options
def set_plan(name: str, folder: Path | None, as_json: bool) -> None:
    """Give a project the plan NAME: free, starter, pro or enterprise. An unknown plan is starter.

    Plans hold if `access.plans` is on.
    """
    with open_engine(folder) as engine:
        plan = engine.admin.keys.set_plan(name)
        project = engine.project
        is_on = engine.settings.access.plans
    print_result(
        {"success": True, "project": project, "plan": plan, "plans": is_on},
        f"The plan of {printable(project)} is {plan}.",
        as_json=as_json,
    )
    if plan != name:
        known = ", ".join(PLAN_NAMES)
        print_note(f"there is no plan {printable(name)}, so it is {plan}; known are {known}")
    if not is_on:
        print_note("plans are switched off (access.plans)")


@keys.command("usage", examples=("ragstone keys usage --project website",))
@common_options
def show_usage(folder: Path | None, as_json: bool) -> None:
    """Show how much a project stores, and the limits of its plan."""
    with open_engine(folder) as engine:
        usage, plan = engine.admin.keys.usage(), engine.admin.keys.plan()
    if as_json:
        print_json({"success": True, **usage_json(usage, plan)})
        return
    rows = [
        (name.replace("_", " "), f"{count:,}")
        for name, count in usage_json(usage, plan)["usage"].items()
    ]
    rows.append(("plan", "off" if plan is None else plan.name))
    print_table(rows, ("cyan", ""))


def _row(key: StoredKey) -> tuple[str, ...]:
    state = "active" if is_active(key) else "ended"
    return key.id, ", ".join(key.scopes), state, printable(key.name)
