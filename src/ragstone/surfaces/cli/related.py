"""`ragstone related`, `history`, `impact`: what hangs together with something, what changed it, what depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import click

from ragstone.engine import Engine
from ragstone.surfaces import present_graph as shape
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.shell import emit, fitted, number, remark, safe, say, shared, table
from ragstone.surfaces.present import moment
from ragstone.types import Affected, Change, Impact, Link, Related, Story

_MOST: Final = 12
_SHOWN: Final = 98
_EVERY: Final = 100_000
"""How many are asked for where what is shown is chosen among them."""


def asking(command: Any) -> Any:  # noqa: ANN401 - click's decorators take and give commands of any kind
    """Return a command with the options that every question about the graph has."""
    for option in reversed((
        click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only what is in files that match."),
        click.option("--kind", "kinds", multiple=True, help="Only of this kind: route, model, table, method …"),
        click.option("--collection", help="Only this collection; default: all."),
        click.option("--no-sync", is_flag=True, help="Answer from what is stored, do not look at the folder."),
        click.option("-y", "--yes", is_flag=True, help="Index without asking, whatever the folder is."),
    )):  # fmt: skip
        command = option(command)
    return command


@contextmanager
def at_hand(folder: Path | None, given: dict[str, Any]) -> Iterator[Engine]:
    """Give the engine of a folder whose files are taken in; what is amiss is said behind the answer."""
    with open_engine(folder) as engine:
        amiss: list[str] = []
        if not given["no_sync"]:
            _, amiss = bring_up_to_date(engine, yes=given["yes"], vectors=False)
        yield engine
        remark(amiss)


def passes(given: dict[str, Any]) -> Callable[[str], bool]:
    """Return whether a path is asked for."""
    globs: tuple[str, ...] = given["paths"]
    return lambda uri: not globs or any(fnmatchcase(uri, glob.replace("**", "*")) for glob in globs)


@click.command()
@click.argument("name")
@asking
@click.option("--hops", type=click.IntRange(1, 4), default=1, show_default=True, help="Links in a row.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@shared
def related(name: str, folder: Path | None, as_json: bool, hops: int, limit: int, **given: Any) -> None:
    r"""Show what NAME hangs together with: a route, class, method, table or path.

    Each line says by which link, how surely it is known where it is not written down, and where that is; a `?` stands
    behind a link that holds in some cases only. A kind in capitals goes along links of that kind.

    \b
    ragstone related songs.update
    ragstone related SongController@update --hops 2 --kind table
    ragstone related App\\Models\\Song --kind MAPS_TO
    """
    with at_hand(folder, given) as engine:
        node = engine.node(name, collection=given["collection"])
        kinds, most = list(given["kinds"]), _EVERY if given["paths"] else limit
        near = engine.related(node, kinds=kinds or None, hops=hops, limit=most, collection=given["collection"])
        wanted = passes(given)
        found = [one for one in near if wanted(one.node.uri)][:limit]
        told = engine.explain(node, 1)
        if as_json:
            emit({
                "success": True,
                "node": shape.node(node),
                "related": [shape.related(one) for one in found],
                "unresolved": [shape.unresolved(one) for one in told.unresolved],
            })  # fmt: skip
            return
        _node(told)
        if not found:
            say(nothing_near(kinds, narrowed=bool(given["paths"])))
        table(fitted([_row(one) for one in found], (16, 34, 22)), ("magenta", "bold cyan", "", "dim"))


def nothing_near(kinds: Sequence[str], *, narrowed: bool = False) -> str:
    """Return the sentence for something that nothing was found to hang together with."""
    of = f" of kind {safe(' or '.join(kinds))}" if kinds else ""
    where = " in these files" if narrowed else ""
    return f"Nothing{of}{where} that is known hangs together with it."


def _node(told: Story) -> None:
    node = told.node
    say(
        (f"{safe(node.kind)} ", "magenta"), (safe(node.key.partition(":")[2]), "bold"), (f"  {safe(node.place)}", "dim")
    )
    if node.signature:
        say(f"  {safe(node.signature)[:_SHOWN]}")


def _row(one: Related) -> tuple[str, ...]:
    last = one.links[-1]
    arrow = f"{'←' if last.target != one.node.key else '→'} {last.kind}"
    said = " ".join((_about(last), one.confidence)) if one.confidence != "declared" else _about(last)
    unsure = "?" if any(link.conditional for link in one.links) else ""
    return f"{'  ' * (one.hops - 1)}{arrow}{unsure}", short(one.node.key), said.strip(), safe(shape.place(last))


def _about(link: Link) -> str:
    """Return what a link says of itself in a few words."""
    words = (str(link.attributes[key]) for key in ("name", "type", "parameter", "how") if link.attributes.get(key))
    return safe(" ".join(word for word in words if word != link.confidence))


def short(key: str) -> str:
    """Return a key without the namespace of its class: as a person says it."""
    kind, _, name = safe(key).partition(":")
    if kind in ("class", "method", "relation"):
        name = name.rpartition("\\")[2]
    return name if kind in ("class", "method") else f"{kind} {name}"


@click.command()
@click.argument("name")
@asking
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most.")
@click.option("--no-commits", is_flag=True, help="Recorded runs and migrations only.")
@shared
def history(name: str, folder: Path | None, as_json: bool, limit: int, no_commits: bool, **given: Any) -> None:
    r"""Show what changed NAME, the newest first: recorded runs, migrations of a table, commits.

    \b
    ragstone history app/Models/Song.php
    ragstone history SongController@update
    ragstone history songs --kind migration
    """
    with at_hand(folder, given) as engine:
        most = _EVERY if given["paths"] or given["kinds"] else limit
        asked = not no_commits and (not given["kinds"] or "commit" in given["kinds"])
        found = engine.history(name, limit=most, commits=asked, collection=given["collection"])
        wanted = passes(given)
        found = [one for one in found if wanted(one.uri) and (not given["kinds"] or one.kind in given["kinds"])][:limit]
        if as_json:
            emit({"success": True, "name": name, "changes": [shape.change(one) for one in found]})
        elif found:
            table(fitted([_changed(one) for one in found], (10, 9, 46)), ("dim", "magenta", "", "dim"))
        else:
            of = f" of kind {safe(' or '.join(given['kinds']))}" if given["kinds"] else ""
            say(f"Nothing{of} is recorded of {safe(name)}.")


def _changed(one: Change) -> tuple[str, ...]:
    when = (moment(one.when) or "")[:10]
    whole = "" if one.exact else " (its file)"
    return when, one.kind, f"{safe(one.title)}{whole}", safe(shape.place(one))


@click.command()
@click.argument("name")
@asking
@shared
def impact(name: str, folder: Path | None, as_json: bool, **given: Any) -> None:
    r"""Show what depends on NAME, a file or a symbol: routes first, then what is nearest.

    \b
    ragstone impact app/Models/Song.php
    ragstone impact SongService::update --kind route
    """
    with at_hand(folder, given) as engine:
        told = engine.impact(name, collection=given["collection"])
        kept = tuple((kind, found) for kind, found in told.groups if not given["kinds"] or kind in given["kinds"])
        wanted = passes(given)
        kept = tuple((kind, tuple(one for one in found if wanted(one.links[0].uri))) for kind, found in kept)
        told = Impact(told.roots, tuple((kind, found) for kind, found in kept if found), told.more)
        if as_json:
            emit({**shape.impact(told), "name": name})
            return
        if not told.total:
            say(f"Nothing that is known depends on {safe(name)}.")
        for kind, found in told.groups:
            say((f"{kind} ", "bold magenta"), (f"({len(found):,})", "dim"))
            table(fitted([_affected(one) for one in found[:_MOST]], (46, 20)), ("cyan", "", "dim"))
            if len(found) > _MOST:
                say((f"  and {len(found) - _MOST:,} more (--json shows all)", "dim"))


def _affected(one: Affected) -> tuple[str, ...]:
    sure = one.confidence + (", conditional" if one.conditional else "")
    return f"  {short(one.key)}", f"{number(one.hops, 'hop')}, {sure}", safe(shape.place(one.links[0]))
