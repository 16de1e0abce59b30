"""Web pages in a collection: taken in by address, asked about again later, and never silently gone."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from ragstone.config import WebSettings
from ragstone.engine.components import Parts
from ragstone.errors import AccessError, InputError, ReadError, StoreDamaged
from ragstone.indexing.pipeline import Ledger
from ragstone.read.readers import is_binary, reader_for
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchedPage, FetchRules, Validators, parse_allowed_hosts
from ragstone.sources.web.pages import (
    WEB,
    PageVisitor,
    describe_status,
    file_name,
    page_bytes,
    title_from_url,
)
from ragstone.sources.web.urls import parse_url
from ragstone.types import AddReport, Condition, Document, Filter, KnownFile, Skip, StoredDocument

_GONE: Final = (404, 410)
_OK, _NOT_MODIFIED = 200, 304


def rules_of(settings: WebSettings) -> FetchRules:
    """Return what fetching may do by the settings, or raise `AccessError` where it is switched off."""
    if settings.enabled is False:
        raise AccessError("fetching pages is switched off (web.enabled)", hint="save the page and add the file")
    network = NetworkPolicy(allow=parse_allowed_hosts(settings.allow))
    return FetchRules(network, max_bytes=settings.max_bytes, seconds=float(settings.seconds))


@dataclass(slots=True)
class Pages:
    """The web pages of one collection."""

    parts: Parts
    collection: str
    visitor: PageVisitor
    clock: Callable[[], float] = time.time

    @classmethod
    def of(cls, parts: Parts, collection: str) -> Pages:
        """Return the pages of a collection, fetched by the settings' rules."""
        return cls(parts, collection, PageVisitor(rules_of(parts.settings.web)))

    def add(self, url: str) -> AddReport:
        """Fetch one page, store it under the address it was found at, and return what changed; raises if it cannot."""
        asked = parse_url(url).text
        document = self._read(self.visitor.visit_existing(asked), asked)
        result = self.parts.writer(self.collection).add([document], source=WEB)[0]
        ledger = Ledger(remarks=[Skip(document.uri, remark) for remark in document.remarks])
        for old in self._asked_for(asked):
            if old.uri != document.uri:
                self._remove(old.uri, f"moved to {document.uri}", ledger)
        return AddReport(1, result.added, result.kept, per_document=(result,), remarks=tuple(ledger.remarks))

    def recheck(self, ledger: Ledger) -> None:
        """Ask every stored page's server whether it has changed, and account for it.

        What has not changed is left as it is, what has is replaced, what is gone is removed with a remark; a page
        that cannot be asked about is a failure, and stays.
        """
        known = self.parts.store.known_files(self.parts.key(self.collection), WEB)
        for uri, before in known.items():
            ledger.found += 1
            try:
                self._again(uri, before, ledger)
            except (AccessError, InputError, ReadError) as error:
                ledger.failed.append(Skip(uri, error.message))

    def _again(self, uri: str, before: KnownFile, ledger: Ledger) -> None:
        old = self._stored(uri)
        if old is None:  # another process removed it meanwhile
            ledger.found -= 1
            return
        asked = str(old.metadata.get("url") or uri)
        as_cut = before.recipe == self.parts.writer(self.collection).cut.recipe
        page = self.visitor.visit(asked, _validators(old) if as_cut else None)
        if page.status == _NOT_MODIFIED and as_cut:
            ledger.unchanged += 1
        elif page.status in _GONE:
            ledger.found -= 1
            self._remove(uri, f"gone, removed: {describe_status(page.status)}", ledger)
        elif page.status != _OK:
            raise ReadError(f"{describe_status(page.status)}; what was stored stays")
        elif page.url.text == uri:
            self._keep(self._read(page, asked), old, ledger, anew=not as_cut)
        else:
            self._moved(page, asked, old, ledger)

    def _moved(self, page: FetchedPage, asked: str, old: StoredDocument, ledger: Ledger) -> None:
        """Follow a page to another address, unless the way there is new and only for now: a login, an outage."""
        if asked == old.uri and not page.has_moved_permanently:
            raise ReadError(f"it leads to {page.url.text} for now; what was stored stays")
        document = self._read(page, asked)
        self._keep(document, self._stored(document.uri), ledger)
        self._remove(old.uri, f"moved to {document.uri}", ledger)

    def _read(self, page: FetchedPage, asked: str) -> Document:
        """Return the page as a document: read as a file of its type would be, known by its address."""
        name, data = file_name(page), page_bytes(page)
        reader = reader_for(name)
        if is_binary(data, name):
            raise ReadError("it is binary, not text", hint="convert it to text first")
        document = reader.read(data, name)
        if not document.text.strip():
            raise ReadError("the page has no text", hint="pages that a script fills in a browser cannot be read")
        facts = {
            "url": asked,
            "fetched_at": datetime.fromtimestamp(self.clock(), UTC).isoformat(timespec="seconds"),
            "content_type": page.media_type,
            "content_hash": hashlib.sha256(page.body).hexdigest(),
            "etag": page.etag,
            "last_modified": page.last_modified,
        }
        return replace(
            document,
            uri=page.url.text,
            title=title_from_url(page.url) if document.title in ("", name) else document.title,
            metadata={**document.metadata, **{key: value for key, value in facts.items() if value}},
        )

    def _keep(self, document: Document, old: StoredDocument | None, ledger: Ledger, *, anew: bool = False) -> None:
        """Store a page unless it is stored already; new validators of the same text are stored without a word."""
        ledger.remarks += [Skip(document.uri, remark) for remark in document.remarks]
        same = old is not None and not anew and self._same(document, old)
        if same and old is not None and _asks_alike(document, old):
            ledger.unchanged += 1
            return
        result = self.parts.writer(self.collection).add([document], source=WEB)[0]
        ledger.added += result.added
        ledger.kept += result.kept
        if same:
            ledger.unchanged += 1
        else:
            ledger.indexed += 1

    def _same(self, document: Document, old: StoredDocument) -> bool:
        if document.metadata["content_hash"] == old.metadata.get("content_hash"):
            return old.source == WEB
        try:
            text = self.parts.store.text(self.parts.key(self.collection), old.uri)
        except StoreDamaged:
            return False
        return old.source == WEB and (document.text, document.title) == (text, old.title)

    def _remove(self, uri: str, remark: str, ledger: Ledger) -> None:
        ledger.removed += self.parts.store.remove(self.parts.key(self.collection), [uri])
        ledger.remarks.append(Skip(uri, remark))

    def _asked_for(self, url: str) -> list[StoredDocument]:
        """Return the pages that somebody asked for by this address, wherever they were found."""
        scope, wanted = self.parts.scope((self.collection,)), Filter((Condition("meta.url", "eq", url),))
        return [one for one in self.parts.store.documents(scope, filter=wanted) if one.source == WEB]

    def _stored(self, uri: str) -> StoredDocument | None:
        return self.parts.store.document(self.parts.key(self.collection), uri)


def _validators(old: StoredDocument) -> Validators:
    return Validators(old.uri, str(old.metadata.get("etag", "")), str(old.metadata.get("last_modified", "")))


def _asks_alike(document: Document, old: StoredDocument) -> bool:
    return all(document.metadata.get(key) == old.metadata.get(key) for key in ("etag", "last_modified", "url"))
