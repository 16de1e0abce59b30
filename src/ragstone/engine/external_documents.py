"""The external facet: documents that do not come from the folder: given text, web pages, the help of programs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ragstone.engine import arguments
from ragstone.engine.project import OFF, Project
from ragstone.errors import ProviderError, ReadError, StaleSpace
from ragstone.indexing.added import added_source, plan_files
from ragstone.indexing.backfill import outage_note
from ragstone.indexing.reconcile import BATCH_DOCUMENTS, Reconciler
from ragstone.protocols import Progress
from ragstone.sources.command_help.help import HelpLimits
from ragstone.sources.command_help.help import capture as capture_help
from ragstone.sources.command_help.source import CommandHelp
from ragstone.sources.in_memory import GivenDocuments
from ragstone.sources.web.fetch import FetchRules
from ragstone.sources.web.pages import WEB
from ragstone.sources.web.source import NewPage, StoredPages, web_rules
from ragstone.types import (
    AddReport,
    Condition,
    Document,
    EmbedUsage,
    Filter,
    Metadata,
    PutResult,
    Skip,
    SyncReport,
)

OFF_NOTE = f"{OFF}, nothing was done"


class External:
    """Adds given documents, web pages and command help to collections."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project

    def add(
        self,
        documents: str | Document | Iterable[Document],
        *,
        uri: str | None = None,
        metadata: Metadata | None = None,
        collection: str | None = None,
        embed: bool = True,
    ) -> AddReport:
        """Store documents, one or many, or a text with a uri; return the counts, and those of many that have no text."""
        if not self._project.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._project.collection_name(collection)
        writer = self._project.index.collection(name).writer()
        results: list[PutResult] = []
        failed: list[Skip] = []
        checked = arguments.check_documents(documents, uri, metadata)
        while batch := list(islice(checked, BATCH_DOCUMENTS)):
            texts = list(filter(arguments.has_text, batch))
            empty = [document for document in batch if not arguments.has_text(document)]
            failed += [Skip(document.uri, arguments.NO_TEXT) for document in empty]
            results += Reconciler(writer, GivenDocuments(texts), full=True).run().results
        return replace(self._report(name, results, embed=embed), failed=tuple(failed))

    def add_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        uri: str | None = None,
        metadata: Metadata | None = None,
        collection: str | None = None,
        embed: bool = True,
    ) -> AddReport:
        """Store files by their paths, also outside of the folder, and return the counts and the failures.

        A search checks these files at every hit, and a sync checks all of them. `uri` names a single file.
        """
        if not self._project.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._project.collection_name(collection)
        checked = arguments.check_files(paths, uri)
        plan = plan_files(checked, self._project.settings, uri, dict(metadata or {}))
        source = added_source(self._project.settings, plan.files)
        writer = self._project.index.collection(name).writer()
        result = Reconciler(writer, source, full=True).run()
        report = self._report(name, result.results, embed=embed)
        return replace(report, failed=(*plan.failed, *plan.failures(result.report)))

    def add_page(
        self, url: str, *, collection: str | None = None, embed: bool = True
    ) -> AddReport:
        """Fetch a web page, store it under its final address, and return the counts."""
        if not self._project.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._project.collection_name(collection)
        page = NewPage(url, web_rules(self._project.settings.web))
        writer = self._project.index.collection(name).writer()
        is_same_page = Condition("meta.url", "eq", page.address)
        earlier = self._project.store.documents(
            writer.key.scope, filter=Filter((is_same_page,))
        )
        page.replace_earlier(document.uri for document in earlier)
        result = Reconciler(writer, page, full=True).run()
        ledger = result.report
        if not result.results:
            problem = (*ledger.failed, *ledger.skipped)[0]
            raise ReadError(problem.reason, hint="save the page and add the file")
        report = self._report(name, result.results, embed=embed)
        new_uri = result.results[0].uri
        moved = [Skip(uri, f"moved to {new_uri}") for uri in ledger.gone]
        return replace(report, remarks=(*ledger.remarks, *moved))

    def recheck_pages(self, *, collection: str | None = None, embed: bool = True) -> SyncReport:
        """Fetch all stored web pages again if their servers say that they changed, and return the ledger."""
        if not self._project.enabled:
            return SyncReport(notes=(OFF_NOTE,))
        rules = web_rules(self._project.settings.web)
        names = self._project.selected(collection)
        reports = [self._recheck_collection(name, rules) for name in names]
        report = sum(reports, SyncReport())
        changed = names if report.indexed else []
        return self._embed(report, changed, embed=embed)

    def capture(
        self,
        program: str,
        *,
        collection: str = "help",
        limits: HelpLimits | None = None,
        embed: bool = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Run a program for its help and the help of its commands, store them, and return the ledger."""
        if not self._project.enabled:
            return SyncReport(notes=(OFF_NOTE,))
        root = self._project.settings.root
        captured = capture_help(program, limits=limits or HelpLimits(), project=root)
        writer = self._project.index.collection(collection).writer()
        report = Reconciler(writer, CommandHelp(captured)).run().report
        report = replace(report, notes=(*report.notes, *captured.notes))
        return self._embed(report, [collection], embed=embed, progress=progress)

    def _recheck_collection(self, name: str, rules: FetchRules) -> SyncReport:
        store = self._project.store
        writer = self._project.index.collection(name).writer()
        stored = store.known_files(writer.key, WEB)
        recipe = writer.chunking.recipe
        current = {uri for uri, page in stored.items() if page.recipe == recipe}
        pages = StoredPages(
            rules,
            lambda: self._project.documents(collection=name),
            lambda uri: uri in current,
        )
        return Reconciler(writer, pages).run().report

    def _embed(
        self,
        report: SyncReport,
        names: Iterable[str],
        *,
        embed: bool,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make vectors for collections that were just written, and return the report with their counts."""
        started = time.monotonic()
        embedded = pending = 0
        notes = list(report.notes)
        for name in names:
            collection = self._project.index.collection(name)
            backfill = collection.backfill()
            if embed:
                try:
                    embedded += backfill.run(progress=progress)
                except StaleSpace as error:
                    notes.append(str(error))
                except ProviderError as error:
                    collection.update_state(needs_vectors=True)
                    notes.append(outage_note(self._project.settings, error))
            pending += backfill.pending()
        seconds = report.seconds + time.monotonic() - started
        return replace(
            report, embedded=embedded, pending=pending, notes=tuple(notes), seconds=seconds
        )

    def _report(self, name: str, results: Sequence[PutResult], *, embed: bool) -> AddReport:
        collection = self._project.index.collection(name)
        backfill = collection.backfill()
        embedded = 0
        usage = EmbedUsage()
        notes: tuple[str, ...] = ()
        if embed:
            usage_before = backfill.usage()
            try:
                uris = [result.uri for result in results]
                embedded = backfill.run_documents(uris)
            except StaleSpace as error:
                notes = (str(error),)
            except ProviderError as error:
                collection.update_state(needs_vectors=True)
                notes = (outage_note(self._project.settings, error),)
            usage = backfill.usage() - usage_before
        return AddReport(
            documents=len(results),
            chunks_added=sum(result.added for result in results),
            chunks_skipped=sum(result.kept for result in results),
            embedded=embedded,
            pending=backfill.pending(),
            per_document=tuple(results),
            notes=notes,
            remarks=collection.writer().remarks(results),
            usage=usage,
        )
