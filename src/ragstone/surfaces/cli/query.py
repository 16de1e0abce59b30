"""A search from the command line: its options, its text, and its answer with notes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ragstone.config.validation import HIT_RANGE, SCORE_RANGE
from ragstone.errors import InputError
from ragstone.retrieval.ranking.confidence import NOTHING_INDEXED
from ragstone.sources.folder.selection import SKIPPED_BY_NAME
from ragstone.sources.secrets.placeholders import is_redaction
from ragstone.surfaces.cli.completion import complete_paths
from ragstone.surfaces.cli.engine import (
    describe_missing_index,
    open_engine,
    scan_policy,
)
from ragstone.surfaces.cli.help import setting_default
from ragstone.surfaces.cli.options import (
    CommandT,
    add_options,
    collect_flags,
    collection_option,
    no_sync_option,
    number_type,
    parse_pairs,
    yes_option,
)
from ragstone.surfaces.cli.output import print_note, print_notes, shorten
from ragstone.surfaces.cli.paths import path_globs, split_paths
from ragstone.surfaces.cli.values import complete_kind, complete_session
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.index_notes import describe_vectors
from ragstone.surfaces.present.reports import sync_summary_json
from ragstone.text.counts import plural
from ragstone.text.globs import matches_path
from ragstone.types import Explanation, SearchOptions

if TYPE_CHECKING:
    from ragstone.engine import Engine
    from ragstone.indexing.sync import Scan
    from ragstone.types import Fusion, Mode, Skip, SyncReport

MAX_STDIN_BYTES: Final = 4_000_000
_MAX_SHOWN_QUERY: Final = 80
_MAX_NAMED_FILES: Final = 3
_COVERAGE: Final = "vectors cover"
_SCORE: Final = number_type("--min-score", SCORE_RANGE)

filter_options = (
    click.option(
        "--path",
        "paths",
        multiple=True,
        metavar="GLOB",
        help="Only files that match; may be repeated.",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        shell_complete=complete_kind,
        help="Only documents of this kind; may be repeated.",
    ),
    click.option(
        "--filter",
        "pairs",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only documents with this metadata.",
    ),
)


def query_argument(name: str) -> Callable[[CommandT], CommandT]:
    """Return the argument for a query and the paths after it."""
    return click.argument(
        name,
        nargs=-1,
        required=True,
        metavar=f"{name.upper()} [PATH]...",
        shell_complete=complete_paths,
    )


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a search; the command gets them as one `SearchFlags`."""
    return add_options(
        collect_flags(command, SearchFlags),
        (
            click.option(
                "-k",
                "--top-k",
                type=number_type("-k", HIT_RANGE),
                show_default=setting_default("search.top_k"),
                help="Number of hits at most.",
            ),
            click.option(
                "--mode",
                type=click.Choice(["hybrid", "words", "vectors"]),
                show_default="hybrid",
                help="Search by words, meaning or both.",
            ),
            click.option(
                "--fusion",
                type=click.Choice(["weighted", "rrf"]),
                show_default=setting_default("search.fusion"),
                help="How both rankings are combined.",
            ),
            click.option(
                "--mmr", is_flag=True, help="Prefer hits that differ from each other."
            ),
            click.option(
                "--rerank",
                metavar="NAME",
                help="Order the best hits again: cross-encoder, cohere, voyage, jina.",
            ),
            click.option(
                "--embedder",
                metavar="NAME",
                help="Search the vectors of this embedder, such as minilm.",
            ),
            *filter_options,
            click.option(
                "--min-score", type=_SCORE, help="Drop hits with a lower score, 0 to 1."
            ),
            click.option(
                "--compress", is_flag=True, help="Only the lines or sentences that answer."
            ),
            click.option(
                "--memory", is_flag=True, help="Also search all remembered conversations."
            ),
            click.option(
                "--memory-of",
                multiple=True,
                metavar="SESSION",
                shell_complete=complete_session,
                help="Also search this conversation.",
            ),
            collection_option(),
            no_sync_option,
            yes_option,
        ),
    )


@dataclass(frozen=True, slots=True)
class SearchFlags:
    """The values of `search_options`."""

    top_k: int | None
    mode: Mode | None
    fusion: Fusion | None
    mmr: bool
    rerank: str | None
    embedder: str | None
    paths: tuple[str, ...]
    kinds: tuple[str, ...]
    pairs: tuple[str, ...]
    min_score: float | None
    compress: bool
    memory: bool
    memory_of: tuple[str, ...]
    collection: str | None
    no_sync: bool
    yes: bool

    def to_search_options(self, globs: Sequence[str] = ()) -> SearchOptions:
        """Return the options for `Engine.search`, limited to the paths after the query."""
        if globs and self.paths:
            raise InputError(
                "--path goes without paths after the query", hint="give one of them"
            )
        return {
            "mode": self.mode,
            "fusion": self.fusion,
            "mmr": self.mmr,
            "rerank": self.rerank,
            "embedder": self.embedder,
            "filters": build_filters(globs or self.paths, self.kinds, self.pairs),
            "min_score": self.min_score,
            "compress": self.compress,
            "collection": self.collection,
            "memory": self.memory or list(self.memory_of) or False,
            "fresh": not self.no_sync,
        }

    @contextmanager
    def scan_policy(self, engine: Engine) -> Iterator[Scan | None]:
        """Give the policy that indexes the changes before the answer; None if --no-sync is set.

        After the answer, raise `NotFound` for a kind that no document has.
        """
        embed = self.mode != "words"
        with scan_policy(engine, no_sync=self.no_sync, yes=self.yes, embed=embed) as policy:
            yield policy
        if engine.enabled:
            engine.admin.require_kinds(self.kinds)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query, and the notes about it and about the sync before it."""

    explanation: Explanation
    notes: tuple[str, ...]
    base: Path
    """The folder that the paths of the hits are relative to."""

    def add_notes(self, answer: Json) -> Json:
        """Return the answer's JSON with the notes and the summary of the sync."""
        report = self.explanation.sync
        summary = None
        if report is not None:
            summary = sync_summary_json(report)
        return {**answer, "notes": list(self.notes), "sync": summary}

    def print_notes(self) -> None:
        """Print the notes, after the answer has reached the terminal."""
        sys.stdout.flush()
        report = self.explanation.sync
        if report is not None and report.indexed + report.removed:
            counts = [(report.indexed, "indexed"), (report.removed, "removed")]
            changes = ", ".join(
                f"{plural(count, 'file')} {verb}" for count, verb in counts if count
            )
            print_note(f"({changes}, {report.seconds:.1f} s)")
        print_notes(self.notes)


@contextmanager
def answer_query(
    words: Sequence[str], folder: Path | None, flags: SearchFlags
) -> Iterator[QueryAnswer]:
    """Give the answer to a query; the engine closes after the caller has printed it."""
    query, paths = read_query(words, folder)
    with open_engine(folder) as engine:
        options = flags.to_search_options(path_globs(paths, folder, engine.settings.base))
        missing = describe_missing_index(engine, no_sync=flags.no_sync)
        if missing:
            nothing = Explanation(query, "keywords", (), {}, {}, 0, (), (), (), 0.0)
            yield QueryAnswer(nothing, (missing,), engine.settings.base)
            return
        with flags.scan_policy(engine) as policy:
            explanation = engine.explain(query, flags.top_k, policy=policy, **options)
        globs = (options["filters"] or {}).get("path")
        notes = _sync_notes(explanation.sync, globs if isinstance(globs, list) else [])
        notes += _vector_notes(engine, explanation, flags)
        if not explanation.hits and engine.is_empty():
            notes.append(NOTHING_INDEXED)
        yield QueryAnswer(explanation, tuple(dict.fromkeys(notes)), engine.settings.base)


def build_filters(
    paths: Sequence[str], kinds: Sequence[str], pairs: Sequence[str]
) -> dict[str, object] | None:
    """Return the search filters of --path, --kind and --filter; None if there are none."""
    filters: dict[str, object] = {}
    if paths:
        filters["path"] = list(paths)
    if kinds:
        filters["kind"] = list(kinds)
    filters |= parse_pairs(pairs, "--filter")
    return filters or None


def read_query(words: Sequence[str], folder: Path | None) -> tuple[str, list[str]]:
    """Return the query and the paths after it; `-` reads the query from stdin."""
    query_words, paths = split_paths(words, folder)
    return query_text(query_words), paths


def query_text(words: Sequence[str]) -> str:
    """Return words as one text; a single `-` reads it from stdin."""
    if list(words) == ["-"]:
        return sys.stdin.buffer.read(MAX_STDIN_BYTES).decode("utf-8", "replace").strip()
    return " ".join(words).strip()


def quote_query(query: str) -> str:
    """Return a query in quotation marks, shortened for a message."""
    return f"“{shorten(query, _MAX_SHOWN_QUERY)}”"


def _sync_notes(report: SyncReport | None, globs: Sequence[str]) -> list[str]:
    """Return notes about the sync before the answer, which may be limited to some paths."""
    if report is None:
        return []
    notes = list(report.notes)
    notes += [remark.reason for remark in report.remarks if remark.uri == "."]
    notes += _failure_notes(report.failed, globs)
    notes += _skip_notes(report)
    notes += _secret_notes(report)
    if not report.found:
        notes.append("there are no files to index in this folder")
    return notes


def _failure_notes(failed: Sequence[Skip], globs: Sequence[str]) -> list[str]:
    """Return a note about the files that could not be read; with paths, those among them with their reasons."""
    if globs:
        failed = [
            failure
            for failure in failed
            if any(matches_path(glob, failure.uri) for glob in globs)
        ]
        if len(failed) <= _MAX_NAMED_FILES:
            return [f"{failure.uri} could not be read: {failure.reason}" for failure in failed]
    if not failed:
        return []
    return [f"{plural(len(failed), 'file')} could not be read: `ragstone sync` lists them"]


def _skip_notes(report: SyncReport) -> list[str]:
    """Return a note about files that a user may expect in the index: large ones, and those named like secrets.

    Files named like secrets are counted after the first sync only: they are left out on purpose.
    """
    too_large = sum(skip.reason.startswith("too large") for skip in report.skipped)
    secret = 0
    if not report.unchanged:
        secret = sum(skip.reason == SKIPPED_BY_NAME for skip in report.skipped)
    counts = [(too_large, "too large"), (secret, "named like secrets")]
    parts = [f"{plural(count, 'file')} {reason}" for count, reason in counts if count]
    if not parts:
        return []
    return [f"skipped: {', '.join(parts)}; `ragstone sync --verbose` lists them"]


def _secret_notes(report: SyncReport) -> list[str]:
    """Return a note about the files that secrets were taken out of in this sync."""
    uris = [remark.uri for remark in report.remarks if is_redaction(remark.reason)]
    if not uris:
        return []
    names = ", ".join(uris[:_MAX_NAMED_FILES])
    if len(uris) > _MAX_NAMED_FILES:
        names += f" and {len(uris) - _MAX_NAMED_FILES} more"
    return [f"secrets were taken out of {names}; `ragstone sync --full` lists them"]


def _vector_notes(engine: Engine, explanation: Explanation, flags: SearchFlags) -> list[str]:
    """Return the answer's notes, and one about missing vectors if they can be made."""
    notes = [note for note in explanation.notes if not note.startswith(_COVERAGE)]
    coverage = min(explanation.coverage.values(), default=0.0)
    if flags.mode == "words" or coverage >= 1 or not engine.admin.lacks_vectors():
        return notes
    if _is_explained(explanation):
        return notes
    lists = "words and partly by meaning" if coverage else "words only"
    return [f"answered by {lists}: {describe_vectors(engine)}", *notes]


def explain_coverage(engine: Engine, notes: Iterable[str]) -> list[str]:
    """Return notes; the share of texts with vectors becomes their number, and when the others have one."""
    lacks_vectors = engine.admin.lacks_vectors()
    return [
        describe_vectors(engine) if lacks_vectors and note.startswith(_COVERAGE) else note
        for note in notes
    ]


def _is_explained(explanation: Explanation) -> bool:
    """Return whether the notes of the sync or of the answer say why vectors are missing."""
    if explanation.sync is not None and explanation.sync.notes:
        return True
    return bool(explanation.notes) and not explanation.coverage
