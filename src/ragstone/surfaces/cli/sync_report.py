"""The ledger of a sync for a person: counts, failures and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.sources.folder.selection import SKIPPED_BY_NAME
from ragstone.sources.folder.source import MISSING
from ragstone.surfaces.cli.output import print_error, print_line, print_note, printable
from ragstone.text.counts import plural

if TYPE_CHECKING:
    from ragstone.types import EmbedUsage, Skip, SyncReport

_MAX_REMARKS: Final = 10
_WHOLE_FOLDER: Final = "."
_TRIED_AGAIN: Final = ("permission denied", MISSING)
"""Reasons of failures that the next sync looks at again by itself."""
_SMALLEST_COST: Final = 0.0001


def print_ledger(report: SyncReport, *, verbose: bool = False, embed: bool = True) -> None:
    """Print the counts of a sync and every failure; `verbose` also lists the skipped files."""
    missing = sum(failure.reason == MISSING for failure in report.failed)
    counts = (
        f"{report.indexed:,} indexed",
        f"{report.unchanged:,} unchanged",
        f"{len(report.skipped):,} skipped",
        f"{len(report.failed) - missing:,} failed",
    )
    print_line((f"{report.found - missing:,} found", "bold"), f" = {' + '.join(counts)}")
    print_line(f"{_describe_changes(report)}, {report.seconds:.1f} s")
    print_line(_describe_vectors(report, embed=embed))
    if report.usage.requests:
        print_line(_describe_usage(report.usage))
    for failure in report.failed:
        print_error(f"{failure.uri}: {failure.reason}", label="failed")
    has_other_reason = any(skip.reason not in _TRIED_AGAIN for skip in report.failed)
    if has_other_reason and not report.indexed:
        print_note("(a file without text is read again when it changes, or with --full)")
    print_remarks(report.remarks, verbose=verbose)
    if verbose:
        print_skipped(report.skipped)
    elif report.skipped:
        print_note(f"({_describe_skipped(report.skipped)}: --verbose lists the reasons)")


def print_remarks(remarks: Sequence[Skip], *, verbose: bool = False) -> None:
    """Print remarks about documents; the first ones only, unless `verbose` is set."""
    visible = remarks if verbose else remarks[:_MAX_REMARKS]
    for remark in visible:
        if remark.uri == _WHOLE_FOLDER:
            print_error(remark.reason, label="warning")
        else:
            print_note(f"{printable(remark.uri)}: {printable(remark.reason)}")
    hidden = len(remarks) - len(visible)
    if hidden:
        print_note(f"({plural(hidden, 'remark')} more: --verbose shows all)")


def print_skipped(skipped: Sequence[Skip]) -> None:
    """Print skipped files with their reasons."""
    for skip in skipped:
        reason = printable(skip.reason)
        print_line(("skipped ", "dim"), printable(skip.uri), (f": {reason}", "dim"))


def _describe_changes(report: SyncReport) -> str:
    """Return the removed documents, the chunks that are new or stayed as they were, and the new summaries."""
    changes = []
    if report.removed:
        changes.append(f"{report.removed:,} removed")
    if report.indexed:
        changes.append(f"{plural(report.chunks_added, 'chunk')} new")
        changes.append(f"{report.chunks_kept:,} kept")
    if report.graph is not None and report.graph.rendered:
        summaries = plural(report.graph.rendered, "summary", "summaries")
        changes.append(f"{summaries} of the code graph")
    return ", ".join(changes) or "nothing changed"


def _describe_skipped(skipped: Sequence[Skip]) -> str:
    """Return the number of skipped files, and how many of them are named like secrets."""
    files = f"{plural(len(skipped), 'file')} skipped"
    secret = sum(skip.reason == SKIPPED_BY_NAME for skip in skipped)
    if not secret:
        return files
    if secret == len(skipped):
        return f"{files}, named like a secret"
    return f"{files}, {secret:,} of them named like a secret"


def _describe_usage(usage: EmbedUsage) -> str:
    requests = plural(usage.requests, "request")
    texts, tokens = plural(usage.texts, "text"), plural(usage.tokens, "token")
    cost = f", about ${usage.cost:.4f}" if usage.cost >= _SMALLEST_COST else ""
    return f"service: {requests}, {texts}, {tokens}{cost}"


def _describe_vectors(report: SyncReport, *, embed: bool) -> str:
    if not embed:
        return "vectors: not made (`ragstone sync` makes them)"
    if not report.pending:
        return f"vectors: {report.embedded:,} new, all texts have one"
    advice = "" if report.notes else " (`ragstone sync` makes them)"
    return f"vectors: {report.embedded:,} new, {report.pending:,} still to come{advice}"
