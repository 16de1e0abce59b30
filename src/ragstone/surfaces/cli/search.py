"""`ragstone search`: the pieces that answer, each with the place it stands."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone import registry
from ragstone.errors import InputError
from ragstone.surfaces import present
from ragstone.surfaces.cli import hits
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.shell import emit, note, number, remark, safe, say, shared
from ragstone.types import Explanation, Hit, SearchOptions, SyncReport

if TYPE_CHECKING:
    from ragstone.engine import Engine

_MOST_STDIN: Final = 4_000_000


def options(command: Any) -> Any:  # noqa: ANN401 - click's decorators take and give commands of any kind
    """Return a command with the options that shape a search."""
    for option in reversed((
        click.option("-k", "--top-k", type=int, help="How many hits at most."),
        click.option("--mode", type=click.Choice(["hybrid", "words", "vectors"]), help="Which lists to ask."),
        click.option("--fusion", type=click.Choice(["weighted", "rrf"]), help="How the lists become one."),
        click.option("--mmr", is_flag=True, help="Prefer hits that differ from each other."),
        click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only files that match; may be repeated."),
        click.option("--kind", "kinds", multiple=True, help="Only documents of this kind; may be repeated."),
        click.option("--filter", "pairs", multiple=True, metavar="KEY=VALUE", help="Only where metadata says so."),
        click.option("--min-score", type=float, help="Leave out what scores below, 0 to 1."),
        click.option("--compress", is_flag=True, help="Only the lines or sentences that answer."),
        click.option("--memory", is_flag=True, help="Look in all remembered conversations too."),
        click.option("--memory-of", multiple=True, metavar="SESSION", help="Look in this conversation too."),
        click.option("--collection", help="Only this collection; default: all."),
        click.option("--no-sync", is_flag=True, help="Answer from what is stored, do not look at the folder."),
        click.option("-y", "--yes", is_flag=True, help="Index without asking, whatever the folder is."),
    )):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("query", nargs=-1, required=True)
@options
@click.option("--full-text", is_flag=True, help="Show whole pieces, not only the lines that match.")
@click.option("--trace", is_flag=True, help="With --json: how each hit came to its score.")
@shared
def search(
    query: tuple[str, ...], folder: Path | None, as_json: bool, full_text: bool, trace: bool, **given: Any
) -> None:
    """Find the pieces that answer QUERY (`-` reads it from stdin).

    In a folder that was never indexed this indexes it first.
    """
    with asked(query, folder, given) as found:
        told = found.told
        if as_json:
            emit(found.as_json(present.answer(told, trace=trace)))
        elif told.hits:
            hits.show(told.hits, told.query, full_text=full_text)
        else:
            say(f"No hits for {shown(told.query)}.")
        found.tell()


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, the ledger of what had to be indexed for it, and what should be known about both."""

    told: Explanation
    report: SyncReport | None
    notes: tuple[str, ...]

    def as_json(self, answer: present.Json) -> present.Json:
        """Return the answer in its public form with everything that was noted."""
        return {**answer, "notes": list(self.notes), "sync": present.sync_summary(self.report) if self.report else None}

    def tell(self) -> None:
        """Print what a person should know, and have the answer seen before anything else is done."""
        sys.stdout.flush()
        report = self.report
        if report is not None and report.indexed + report.removed:
            done = ((report.indexed, "indexed"), (report.removed, "removed"))
            told_of = ", ".join(f"{number(count, 'file')} {what}" for count, what in done if count)
            note(f"({told_of}, {report.seconds:.1f} s)")
        remark(self.notes)


@contextmanager
def asked(query: Sequence[str], folder: Path | None, given: Mapping[str, Any]) -> Iterator[Found]:
    """Give the answer to a query given on the command line; what closing the index takes comes after it was shown."""
    text = query_text(query)
    chosen = shape(given)
    with open_engine(folder) as engine:
        seen = engine.exists
        by_both = given["mode"] != "words"
        report, amiss = (None, []) if given["no_sync"] else bring_up_to_date(engine, yes=given["yes"], vectors=by_both)
        if not _readable(engine):
            nothing = Explanation(text, "keywords", (), {}, {}, 0, (), (), (), 0.0)
            yield Found(nothing, report, (*amiss, "this folder has no index yet"))
            return
        told = engine.explain(text, given["top_k"], **chosen)
        if report is not None and seen:
            told = replace(told, hits=tuple(_refreshed(hit, report) for hit in told.hits))
        yield Found(told, report, tuple(dict.fromkeys((*amiss, *_remarks(told, given, report)))))


def shape(given: Mapping[str, Any]) -> SearchOptions:
    """Return what the options say about a search, as every verb that searches takes it."""
    return {
        "mode": given["mode"],
        "fusion": given["fusion"],
        "mmr": given["mmr"],
        "filters": wanted(given) or None,
        "min_score": given["min_score"],
        "compress": given["compress"],
        "collection": given["collection"],
        "memory": conversations(given),
        "fresh": not given["no_sync"],
    }


def wanted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that --path, --kind and --filter stand for."""
    filters: dict[str, Any] = {}
    if given["paths"]:
        filters["path"] = list(given["paths"])
    if given["kinds"]:
        filters["kind"] = list(given["kinds"])
    return filters | dict(pairs(given["pairs"], "--filter"))


def conversations(given: Mapping[str, Any]) -> bool | list[str]:
    """Return which conversations --memory and --memory-of stand for."""
    return True if given["memory"] else list(given["memory_of"]) or False


def pairs(texts: Sequence[str], flag: str) -> list[tuple[str, str | int | float | bool]]:
    """Return key and value of each KEY=VALUE; true, false and numbers are taken as such."""
    found = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise InputError(f"{flag} {text!r} is not KEY=VALUE", hint=f"for example {flag} team=search")
        found.append((key, _value(value)))
    return found


def shown(query: str) -> str:
    """Return a query short enough to be repeated to a person."""
    return f"“{safe(query[:80])}{'…' if len(query) > 80 else ''}”"


def _remarks(told: Explanation, given: Mapping[str, Any], report: SyncReport | None) -> list[str]:
    """Return what should be known about an answer."""
    lines: list[str] = []
    if report is not None:
        lines += [*report.notes, *(one.reason for one in report.remarks if one.uri == ".")]
        if report.failed:
            lines.append(f"{number(len(report.failed), 'file')} could not be read: `ragstone sync` lists them")
        if not report.found:
            lines.append("there are no files to index in this folder")
    share = min(told.coverage.values(), default=0.0)
    # Without any coverage the answer's own notes may know a better reason than that vectors are still to come; and a
    # sync that has something to say of vectors says that it cannot make them.
    known = report is not None and report.notes
    if given["mode"] != "words" and told.candidates and share < 1 and (told.coverage or not told.notes) and not known:
        have = f"vectors cover {share:.0%} of the texts" if share else "no vectors yet, found by words alone"
        lines.append(f"{have}: `ragstone sync` completes them")
    return lines + [line for line in told.notes if "cover" not in line]


def _refreshed(hit: Hit, report: SyncReport) -> Hit:
    """Return a hit that says so if its file was read again for this answer."""
    again = hit.freshness == "fresh" and hit.source_doc_id in report.changed
    return replace(hit, freshness="refreshed") if again else hit


def query_text(words: Sequence[str]) -> str:
    """Return what was asked; `-` stands for what comes from a pipe."""
    if list(words) != ["-"]:
        return " ".join(words)
    return sys.stdin.buffer.read(_MOST_STDIN).decode("utf-8", "replace").strip()


def _readable(engine: Engine) -> bool:
    return engine.exists or registry.find("store", engine.settings.rag.vector_store.provider).name == "memory"


def _value(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
